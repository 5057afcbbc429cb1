// The ground of the map: covered land, larger areas, waterways, and the base map, if the service has one; and all names.
import { Shapes, decode, middleOf } from "/map/layers.js";
import { toPlace, toWorld } from "/map/view.js";
import { base, failed, load, make, nice, query, settings, t } from "/map/words.js";

const widths = (...steps) => (zoom) => {
  // Pairs of a zoom and a width in pixels.
  const at = steps.findIndex(([from]) => zoom < from);
  if (at === 0) return steps[0][1];
  if (at < 0) return steps.at(-1)[1];
  const [[z0, w0], [z1, w1]] = [steps[at - 1], steps[at]];
  return w0 + ((w1 - w0) * (zoom - z0)) / (z1 - z0);
};

// Outlines are loaded once: the service names an address of this version of them, which caches keep for a day.
const remembered = (address) => {
  try {
    return localStorage.getItem(address);
  } catch {
    return null; // Browsers may forbid it.
  }
};
const remember = (address, version) => {
  try {
    if (version) localStorage.setItem(address, version);
  } catch {}
};
const outlines = {};
const outline = (level) => (outlines[level] ??= (async () => {
  const address = `${base}/areas?${query({ level })}`;
  const response = await fetch(remembered(address) ?? address);
  remember(address, response.headers.get("Content-Location"));
  return decode((await response.json()).result);
})());

/** Makes the layers of the ground. `colour` says the colour of a name in the style sheet; names of all kinds go to `labels`. */
export const ground = ({ view, colour, labels }) => {
  const land = new Shapes({});
  const lines = new Shapes({});
  const borders = new Shapes({});
  const near = new Shapes({});
  const silent = new Shapes({});
  const sets = {};
  let isSilent = false, infrastructure, hasParents = false, part;

  const names = (kind, all) => {
    sets[kind] = all;
    labels.names = Object.values(sets).flat();
  };
  const named = (features, key, style) =>
    features.filter(({ properties }) => properties.label && properties[key])
      .map((feature) => ({ at: toWorld(feature.properties.label), text: nice(feature.properties[key]), ...style }));
  const add = (shapes, kind, features, style) => features.forEach((feature, index) => shapes.set(`${kind}${index}`, feature, style));

  const cities = async (isFitted) => {
    const all = await outline("city");
    if (settings.tiles) add(borders, "city", all, "city");
    else add(land, "city", all, "covered");
    add(borders, "city", all, "city");
    names("city", named(all, "city_name", { rank: 0, to: 13, size: 15, style: "600" }));
    if (isFitted && !settings.box) view.fit(borders.box, { isAnimated: false });
    hatch(isSilent);
    view.redraw();
  };
  const parents = async () => {
    if (hasParents) return;
    hasParents = true;
    const all = await outline("parent");
    add(borders, "parent", all, "parent");
    names("parent", named(all, "parent_name", { rank: 10, from: 12.5, size: 14, style: "500" }));
    view.redraw();
  };
  /** Near the ground: the areas themselves, of this part of the map only. */
  const locals = async () => {
    const [left, top, right, bottom] = view.box;
    const [west, south] = toPlace([left, bottom]);
    const [east, north] = toPlace([right, top]);
    const corners = [Math.floor(west * 100), Math.floor(south * 100), Math.ceil(east * 100), Math.ceil(north * 100)].map((of) => of / 100);
    if (`${corners}` === part) return;
    part = `${corners}`;
    const all = decode(await load(`/areas?${query({ bbox: corners })}`));
    if (part !== `${corners}`) return;
    near.clear();
    for (const feature of all) near.set(feature.properties.area_id, feature, "local");
    names("local", all.map((feature) => ({ at: middleOf(feature), text: nice(feature.properties.area_name), rank: 60, from: 15, size: 12 })));
    view.redraw();
  };
  const hatch = async (is) => {
    isSilent = is;
    silent.clear();
    if (is) add(silent, "city", await outline("city").catch(() => []), "silent");
    view.redraw();
  };
  const structures = () => (infrastructure ??= load(`/infrastructure?${query()}`).then(decode));

  const toWorldBox = ([left, bottom, right, top]) => [...toWorld([left, top]), ...toWorld([right, bottom])];

  return {
    layers: [land, lines, borders, near, silent],
    near,
    names,
    hatch,
    paint: () => {
      land.styles = { covered: { fill: colour("land") } };
      lines.styles = { river: { line: colour("river"), width: widths([9, 0.7], [12, 1.2], [15, 3], [17, 5]) } };
      borders.styles = {
        parent: { line: colour("border"), width: widths([12, 0.3], [14, 1]), from: 12, to: 14 },
        city: { line: colour("border"), width: widths([9, 1], [14, 2]) },
      };
      near.styles = { local: { line: colour("border"), width: widths([14, 0.4], [16, 1]), from: 14 } };
      silent.styles = { silent: { pattern: "lines", ink: colour("soft"), alpha: 0.55 } };
      for (const name of labels.names) delete name.colour;
    },
    /** Shows the covered land, and the part of the map that the page is about. */
    begin: (isFitted) => {
      if (settings.box) view.fit(toWorldBox(settings.box), { isAnimated: false, margin: 12 });
      cities(isFitted).catch(failed);
    },
    /** Loads what may come later: the waterways. */
    finish: async () => {
      add(lines, "river", (await structures()).filter(({ lines: own }) => own.length), "river");
      view.redraw();
    },
    /** Loads what this part of the map needs. */
    rest: () => {
      if (view.zoom >= 12) parents().catch(failed);
      if (view.zoom >= 14) locals().catch(failed);
    },
    /** Pumps and floodgates. */
    structures: async () => (await structures()).filter(({ at }) => at),
    places: () => [],
    /** What makes "no flood recorded" less than certain, as elements. */
    doubts: () => (isSilent ? [make("p", { className: "notice" }, t.unknownArea)] : settings.isWatched ? [] : [make("p", { className: "place" }, t.unwatched)]),
  };
};
