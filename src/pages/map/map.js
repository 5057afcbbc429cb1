// The live map. The list of floods works without it.
import { View, toPlace, toWorld } from "./module/view.js";
import { Names, Points, Shapes, decode, middleOf } from "./module/layers.js";
import { nice } from "../names.js";
import { get, once } from "../request.js";
import { attempt, base, clockOf, depths, failed, fill, find, keptSince, language, load, make, moment, nameOf, query, replaced, settings, stating, t } from "./words.js";
import { pageSays } from "./statements.js";
import { elements, inShort, saysOf, sentence } from "./panel.js";
import { list, mark, showOver, whenChosen } from "./list.js";
import { ground } from "./ground.js";
import { emptySearch, index, names, search } from "./search.js";
import { past } from "./past.js";
import { connection } from "./connection.js";
import { live } from "../../../examples/clients/live.js";

document.body.classList.add("with-map");
for (const part of document.querySelectorAll(".live")) part.hidden = false;
const element = find("map");
const sheet = find("main");
sheet.append(document.querySelector(".site-footer"));
const view = new View(element, { label: t.mapKeys, zoomIn: t.zoomIn, zoomOut: t.zoomOut, least: 4 });
const attribution = settings.tiles ? settings.tiles.attribution : settings.ground && settings.attribution;
if (attribution) element.append(make("small", { className: "attribution" }, attribution));

// The colours of the style sheet, which differ in dark mode and in print.
const colour = (name) => getComputedStyle(document.body).getPropertyValue(`--${name}`).trim();
const colourOf = (text) => text.replace(/^var\(--(.+)\)$/, (_, name) => colour(name));
const PATTERN_OF = { 1: "dots", 2: "dashes", 3: "lines", 4: "crosses" };
const border = (zoom) => Math.min(2.2, Math.max(0.6, (zoom - 9) * 0.45));
const floodStyles = () => Object.fromEntries([1, 2, 3, 4].flatMap((state) => {
  const [paint, edge, ink] = [colour(`state-${state}`), colour(`edge-${state}`), colour("mark")];
  const inner = { line: edge, width: (zoom) => Math.max(0, Math.min(1.2, (zoom - 11.5) * 0.5)) };
  const style = { fill: paint, pattern: PATTERN_OF[state], ink, alpha: 0.9, line: edge, width: border, inner };
  return [[`${state}faded`, { ...style, alpha: 0.35, dash: [4, 4] }], [`${state}`, style]];
}));
const floods = new Shapes(floodStyles());
const selection = new Shapes({});
const dots = new Points();
const labels = new Names();
// The reader's own place.
const here = new Points();
const land = ground({ view, colour, labels });
view.layers = [...land.layers, floods, selection, labels, dots, here];
if (settings.tiles) import("/map/tiles.js").then(({ Tiles }) => {
  view.layers.unshift(new Tiles(settings.tiles.url));
  view.redraw();
}, failed);
const paint = () => {
  land.paint();
  floods.styles = floodStyles();
  selection.styles = { chosen: { line: colour("pick"), width: 3, casing: colour("halo") } };
  labels.colour = colour("name");
  labels.halo = colour("halo");
  view.redraw();
};
paint();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);

// Centres the map in the part that the sheet does not cover. On a wide screen, the sheet covers nothing.
const covered = () => {
  const demo = document.querySelector(".demo")?.offsetHeight ?? 0;
  const bar = demo + document.querySelector("header").offsetHeight;
  document.body.style.setProperty("--demo", `${demo}px`);
  document.body.style.setProperty("--bar", `${bar}px`);
  // With large text, the bar leaves no room for the map. Then the map comes after the bar on the page.
  const isTall = bar > innerHeight / 3;
  document.body.classList.toggle("tall", isTall);
  view.resize();
  const { top, left, width } = sheet.getBoundingClientRect();
  const hidden = isTall || left > 0 || width < innerWidth ? 0 : Math.max(0, Math.min(innerHeight * 0.6, innerHeight - (top + scrollY)));
  element.style.setProperty("--covered", `${hidden}px`);
  view.cover({ top: isTall ? 0 : 70, bottom: hidden + 20 });
};
covered();
addEventListener("resize", covered);

