// The map of the desk, with the same areas and selection as the list. A tap selects an area, a box all areas in it.
import { Names, Shapes, decode, middleOf } from "../map/module/layers.js";
import { View, toPlace, toWorld } from "../map/module/view.js";
import { failed, find, load, settings, t } from "../map/words.js";
import { ground } from "../map/ground.js";

const PAUSE = 300; // So long after a key the map follows the search.
const MOST_OUTLINED = 300; // So many outlines of chosen areas are drawn.

/** Creates the map. Calls `toggle(id)` for a tapped area, `choose(ids)` for those in a box. */
export const chart = ({ toggle, choose }) => {
  const element = find("map");
  const isWide = matchMedia("(min-width: 64rem)").matches;
  const view = new View(element, { label: t.mapKeys, zoomIn: t.zoomIn, zoomOut: t.zoomOut, fills: isWide, least: 4 });
  const colour = (name) => getComputedStyle(document.body).getPropertyValue(`--${name}`).trim();
  const patterns = { 1: "dots", 2: "dashes", 3: "lines", 4: "crosses" };
  const floods = new Shapes({});
  const marks = new Shapes({});
  const labels = new Names();
  const land = ground({ view, colour, labels });
  view.layers = [...land.layers, floods, marks, labels];
  const paint = () => {
    land.paint();
    floods.styles = Object.fromEntries([1, 2, 3, 4].map((state) => {
      const edge = colour(`edge-${state}`);
      return [state, { fill: colour(`state-${state}`), pattern: patterns[state], ink: colour("mark"), alpha: 0.9, line: edge, width: 1.2 }];
    }));
    marks.styles = {
      attention: { line: colour("warn"), width: 2, dash: [4, 3] },
      chosen: { fill: colour("pick"), alpha: 0.25, line: colour("pick"), width: 3, casing: colour("halo") },
    };
    labels.colour = colour("name");
    labels.halo = colour("halo");
    view.redraw();
  };
  paint();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);

  const outlines = new Map();
  const asked = new Set();
  const learn = async (ids) => {
    const missing = [...ids].filter((id) => !outlines.has(id) && !asked.has(id));
    for (const id of missing) asked.add(id);
    for (let at = 0; at < missing.length; at += 100) {
      const found = decode(await load(`/areas?ids=${missing.slice(at, at + 100)}`));
      for (const feature of found) outlines.set(`${feature.properties.area_id}`, feature);
    }
    return missing.length > 0;
  };
  let shown = { states: new Map(), attention: new Map(), chosen: new Set() };
  const put = () => {
    floods.clear();
    marks.clear();
    for (const [id, { state }] of shown.states) if (outlines.has(id)) floods.set(id, outlines.get(id), `${state}`);
    for (const id of shown.attention.keys()) if (outlines.has(id) && !shown.chosen.has(id)) marks.set(id, outlines.get(id), "attention");
    for (const id of shown.chosen) if (outlines.has(id)) marks.set(id, outlines.get(id), "chosen");
    view.redraw();
  };
  const update = async (now) => {
    shown = now;
    if (element.offsetParent === null) return;
    put();
    const wanted = [...shown.states.keys(), ...shown.attention.keys(), ...[...shown.chosen].slice(0, MOST_OUTLINED)];
    if (await learn(wanted).catch((error) => (asked.clear(), failed(error)))) put();
  };

  view.addEventListener("tap", async ({ detail }) => {
    let id = floods.at(detail.world) ?? land.near.at(detail.world);
    if (!id) {
      const [lng, lat] = detail.place.map((of) => of.toFixed(4));
      const found = await load(`/areas/at?lat=${lat}&lng=${lng}`, { cache: "no-store" }).then(decode, () => []);
      for (const feature of found) {
        id = `${feature.properties.area_id}`;
        outlines.set(id, feature);
      }
    }
    if (id) toggle(`${id}`);
  });
  view.addEventListener("rest", () => land.rest());
  // The map does not move under the officer's hand.
  let fitting = 0;
  const stay = () => fitting++;
  for (const touch of ["pointerdown", "wheel", "keydown"]) element.addEventListener(touch, stay, { capture: true, passive: true });

  // A transparent element covers the map while the officer draws a box.
  const plane = find("plane");
  const frame = find("frame");
  let from = null;
  const at = ({ clientX, clientY }) => {
    const { left, top } = plane.getBoundingClientRect();
    return [clientX - left, clientY - top];
  };
  /** @type {(of: number[]) => number[]} */
  const place = ([x, y]) => {
    const [left, top, right, bottom] = view.box;
    return [left + ((right - left) * x) / element.clientWidth, top + ((bottom - top) * y) / element.clientHeight];
  };
  const boxButton = find("box");
  const end = () => {
    plane.hidden = frame.hidden = true;
    boxButton.setAttribute("aria-pressed", "false");
  };
  boxButton.addEventListener("click", () => {
    plane.hidden = !plane.hidden;
    boxButton.setAttribute("aria-pressed", `${!plane.hidden}`);
  });
  plane.addEventListener("pointerdown", (event) => {
    plane.setPointerCapture(event.pointerId);
    from = at(event);
  });
  plane.addEventListener("pointermove", (event) => {
    if (!from) return;
    const to = at(event);
    const [left, top] = [Math.min(from[0], to[0]), Math.min(from[1], to[1])];
    Object.assign(frame.style, { left: `${left}px`, top: `${top}px`, width: `${Math.abs(to[0] - from[0])}px`, height: `${Math.abs(to[1] - from[1])}px` });
    frame.hidden = false;
  });
  plane.addEventListener("pointerup", async (event) => {
    if (!from) return;
    const [one, other] = [place(from), place(at(event))];
    from = null;
    end();
    const [west, south] = toPlace([Math.min(one[0], other[0]), Math.max(one[1], other[1])]);
    const [east, north] = toPlace([Math.max(one[0], other[0]), Math.min(one[1], other[1])]);
    const box = [west, south, east, north].map((of) => of.toFixed(5));
    const found = await load(`/areas?bbox=${box}`).then(decode, (error) => (failed(error), []));
    /** @type {(of: number[]) => boolean} */
    const isIn = ([x, y]) => x >= Math.min(one[0], other[0]) && x <= Math.max(one[0], other[0]) && y >= Math.min(one[1], other[1]) && y <= Math.max(one[1], other[1]);
    const inside = found.filter((feature) => isIn(middleOf(feature)));
    for (const feature of inside) outlines.set(`${feature.properties.area_id}`, feature);
    choose(inside.map(({ properties }) => `${properties.area_id}`));
  });

  /** Shows where areas are, unless there are too many to draw. */
  const fit = async (ids) => {
    if (element.offsetParent === null || !plane.hidden || !ids.length || ids.length > MOST_OUTLINED) return;
    const number = ++fitting;
    await learn(ids).catch((error) => (asked.clear(), failed(error)));
    const found = new Shapes({});
    for (const id of ids) if (outlines.has(`${id}`)) found.set(id, outlines.get(`${id}`));
    if (number === fitting) view.fit(found.box, { most: 14, margin: 60 });
  };

  land.begin(true);
  let wasShown = false;
  return {
    update,
    fit,
    /** Shows where the areas that `ids()` returns are, once the officer pauses. */
    follow: (ids) => {
      const number = ++fitting;
      setTimeout(() => number === fitting && fit(ids()), PAUSE);
    },
    /** Updates the size, which is zero while the map is hidden. */
    resize: () => {
      if (element.offsetParent === null) return;
      view.resize();
      // Fits the view when the map is first shown, because a hidden map has no size.
      if (settings.box && !wasShown) view.fit([...toWorld([settings.box[0], settings.box[3]]), ...toWorld([settings.box[2], settings.box[1]])], { isAnimated: false, margin: 12 });
      wasShown = true;
      update(shown);
    },
  };
};
