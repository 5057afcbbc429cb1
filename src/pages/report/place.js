// Finds the location of a report: by the position of the phone, on a map, or by a name.

import { nice } from "../names.js";
import { get, once, request } from "../request.js";
import { field, filled, id, settings, texts } from "./parts.js";

// The largest accepted error of a position, in metres.
const PRECISE = 150;
// The largest number of found areas.
const MOST_FOUND = 20;
// The zoom from which each area is drawn.
const NEAR = 14;
// How far below the pin its name is, in pixels.
const PIN = 14;
const noPlace = id("chosen").textContent;
let view = null;
let isByHand = false;
let isMoved = false;
export let place = null;
let asking = null;
// Changes whenever the person chooses a place, or drops it.
let choices = 0;
// The place of the pin, and the name of its area; and a function that shows it on the map.
let pin = null, drawPin = () => {};

/** Asks for confirmation of a location outside all areas, or hides the question. */
export function askOutside(isAsked) {
  id("outside").hidden = !isAsked;
  if (!isAsked) field("outside").checked = false;
}

export function forgetPlace(says = noPlace) {
  choices++;
  place = pin = null;
  drawPin();
  asking?.abort();
  field("lng").value = field("lat").value = "";
  id("chosen").textContent = says;
}

const rounded = (degrees) => Math.round(degrees * 1e4) / 1e4;

export async function choose([lng, lat], name) {
  choices++;
  place = [rounded(lng), rounded(lat)];
  askOutside(false);
  field("lng").value = place[0];
  field("lat").value = place[1];
  const values = { lat: place[1], lng: place[0] };
  id("chosen").textContent = filled(texts.nameless, values);
  const show = (text) => {
    id("chosen").textContent = filled(texts.at, { place: text });
    pin.text = text.split(", ").slice(0, 2).join(", ");
    drawPin();
  };
  pin = { at: place, text: "" };
  asking?.abort();
  if (name) return show(name);
  drawPin();
  asking = new AbortController();
  try {
    const { status, body } = await request(`${settings.base}/areas/at?lat=${values.lat}&lng=${values.lng}&geoformat=geojson`, { signal: asking.signal, cache: "no-store" });
    if (status === 404) id("chosen").textContent = filled(texts.outside, values);
    if (status !== 200) return;
    const area = body.result.features[0].properties;
    const names = [area.parent_name, area.area_name, area.city_name].filter(Boolean).map(nice).join(", ");
    show(names);
  } catch {
    // The page keeps showing the coordinates while it is offline.
  }
}

// The view of the map before the person moves it.
let aimed = null;
function aim(at, zoom) {
  aimed = [at, zoom];
  isByHand = isMoved = false;
  view?.go(at, zoom, false);
}

export async function openMap() {
  if (view || id("map").dataset.tried) return;
  id("map").dataset.tried = "yes";
  let module;
  try {
    module = await import("/map/module.js");
  } catch {
    return;
  }
  const { View, Shapes, Names, cornersOf, decode, middleOf, toWorld } = module;
  const style = document.createElement("link");
  style.rel = "stylesheet";
  style.href = "/map/view.css";
  document.head.append(style);
  id("map").hidden = false;
  view = new View(id("map"), { label: texts.mapLabel, zoomIn: texts.zoomIn, zoomOut: texts.zoomOut, fills: true });
  id("map").insertAdjacentHTML("beforeend", '<svg class="cross" viewBox="0 0 24 24" aria-hidden="true"><path d="M12 1a8 8 0 0 0-8 8c0 5.5 8 14 8 14s8-8.5 8-14a8 8 0 0 0-8-8zm0 5a3 3 0 1 1 0 6 3 3 0 0 1 0-6z"/></svg>');
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const line = colour("--soft");
  const shapes = new Shapes({ area: { fill: colour("--land"), line, width: 1 } });
  const near = new Shapes({ area: { line, width: 0.6, from: NEAR } });
  const names = new Names();
  [names.colour, names.halo] = [colour("--ink"), colour("--ground")];
  view.layers.push(shapes, near, names);
  // Names by kind: of larger areas, of the areas around, and of the area at the pin, which is named at every zoom.
  const sets = {};
  const named = (kind, all) => {
    sets[kind] = all;
    names.names = Object.values(sets).flat();
    view.redraw();
  };
  drawPin = () => named("pin", pin?.text ? [{ at: toWorld(pin.at), text: pin.text, rank: 0, size: 13, style: "600", below: PIN }] : []);
  drawPin();
  let part;
  /** Loads the areas of this part of the map. */
  const locals = async () => {
    const corners = cornersOf(view.box);
    if (view.zoom < NEAR || `${corners}` === part) return;
    part = `${corners}`;
    const { body } = await get(`${settings.base}/areas?bbox=${corners}&geoformat=topojson`, { cache: "no-cache" });
    if (part !== `${corners}`) return;
    near.clear();
    const all = decode(body.result);
    for (const feature of all) near.set(feature.properties.area_id, feature, "area");
    named("local", all.map((feature) => ({ at: middleOf(feature), text: nice(feature.properties.area_name), rank: 2, from: NEAR + 0.5, size: 12 })));
  };
  for (const touch of ["pointerdown", "wheel", "keydown"]) id("map").addEventListener(touch, () => { isByHand = true; }, { capture: true, passive: true });
  view.addEventListener("move", () => { isMoved = isByHand; });
  view.addEventListener("rest", () => {
    // Showing the chosen place redraws the map, which then rests again.
    if (isMoved) choose(view.centre);
    isMoved = false;
    locals().catch(() => (part = undefined));
  });
  view.addEventListener("tap", ({ detail }) => {
    isByHand = false;
    view.go(detail.place, Math.max(view.zoom, NEAR));
    choose(detail.place);
  });
  if (aimed) aim(...aimed);
  else if (place) aim(place, 15);
  try {
    const { body } = await get(`${settings.base}/areas?level=parent&geoformat=topojson`, { cache: "no-cache" });
    const features = decode(body.result);
    features.forEach((feature, index) => shapes.set(index, feature, "area"));
    named("parent", features.map((feature) => ({ at: middleOf(feature), text: nice(feature.properties.parent_name || feature.properties.city_name), rank: 1, size: 13 })));
    if (!place && !aimed && shapes.box) view.fit(shapes.box, { isAnimated: false });
    view.redraw();
  } catch {
    // The map works without geometry.
  }
}