// Recomputes the sentence about several areas, when anything changes.
let sayAgain;
const say = (text, key, again) => {
  sayAgain = again;
  const said = find("said");
  // Screen readers read each change.
  if (said.textContent === text) return;
  stating(said, key, text);
  said.hidden = !text;
};

// Reports and gauges, and the trend, whose scripts are loaded after the floods are drawn.
let pins, trends;

// Floods.
// Features by area_id.
const geometry = new Map();
const states = { now: new Map(), shown: new Map(), hour: null, over: new Map(Object.entries(settings.over)) };
const isFaded = ({ confirmed }) => !states.hour && Date.now() - Date.parse(confirmed) > settings.confirmedFor;
/** Converts an entry of a response to a flood. */
const floodOf = ({ area_id, state, last_updated, flooded_since = last_updated, confirmed = last_updated }) => ({ area_id, state, last_updated, flooded_since, confirmed });

// The situation of all areas, and of one.
const newest = () => [...(states.hour ? [] : [settings.newest, ...states.over.values()]), ...[...states.shown.values()].map((of) => of.last_updated)].filter(Boolean).sort().at(-1);
const situation = () => ({
  ...link.situation(), ...(states.hour ? { floods: "hour" } : {}),
  hasAreas: settings.hasAreas, isPart: Boolean(settings.city), flooded: states.shown.size, newest: newest(),
});
/** Returns the flood reports of an area that count: of the last hours, and not before its last change. */
const reportsOf = (id) => {
  const from = Math.max(Date.now() - settings.reportsFor, Date.parse(states.now.get(id)?.last_updated ?? states.over.get(id) ?? 0));
  const recent = (all) => all?.filter(({ at }) => Date.parse(at) >= from);
  const loaded = pins ? pins.reported(id) : null;
  if (loaded) return recent(loaded);
  // Without newer ones, those that the page came with still count, but it may not have all.
  const first = recent(settings.reported?.area === id ? settings.reported.reports : undefined);
  return loaded === null || first?.length ? first : undefined;
};
const about = (id) => ({ ...(states.shown.get(id) ?? { over_since: states.over.get(id) }), reports: reportsOf(id) });

/** Loads the geometry of areas that is not loaded yet. */
const loadOutlines = async (ids) => {
  const missing = ids.filter((id) => !geometry.has(id));
  const parts = Array.from({ length: Math.ceil(missing.length / 100) }, (_, part) => missing.slice(100 * part, 100 * (part + 1)));
  const found = await Promise.all(parts.map((of) => load(`/areas?ids=${of}`)));
  for (const feature of found.flatMap(decode)) geometry.set(feature.properties.area_id, feature);
};

/** Shows the sentences about all areas, and about the selected one. */
const summary = () => {
  const now = situation();
  const says = pageSays(now, settings);
  const isCounted = says[0] === "flooded";
  const all = [...states.shown.values()];
  for (const state of [1, 2, 3, 4]) find(`count-${state}`).textContent = isCounted ? `${all.filter((of) => of.state === state).length}` : "";
  find("count").hidden = !isCounted;
  find("empty").hidden = isCounted;
  stating(find("empty"), isCounted ? undefined : says[0], isCounted ? "" : sentence(says[0]));
  const change = ["newest", "never"].find((key) => says.includes(key));
  find("newest").parentElement.hidden = !change;
  stating(find("newest"), change, change === "newest" ? moment(now.newest) : settings.says.never);
  const trend = trends?.forAll(now, [...states.shown.keys()]);
  find("trend").hidden = !trend;
  stating(find("trend"), trend?.key, trend?.text ?? "");
  showOver([...states.over].filter(([, over_since]) => saysOf(now, { over_since, reports: [] }).includes("over")), geometry);
  sayAgain?.();
  card();
  const title = current.area && geometry.has(current.area) ? areaTitle(current.area) : `${settings.says.title}${isCounted ? `, ${all.length} ${settings.says.flooded}` : ""}`;
  document.title = titled.join(title);
};

