// The base layers of the map: covered land, parents of areas, waterways, the base map if the service has one, and all names.
import { Shapes, decode, middleOf } from "./module/layers.js";
import { cornersOf, toPlace, toWorld } from "./module/view.js";
import { nice } from "../names.js";
import { get, once } from "../request.js";
import { attempt, base, failed, load, query, settings } from "./words.js";

const widths = (...steps) => (zoom) => {
  // Pairs of a zoom and a width in pixels.
  const at = steps.findIndex(([from]) => zoom < from);
  if (at === 0) return steps[0][1];
  if (at < 0) return steps.at(-1)[1];
  const [[z0, w0], [z1, w1]] = [steps[at - 1], steps[at]];
  return w0 + ((w1 - w0) * (zoom - z0)) / (z1 - z0);
};

// Geometry is loaded once: the service returns an address of this version, which caches may reuse for a day.
const outline = (level) => once(level, async () => {
  const address = `${base}/areas?${query({ level })}`;
  // Offline, the page may be cached with the address of the first visit.
  const { headers, body } = await get(attempt(() => localStorage.getItem(address)) ?? address).catch(() => get(address));
  const version = headers.get("Content-Location");
  if (version) attempt(() => localStorage.setItem(address, version));
  return decode(body.result);
});

/** Creates the base layers. `colour` returns a colour of the style sheet; names of all kinds go to `labels`. */
export const ground = ({ view, colour, labels }) => {
  // The sea is what is not land. Before the coast is loaded, and without one, no sea is drawn.
  let hasSea = false, seaColour;
  const sea = {
    draw: ({ context, width, height }) => {
      context.fillStyle = seaColour;
      if (hasSea) context.fillRect(0, 0, width, height);
    },
  };
  const coast = new Shapes({});
  const land = new Shapes({});
  // Waterways and the base map.
  const lines = new Shapes({});
  const borders = new Shapes({});
  const near = new Shapes({});
  const silent = new Shapes({});
  const sets = {};
  let isSilent = false, hasParents = false, part, drawn, asked = 0, isFollowed = false;

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
    const all = await outline("parent");
    if (hasParents) return;
    hasParents = true;
    add(borders, "parent", all, "parent");
    names("parent", named(all, "parent_name", { rank: 10, from: 12.5, size: 14, style: "500" }));
    view.redraw();
  };
  /** The areas themselves, of this part of the map only: at high zooms, or if there are few. */
  const locals = async () => {
    const corners = cornersOf(view.box);
    if (`${corners}` === part) return;
    part = `${corners}`;
    const all = await load(`/areas?${query({ bbox: corners })}`).then(decode, (error) => {
      if (part === `${corners}`) part = undefined;
      throw error;
    });
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
  const structures = () =>
    once("structures", () => Promise.all(["pumps", "floodgates"].map((kind) => load(`/infrastructure/${kind}?${query()}`))).then((all) => all.flatMap(decode)));
  /** Loads the waterways and the base map around the view, simplified for the zoom. */
  const basemap = async () => {
    const zoom = Math.max(7, Math.min(16, Math.ceil(view.zoom - 0.4)));
    const [left, top, right, bottom] = view.box;
    if (zoom === drawn?.zoom && left >= drawn.box[0] && top >= drawn.box[1] && right <= drawn.box[2] && bottom <= drawn.box[3]) return;
    const [across, down] = [(right - left) / 4, (bottom - top) / 4];
    const [west, south] = toPlace([left - across, bottom + down]);
    const [east, north] = toPlace([right + across, top - down]);
    const clamp = (of, most) => Math.max(-most, Math.min(most, of)).toFixed(2);
    const box = [clamp(west, 180), clamp(south, 85), clamp(east, 180), clamp(north, 85)];
    const number = ++asked;
    const all = decode(await load(`/basemap?bbox=${box}&zoom=${zoom}&revision=${settings.ground}`));
    if (number !== asked) return;
    drawn = { zoom, box: toWorldBox(box.map(Number)) };
    lines.clear();
    coast.clear();
    for (const [index, feature] of all.entries()) if (!feature.at) (feature.properties.kind === "land" ? coast : lines).set(index, feature, feature.properties.kind);
    hasSea = settings.hasLand;
    const longest = ({ lines }) => lines.flat().reduce((most, { arc }) => (arc.points.length > most.points.length ? arc : most), { points: [] }).points;
    const middle = (points) => [0, 1].map((axis) => points[2 * Math.floor(points.length / 4) + axis]);
    names("ground", all.filter(({ properties }) => properties.name).map((feature) => {
      const { kind, name } = feature.properties;
      if (feature.at) return { at: feature.at, text: nice(name), rank: 30, from: 11.5, size: 13 };
      return { at: middle(longest(feature)), text: name, rank: kind === "street" ? 80 : 70, from: kind === "street" ? 15.5 : 14, size: 11 };
    }));
    view.redraw();
  };

  /** @type {(degrees: number[]) => number[]} */
  const toWorldBox = ([left, bottom, right, top]) => [...toWorld([left, top]), ...toWorld([right, bottom])];

  return {
    layers: [sea, coast, land, near, lines, borders, silent],
    near,
    names,
    hatch,
    paint: () => {
      seaColour = colour("sea");
      coast.styles = { land: { fill: colour("outside") } };
      land.styles = { covered: { fill: colour("land") } };
      const road = (...of) => ({ line: colour("road"), casing: colour("road-line"), width: widths(...of) });
      lines.styles = {
        park: { fill: colour("park") },
        water: { fill: colour("sea") },
        river: { line: colour("river"), width: widths([9, 0.7], [12, 1.2], [15, 3], [17, 5]) },
        rail: { line: colour("rail"), width: widths([11, 0.8], [16, 2]), dash: [6, 3] },
        street: road([14, 0.4], [16, 3], [18, 9]),
        secondary: road([12, 0.6], [14, 1.5], [16, 5], [18, 12]),
        primary: road([10, 0.8], [13, 1.6], [16, 6], [18, 14]),
        motorway: { ...road([7, 0.8], [12, 1.8], [16, 7], [18, 16]), line: colour("motorway") },
      };
      borders.styles = {
        parent: { line: colour("border"), width: widths([12, 0.3], [14, 1]), from: 12, to: settings.areasFrom },
        city: { line: colour("border"), width: widths([9, 1], [14, 2]), to: 14 },
      };
      // City boundaries are simplified, so the areas themselves are the land where they are drawn.
      near.styles = { local: { fill: settings.tiles ? undefined : colour("land"), line: colour("border"), width: widths([settings.areasFrom, 0.7], [16, 1]), from: settings.areasFrom } };
      silent.styles = { silent: { pattern: "lines", ink: colour("soft"), alpha: 0.55 } };
      for (const name of labels.names) delete name.colour;
    },
    /** Shows the covered land, and fits the page's part of the map. */
    begin: (isFitted) => {
      if (settings.box) view.fit(toWorldBox(settings.box), { isAnimated: false, margin: 12 });
      cities(isFitted).catch(failed);
    },
    /** Loads the waterways and the base map, which are less urgent. From now on they follow the view. */
    finish: async () => {
      isFollowed = Boolean(settings.ground) && !settings.tiles;
      if (isFollowed) await basemap();
    },
    /** Loads the data of this part of the map. */
    rest: () => {
      if (!sets.city) cities(false).catch(failed);
      if (isFollowed) basemap().catch(failed);
      if (view.zoom >= 12) parents().catch(failed);
      if (view.zoom >= settings.areasFrom) locals().catch(failed);
    },
    /** Fits the view to a city, or to a larger area in it. */
    show: async ({ city, parent }) => {
      const all = await outline(parent ? "parent" : "city");
      const shape = all.find(({ properties }) => properties.city_name === city && (properties.parent_name ?? undefined) === parent);
      if (shape) view.fit(shape.box, { margin: 30 });
    },
    /** Pumps and floodgates. */
    structures,
  };
};