id("locate").addEventListener("click", () => {
  const before = place ? ` ${id("chosen").textContent}` : "";
  id("chosen").textContent = texts.locating;
  // A late position does not replace a place that was chosen meanwhile.
  const number = choices;
  const failed = () => {
    if (number === choices) id("chosen").textContent = texts.noPosition + before;
  };
  if (!navigator.geolocation) return failed();
  const found = ({ coords: { longitude, latitude, accuracy } }) => {
    if (number !== choices) return;
    const isPrecise = accuracy <= PRECISE;
    if (isPrecise) choose([longitude, latitude]);
    else forgetPlace(filled(texts.around, { metres: Math.round(accuracy) }));
    aim([longitude, latitude], isPrecise ? 16 : 13);
  };
  navigator.geolocation.getCurrentPosition(found, failed, { enableHighAccuracy: true, timeout: 20000 });
});

const names = () => once("names", async () => {
  const [{ fromIndex, match, streetsOf }, { body }] = await Promise.all([import("/map/name_search.js"), get("/map/names")]);
  const areas = fromIndex(body).filter((entry) => entry.id);
  return { areas: (text) => match(areas, text, body.short).slice(0, MOST_FOUND).map(({ entry }) => entry), streets: streetsOf };
});
id("search").addEventListener("focus", () => names().catch(() => {}));
id("search").addEventListener("input", search);
id("search").addEventListener("keydown", (event) => {
  if (event.key === "Enter") {
    event.preventDefault();
    search();
  }
});

async function search() {
  const text = id("search").value.trim();
  const list = id("found");
  if (!text) return list.replaceChildren();
  const isOther = () => text !== id("search").value.trim();
  const by = await names().catch(() => null);
  if (isOther()) return;
  if (!by) return list.replaceChildren();
  let none = texts.none;
  let found = by.areas(text);
  if (!found.length) {
    found = await by.streets(text, () => !isOther()).catch(() => ((none = texts.streetsMissing), []));
    if (isOther()) return;
  }
  list.replaceChildren(...found.map((entry) => {
    const name = [entry.name, entry.more].filter(Boolean).join(", ");
    const button = Object.assign(document.createElement("button"), { type: "button", className: "button", textContent: name });
    button.addEventListener("click", async () => {
      list.replaceChildren();
      // A street may be long: the person moves the map to the place on it.
      if (entry.isStreet) {
        forgetPlace();
        return aim(entry.at, 16);
      }
      const number = choices;
      const at = await get(`/reporting/places?area=${entry.id}`).catch(() => null);
      if (number !== choices) return;
      if (!at) return forgetPlace(texts.placeFailed);
      const { lat, lng } = at.body.result;
      choose([lng, lat], name);
      aim([lng, lat], 16);
    });
    const item = document.createElement("li");
    item.append(button);
    return item;
  }));
  if (!found.length) list.replaceChildren(Object.assign(document.createElement("li"), { textContent: none }));
}