/** Draws the current data. Cancels earlier requests for drawing. */
const draw = async () => {
  const { shown } = states;
  const put = () => {
    let isOther = false;
    for (const id of [...floods.keys()]) if (!shown.has(id)) isOther = floods.delete(id);
    for (const [id, flood] of shown) {
      const feature = geometry.get(id);
      if (feature && floods.set(id, feature, `${flood.state}${isFaded(flood) ? "faded" : ""}`)) isOther = true;
    }
    const all = [...shown.values()];
    list([...shown].map(([id, flood]) => ({ area_name: "", parent_name: "", city_name: "", ...geometry.get(id)?.properties, ...flood, area_id: id, isFaded: isFaded(flood) })));
    mark(current.area);
    find("total").textContent = `${all.length}`;
    summary();
    if (!isOther) return;
    nameFloods();
    view.redraw();
  };
  // Updates numbers and loaded areas at once, and other areas when their geometry is loaded.
  put();
  if ([...shown.keys()].every((id) => geometry.has(id))) return;
  await loadOutlines([...shown.keys()]).catch(failed);
  if (shown === states.shown) put();
};
const nameFloods = () => {
  const ink = colour("ink");
  land.names("floods", [...states.shown.keys()].filter((id) => geometry.has(id)).map((id) => {
    const feature = geometry.get(id);
    return { at: (feature.middle ??= middleOf(feature)), text: nice(feature.properties.area_name), rank: 50, from: 14.5, size: 12, style: "600", colour: ink };
  }));
};

// The selection: an area, and the place in it if the reader gave one; points; or nothing.
let current = {};
const chosen = find("chosen");
const body = make("div", { className: "about" });
// The parts of the page's title around the dynamic one.
const titled = document.title.split(settings.title);
const shareButton = make("button", { type: "button", className: "button" }, t.share);
// The page has no form if residents cannot report.
const reportLinks = find("report-here") ? [find("report-here"), make("a", { className: "button" }, t.reportHere)] : [];
// Messages need a secure page that is not in a frame.
const tellButton = settings.tell && isSecureContext && top === self && navigator.serviceWorker ? [make("button", { type: "button", className: "button" }, settings.tell)] : [];
const closeButton = make("button", { type: "button", className: "close", ariaLabel: t.close, title: t.close }, "×");
chosen.replaceChildren(body, make("p", { className: "actions" }, ...reportLinks.slice(1), ...tellButton, shareButton), closeButton);
tellButton[0]?.addEventListener("click", async () => {
  const { area_id, parent_name, city_name, area_name } = geometry.get(current.area).properties;
  const parent = parent_name ? { parent_name, city_name, name: nice(parent_name) } : null;
  const { tell } = await import("/map/push.js");
  await tell({ language, area: { id: area_id, name: nameOf({ parent_name, area_name, area_id }) }, parent }).catch((error) => (failed(error), say(t.noAnswer)));
});
chosen.setAttribute("aria-live", "polite");

/** Shows the current state of the selection. */
const card = () => {
  linkReports();
  if (tellButton.length) tellButton[0].hidden = !current.area;
  const parts = current.area ? areaCard(current.area) : current.points ? pointsCard(current.points) : [];
  chosen.hidden = !parts.length;
  const key = parts.map((part) => part.outerHTML).join().replace(/<time[^>]*>[^<]*/g, (time) => time.match(/datetime="[^"]*"/)[0]).replace(/("(?:worse|better|same)">)[^<]*/, "$1");
  if (key !== body.key) body.replaceChildren(...parts);
  body.key = key;
};
/** Returns the name of an area with a short sentence about it. */
const areaTitle = (id) => `${nameOf(geometry.get(id).properties)}: ${inShort(saysOf(situation(), about(id)), about(id))}`;
const areaCard = (id) => {
  const feature = geometry.get(id);
  if (!feature) return [];
  const now = situation();
  // Do not wrap lines before the number of an area.
  const parts = [make("h2", {}, nameOf(feature.properties).replace(/ (?=\d+$)/, "\u00a0")), make("p", { className: "place" }, nice(feature.properties.city_name))];
  const trend = trends?.forArea(now, id);
  const [state, ...others] = elements(saysOf(now, about(id)), now, about(id));
  return [...parts, state, ...(trend ? [stating(make("p"), trend.key, trend.text)] : []), ...others];
};
const pointsCard = (ids) => {
  const all = ids.flatMap((id) => pins?.find(id) ?? []);
  if (all.length > 1) return [make("h2", {}, fill(t.reportsHere, { count: all.length })), make("ul", {}, ...pins.rows(all))];
  return all.flatMap((of) => [make("h2", {}, of.title), ...(of.photo?.() ?? []), make("p", { className: "place" }, ...of.about()), ...of.more()]);
};
/** Writes the selected place into the links to the form. */
const linkReports = () => {
  const [lng, lat] = current.at ?? (current.points ? toPlace(pins?.find(current.points[0])?.at ?? []) : []);
  const place = Number.isFinite(lat) ? { lat: lat.toFixed(4), lng: lng.toFixed(4) } : current.area ? { area: current.area } : {};
  for (const link of reportLinks) link.href = `/report?${new URLSearchParams({ lang: language, ...place })}`;
};
const writeAddress = () => {
  const address = new URL(location.href);
  current.area ? address.searchParams.set("area", current.area) : address.searchParams.delete("area");
  history.replaceState(null, "", address);
  for (const link of document.querySelectorAll(".language")) {
    const to = new URL(link.href);
    for (const name of ["area", "city"]) address.searchParams.has(name) ? to.searchParams.set(name, address.searchParams.get(name)) : to.searchParams.delete(name);
    link.href = to;
  }
};
const settle = () => {
  say("");
  selection.clear();
  if (current.area && geometry.has(current.area)) selection.set("chosen", geometry.get(current.area), "chosen");
  mark(current.area);
  writeAddress();
  summary();
  // On a phone, lower the sheet to reveal the area on the map.
  if (current.area || current.points) scrollTo({ top: 0, behavior: "instant" });
  requestAnimationFrame(covered);
  view.redraw();
};
let asked = 0;
/** Starts a selection and returns its number. Earlier ones are cancelled. */
const ask = () => {
  emptySearch();
  return ++asked;
};
// The map moves to an area whose sides are shorter on it, in pixels.
const SMALL = 24;
const isSmall = ({ box: [left, top, right, bottom] }) => Math.max(right - left, bottom - top) * 256 * 2 ** view.zoom < SMALL;
/** @type {(id: any, options?: { move?: boolean, number?: number, at?: number[] }) => Promise<void>} `at` is the place that the reader gave */
const choose = async (id, { move = true, number = ask(), at } = {}) => {
  try {
    await loadOutlines([id]);
  } catch (error) {
    if (number === asked) say(t.noAnswer);
    return failed(error);
  }
  if (number !== asked) return;
  // The page follows only the floods of its city.
  if (settings.city && geometry.has(id) && geometry.get(id).properties.city_name !== settings.cityName) return location.assign(`?${new URLSearchParams({ area: id, lang: language })}`);
  // The sheet may already show that there is no such area.
  if (!geometry.has(id)) return find("missing") ? say("") : say(t.noSuchArea, "noSuchArea");
  current = { area: id, at };
  settle();
  if (move || isSmall(geometry.get(id))) requestAnimationFrame(() => view.fit(geometry.get(id).box, { most: 15, margin: 50 }));
};
const choosePoints = (all) => {
  ask();
  current = { points: all.map(({ id }) => id) };
  settle();
};
const choosePoint = (point) => {
  choosePoints([point]);
  requestAnimationFrame(() => view.go(toPlace(point.at), Math.max(view.zoom, 14.5)));
};
const chooseNothing = () => {
  current = {};
  settle();
};
/** Selects the area at a place, which may be dry or not covered. */
const chooseAt = async ([lng, lat]) => {
  const number = ask();
  const round = (of) => of.toFixed(4);
  const found = await load(`/areas/at?lat=${round(lat)}&lng=${round(lng)}`, { cache: "no-store" }).then(decode, (error) => error);
  if (number !== asked) return;
  if (found instanceof Error) {
    chooseNothing();
    return found.status === 404 ? say(t.notCovered, "notCovered") : say(t.noAnswer);
  }
  const [feature] = found;
  const { area_id } = feature.properties;
  geometry.has(area_id) || geometry.set(area_id, feature);
  await choose(area_id, { move: false, number, at: [lng, lat] });
};
closeButton.addEventListener("click", () => {
  ask();
  chooseNothing();
  element.focus({ preventScroll: true });
});
shareButton.addEventListener("click", async () => {
  const data = { title: document.title, text: body.querySelector("h2")?.textContent, url: location.href };
  if (navigator.share) return navigator.share(data).catch(() => {});
  await navigator.clipboard.writeText(location.href);
  shareButton.textContent = t.copied;
  setTimeout(() => (shareButton.textContent = t.share), 3_000);
});
whenChosen((id) => choose(id));
view.addEventListener("tap", ({ detail }) => {
  const near = dots.near(detail.world, view.zoom);
  if (near.length) return choosePoints(near);
  const id = floods.at(detail.world) ?? land.near.at(detail.world);
  return id ? choose(id, { move: false, at: detail.place }) : chooseAt(detail.place);
});
view.addEventListener("rest", () => land.rest());

// The largest error in metres with which a position selects an area.
const EXACT = 150;
// Metres per degree of latitude.
const DEGREE = 111_320;
const searching = {
  say,
  locate: async (place, accuracy) => {
    here.points = [{ at: toWorld(place), colour: "#1a73e8", line: "#fff", radius: 8, reach: accuracy }];
    if (accuracy <= EXACT) {
      view.go(place, 15);
      return chooseAt(place);
    }
    // The reader may be in any area within the circle.
    ask();
    chooseNothing();
    const [lng, lat] = place;
    const high = accuracy / DEGREE;
    const wide = high / Math.cos((lat * Math.PI) / 180);
    view.fit([...toWorld([lng - wide, lat + high]), ...toWorld([lng + wide, lat - high])], { most: 15, margin: 30 });
    const distance = accuracy < 1_000 ? `${Math.ceil(accuracy / 10) * 10} m` : `${Math.ceil(accuracy / 1_000)} km`;
    say(fill(t.aroundHere, { distance }));
  },
  choose: async (entry) => {
    if (entry.id) return choose(entry.id);
    if (entry.place) {
      view.go(entry.place, 14.5);
      return chooseAt(entry.place);
    }
    if (entry.isStreet && entry.ids.length === 1) return choose(entry.ids[0]);
    const wet = entry.ids.filter((id) => states.shown.has(id));
    if (!entry.isStreet) await land.show(entry).catch(failed);
    else if (geometry.has(wet[0])) view.fit(geometry.get(wet[0]).box, { most: 14.5, margin: 50 });
    else view.go(entry.at, 14.5);
    const tell = () => {
      const count = entry.ids.filter((id) => states.shown.has(id)).length;
      const reports = states.hour ? [] : entry.ids.map(reportsOf);
      const sum = reports.reduce((sum, of) => sum + (of?.length ?? 0), 0);
      const [first] = pageSays({ ...situation(), flooded: count, isPart: true }, settings);
      const values = { count, all: entry.ids.length, name: entry.name };
      if (first === "flooded") say(fill(t.floodedIn, values), "floodedIn", tell);
      else if (sum) say(`${entry.name}: ${fill(t.reportCount, { count: sum })}`, "reportCount", tell);
      else if (first === "noneHere") say([fill(t.noneIn, values), ...(reports.every(Boolean) ? [] : [sentence("reportsUnknown")])].join(" "), "noneIn", tell);
      else say(sentence(first), first, tell);
    };
    tell();
  },
};
const showHour = (hour) => {
  states.hour = hour;
  states.shown = hour ? new Map(hour.records.map((of) => [of.area_id, { area_id: of.area_id, state: of.max_state, last_updated: of.last_updated }])) : states.now;
  document.body.classList.toggle("in-past", Boolean(hour));
  find("past").hidden = !hour;
  pins?.past(hour?.reports ?? null).catch(failed);
  return draw();
};
find("past").hidden = true;
const forget = () => {
  if (!states.now.size) return;
  states.now = new Map();
  if (!states.hour) states.shown = states.now;
  return draw();
};

const announce = (before, after) => {
  const ids = [...new Set([...before.keys(), ...after.keys()])].filter((id) => before.get(id)?.state !== after.get(id)?.state);
  const all = ids.filter((id) => geometry.has(id)).slice(0, 3);
  if (all.length && before.size) find("announced").textContent = all.map((id) => areaTitle(id)).join(". ");
};

const FLOODS = `/floods?${query({ minimum_state: 1 })}`;
let isFollowed = false;
/** Applies all floods, unless the stream has sent newer states. */
const takeFloods = async (result) => {
  if (isFollowed) return;
  const found = decode(result);
  for (const feature of found) geometry.set(feature.properties.area_id, feature);
  const areas = found.map(({ properties }) => floodOf(properties));
  states.now = new Map(areas.map((area) => [area.area_id, area]));
  if (states.hour) return;
  states.shown = states.now;
  await draw();
};
const begin = async () => {
  await takeFloods(await load(FLOODS, { take: takeFloods }));
  requestAnimationFrame(() => performance.mark("floods drawn"));
  // Does not use cached floods, which may be older than the cursor: the page would miss the changes in between.
  return keptSince("/floods") ? null : [...states.now.values()];
};
const link = connection({ forget, hatch: land.hatch, changed: () => !states.hour && summary() });
const wanted = new URLSearchParams(location.search).get("area");
land.begin(!wanted);
begin().catch((error) => (failed(error), null)).then(async (areas) => {
  if (wanted) await choose(wanted, { number: ++asked });
  let nameById = new Map();
  search(searching);
  const shown = () => once("points", async () => {
    const { points } = await import("/map/points.js");
    pins = points({ changed: summary, layer: dots, view, choose: choosePoint, colourOf, areaName: (id) => nameById.get(`${id}`) });
    // The reader may have chosen an hour or structures before.
    await pins.past(states.hour?.reports ?? null).catch(failed);
    const box = find("infrastructure");
    const structures = async () => pins.infrastructure(box.checked ? await land.structures().catch(() => []) : []);
    box.addEventListener("change", structures);
    await structures();
    return pins;
  });
  const renew = { reports: async () => (await shown()).reports(), gauges: async () => (await shown()).gauges() };
  past(showHour, () => (link.situation().floods === "now" ? states.now.size : undefined));
  link.begin();
  live(base, {
    select: settings.city ? { city: settings.city } : {},
    start: areas && settings.cursor ? { cursor: settings.cursor, areas: [...areas, ...[...states.over].map(([area_id, over_since]) => ({ area_id, state: null, over_since }))] } : undefined,
    states: (all, over) => {
      isFollowed = true;
      replaced(FLOODS);
      const before = states.now;
      states.now = new Map([...all].map(([id, area]) => [id, floodOf(area)]));
      states.over = new Map(over);
      link.known();
      if (states.hour) return;
      states.shown = states.now;
      draw().then(() => announce(before, states.now));
      trends?.renew();
    },
    stale: link.stale,
    connected: link.connected,
    changed: (resources) => resources.forEach((name) => renew[name]?.().catch(failed)),
  });
  await land.finish().catch(failed);
  const { cities } = await index().catch(() => ({ cities: [] }));
  nameById = new Map(cities.flatMap(([, parents]) => parents.flatMap(([parent, areas]) => areas.map(([id, name]) => [id, nameOf({ area_id: id, area_name: name, parent_name: parent })]))));
  for (const show of Object.values(renew)) await show().catch(failed);
  const { trend } = await import("/map/trend.js");
  trends = trend({ changed: summary, about, get, query, clockOf, depths, fill, flooded: settings.says.flooded, t: t.trend });
  summary();
  // The search works offline, too.
  await names().catch(failed);
  await keep().catch(failed);
  if (attempt(() => localStorage.getItem("push"))) await import("/map/push.js").then(({ renew }) => renew(base)).catch(failed);
});

/** Caches the page for reading offline. */
const keep = async () => {
  const worker = navigator.serviceWorker;
  if (!worker) return;
  const isNew = !worker.controller;
  await worker.register(`/sw.js?base=${base}`, { scope: "/map" });
  const { active } = await worker.ready;
  if (isNew) active.postMessage([location.href, ...performance.getEntriesByType("resource").map(({ name }) => name)]);
};

/** The size of the map on paper, as in the style sheet. */
const PAPER = [642, 567];
/** Calls `then` with the names and values of the print colours, which are not applied yet when printing starts. */
const onPaper = (then) => {
  const rules = [...document.styleSheets].flatMap(({ cssRules }) => [...cssRules]).filter(({ media }) => media?.mediaText === "print");
  for (const { style } of rules.flatMap(({ cssRules }) => [...cssRules])) {
    for (const name of style ?? []) if (name.startsWith("--")) then(name, style.getPropertyValue(name));
  }
};
addEventListener("beforeprint", () => {
  onPaper((name, value) => document.body.style.setProperty(name, value));
  paint();
  find("legend").open = true;
  view.resize(PAPER);
  view.cover({});
  view.fit(floods.box, { isAnimated: false });
  view.draw();
});
addEventListener("afterprint", () => {
  onPaper((name) => document.body.style.removeProperty(name));
  paint();
  covered();
});
