// The live part of the map page. The list is there without it.
import { live } from "/map/live.js";

const settings = JSON.parse(document.body.dataset.settings);
const { base, texts: t, depths, colours, city, language, licence, tiles } = settings;
const selected = new URLSearchParams(city ? { city } : {});
const find = (id) => document.getElementById(id);
const query = (more) => new URLSearchParams([...selected, ...Object.entries(more)]);
// Names are texts, never HTML.
const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};
const moment = (at) => {
  const options = { dateStyle: "medium", timeStyle: "short", timeZone: settings.timeZone };
  return make("time", { dateTime: at }, new Intl.DateTimeFormat(language, options).format(new Date(at)));
};
const load = async (path) => {
  const response = await fetch(base + path);
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return (await response.json()).result;
};
const failed = (error) => console.warn(error.message);
const features = (result) => topojson.feature(result, result.objects.output).features;

// The map.
for (const part of document.querySelectorAll(".live, #map-part")) part.hidden = false;
const map = L.map("map", { preferCanvas: true, zoomControl: false, zoomAnimation: !matchMedia("(prefers-reduced-motion)").matches });
L.control.zoom({ zoomInTitle: t.zoomIn, zoomOutTitle: t.zoomOut }).addTo(map);
map.attributionControl.setPrefix(false).addAttribution(make("span", {}, licence).innerHTML);
if (tiles) L.tileLayer(tiles.url, { attribution: make("span", {}, tiles.attribution).innerHTML, maxZoom: 19 }).addTo(map);
map.setView([-2.5, 118], 5);

// Colours with a pattern each, so that they can be told apart without seeing the colour.
const pattern = (colour, draw) => {
  const tile = make("canvas", { width: 8, height: 8 });
  const context = tile.getContext("2d");
  if (colour) {
    context.fillStyle = colour;
    context.fillRect(0, 0, 8, 8);
  }
  context.strokeStyle = context.fillStyle = colour ? "#000" : "#777";
  context.beginPath();
  draw(context);
  context.stroke();
  return context.createPattern(tile, "repeat");
};
const up = (context) => [-8, 0, 8].forEach((x) => (context.moveTo(x, 8), context.lineTo(x + 8, 0)));
const down = (context) => [-8, 0, 8].forEach((x) => (context.moveTo(x, 0), context.lineTo(x + 8, 8)));
const fills = {
  1: pattern(colours[1], (context) => context.fillRect(3, 3, 2, 2)),
  2: colours[2],
  3: pattern(colours[3], up),
  4: pattern(colours[4], (context) => (up(context), down(context))),
  silent: pattern(null, up),
};
const dark = matchMedia("(prefers-color-scheme: dark)");
const context = { color: "#7b8894", weight: 1, fill: false, interactive: false };
const style = (state) => ({ color: dark.matches ? "#ddd" : "#333", weight: 1, fillColor: fills[state], fillOpacity: 0.75 });

const cities = L.geoJSON(null, { style: context }).addTo(map);
const parents = L.geoJSON(null, { style: context });
const hatched = L.geoJSON(null, { style: { stroke: false, fillColor: fills.silent, fillOpacity: 0.6, interactive: false } });
const names = (layer, key) => layer.eachLayer((of) => {
  const { label, [key]: name } = of.feature.properties;
  if (label && name) of.bindTooltip(document.createTextNode(name), { permanent: true, direction: "center", className: "name" });
});

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
const loaded = {};
const outline = (level) => (loaded[level] ??= (async () => {
  const address = `${base}/areas?${query({ level })}`;
  const response = await fetch(remembered(address) ?? address);
  remember(address, response.headers.get("Content-Location"));
  return features((await response.json()).result);
})());
let isParentsShown;
const byZoom = async () => {
  const wanted = map.getZoom() >= 13;
  if (wanted && !isParentsShown) {
    isParentsShown = true;
    parents.addData(await outline("parent"));
    names(parents, "parent_name");
    parents.addTo(map);
  }
  if (!isParentsShown) return;
  // Their borders are finer than those of cities.
  (wanted ? parents : cities).addTo(map).bringToBack();
  (wanted ? cities : parents).remove();
};
map.on("zoomend", byZoom);

// Floods.
const geometry = new Map(); // Features by area_id.
const drawn = new Map(); // Layers by area_id.
let states = new Map(); // What is so now.
let shown = states; // What is shown: now, or an hour of the past.
let current = new URLSearchParams(location.search).get("area");

const title = ({ area_name, parent_name }) => [parent_name, area_name].filter(Boolean).join(", ");
const about = (id) => {
  const { properties } = geometry.get(id);
  const flood = shown.get(id);
  const say = flood ? [depths[flood.state], ", ", moment(flood.last_updated)] : [t.dry];
  return make("div", {}, make("b", {}, title(properties)), make("br"), properties.city_name, make("br"), ...say,
    make("br"), make("small", {}, t.share));
};
const choose = (id, move = true) => {
  current = id;
  const address = new URL(location);
  id ? address.searchParams.set("area", id) : address.searchParams.delete("area");
  history.replaceState(null, "", address);
  for (const item of document.querySelectorAll("[aria-current]")) item.removeAttribute("aria-current");
  const item = find(`a${id}`);
  item?.setAttribute("aria-current", "true");
  item?.scrollIntoView({ block: "nearest" });
  const feature = geometry.get(id);
  if (!feature) return;
  const box = L.geoJSON(feature).getBounds();
  if (move) map.fitBounds(box, { maxZoom: 15 });
  L.popup().setLatLng(box.getCenter()).setContent(about(id)).openOn(map);
};

/** Loads the geometry of areas that are not known yet. */
const learn = async (ids) => {
  const missing = ids.filter((id) => !geometry.has(id));
  if (!missing.length) return;
  const found = missing.length > 20
    ? features(await load(shown === states ? `/floods?${query({ minimum_state: 1 })}` : `/areas?${query({})}`))
    : (await Promise.all(missing.map((id) => load(`/areas/${id}`)))).flatMap(features);
  for (const feature of found) geometry.set(feature.properties.area_id, feature);
};

const draw = async () => {
  const now = shown;
  await learn([...now.keys()]).catch(failed);
  if (now !== shown) return;
  for (const [id, layer] of drawn) {
    if (!now.has(id)) {
      layer.remove();
      drawn.delete(id);
    }
  }
  for (const [id, { state }] of now) {
    if (!geometry.has(id)) continue;
    const layer = drawn.get(id);
    if (!layer) {
      const made = L.geoJSON(geometry.get(id), { style: style(state) }).on("click", () => choose(id, false)).addTo(map);
      drawn.set(id, Object.assign(made, { state }));
    } else if (layer.state !== state) {
      layer.setStyle(style(state)).state = state;
    }
  }
  list();
};

const list = () => {
  const groups = new Map();
  for (const [id, flood] of shown) {
    const properties = geometry.get(id)?.properties;
    if (!properties) continue;
    const name = [properties.parent_name, properties.city_name].filter(Boolean).join(", ");
    groups.has(name) || groups.set(name, []);
    groups.get(name).push({ id, ...flood, ...properties, state: flood.state });
  }
  const sorted = [...groups].sort(([one], [other]) => one.localeCompare(other, language));
  find("list").replaceChildren(...sorted.flatMap(([name, areas]) => [
    make("h3", {}, name),
    make("ul", {}, ...areas.sort((a, b) => b.state - a.state || a.area_name.localeCompare(b.area_name, language)).map((area) =>
      make("li", { id: `a${area.area_id}` },
        make("a", { href: `?area=${area.area_id}` }, make("i", { className: `swatch s${area.state}` }), area.area_name || area.area_id),
        ` ${depths[area.state]}, `, moment(area.last_updated)))),
  ]));
  find(`a${current}`)?.setAttribute("aria-current", "true");
  const all = [...shown.values()];
  for (const state of [1, 2, 3, 4]) find(`count-${state}`).textContent = all.filter((of) => of.state === state).length;
  find("total").textContent = all.length;
  find("empty").hidden = all.length > 0;
  const newest = all.map((of) => of.last_updated).sort().at(-1);
  if (newest) find("newest").replaceChildren(moment(newest));
};
find("list").addEventListener("click", (event) => {
  const link = event.target.closest("a");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  choose(new URL(link.href).searchParams.get("area"));
});

// The past: the highest state of each area in an hour.
const hours = find("hours");
let asked = 0;
hours.addEventListener("input", async () => {
  const number = ++asked;
  const back = Number(hours.value);
  const end = new Date(Date.now() + back * 3_600_000);
  find("hour").replaceChildren(...(back ? [`${t.hour} `, moment(end.toISOString())] : [t.now]));
  await new Promise((resolve) => setTimeout(resolve, 250));
  if (number !== asked) return;
  if (!back) {
    shown = states;
    return draw();
  }
  end.setUTCMinutes(0, 0, 0);
  const start = new Date(end - 3_600_000);
  const period = query({ start: start.toISOString(), end: end.toISOString() });
  const records = await load(`/floods/archive?${period}`).catch(failed);
  if (number !== asked || !records) return;
  shown = new Map(records.map((of) => [of.area_id, { state: of.max_state, last_updated: of.last_updated }]));
  draw();
});

// Reports, gauges and infrastructure.
const points = { reports: L.layerGroup().addTo(map), gauges: L.layerGroup().addTo(map), infrastructure: L.layerGroup() };
const dot = (feature, colour, radius, popup) => {
  const [lng, lat] = feature.geometry.coordinates;
  return L.circleMarker([lat, lng], { radius, color: "#000", weight: 1, fillColor: colour, fillOpacity: 0.9 }).bindPopup(popup);
};
const items = (id, entries, none) => find(id).replaceChildren(...(entries.length ? entries.map(({ marker, label }) => {
  const button = make("button", { type: "button", className: "item" }, label);
  button.addEventListener("click", () => {
    map.setView(marker.getLatLng(), Math.max(map.getZoom(), 14));
    marker.openPopup();
  });
  return make("li", {}, button);
}) : [make("li", {}, none)]));

const photo = (address) => {
  if (!address) return [];
  let url;
  try {
    url = new URL(address, location);
  } catch {
    return [];
  }
  return [location, new URL(settings.photos, location)].some(({ origin }) => origin === url.origin)
    ? [make("img", { src: url.href, alt: t.photo, loading: "lazy" })]
    : [make("a", { href: url.href, rel: "noopener noreferrer" }, t.photoElsewhere)];
};
const showReports = async () => {
  const all = features(await load(`/reports?${query({})}`));
  points.reports.clearLayers();
  items("reports", all.map((feature) => {
    const { title, text, created_at, disaster_type, image_url, report_data } = feature.properties;
    const depth = report_data?.flood_depth;
    const head = [title || disaster_type, depth == null ? "" : `${depth} ${t.depth.cm}`].filter(Boolean).join(", ");
    const marker = dot(feature, "#0b5c99", 6, () => make("div", {}, make("b", {}, head), make("br"), moment(created_at),
      make("br"), text ?? "", ...photo(image_url)));
    points.reports.addLayer(marker);
    return { marker, label: make("span", {}, `${head}, `, moment(created_at)) };
  }), t.noReports);
};

const plot = (readings) => {
  const svg = (tag, attributes) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  };
  const times = readings.map(({ f1 }) => Date.parse(f1));
  const levels = readings.map(({ f2 }) => f2);
  const part = (value, all, size) => ((value - Math.min(...all)) / (Math.max(...all) - Math.min(...all) || 1)) * size;
  const corners = readings.map((_, index) => `${part(times[index], times, 196) + 2},${46 - part(levels[index], levels, 42)}`);
  const picture = svg("svg", { viewBox: "0 0 200 48", role: "img", "aria-label": `${Math.min(...levels)}–${Math.max(...levels)} ${t.depth.cm}` });
  picture.append(svg("polyline", { points: corners.join(" "), fill: "none", stroke: "#0b5c99", "stroke-width": 2 }));
  return picture;
};
const showGauges = async () => {
  const all = features(await load("/floodgauges"));
  points.gauges.clearLayers();
  items("gauges", all.map((feature) => {
    const { gaugenameid, observations } = feature.properties;
    const { f1, f2, f3, f4 } = observations.at(-1);
    const head = `${gaugenameid}: ${f2} ${t.depth.cm}, ${t.depth.level} ${f3} (${f4})`;
    const marker = dot(feature, { 1: colours[4], 2: colours[3], 3: colours[2] }[f3] ?? "#fff", 5,
      () => make("div", {}, make("b", {}, head), make("br"), moment(f1), plot(observations)));
    points.gauges.addLayer(marker);
    return { marker, label: make("span", {}, `${head}, `, moment(f1)) };
  }), t.noGauges);
};

const showInfrastructure = async () => {
  points.infrastructure.clearLayers();
  L.geoJSON(features(await load("/infrastructure")), {
    style: { color: "#2b7bba", weight: 2 },
    pointToLayer: (feature) => dot(feature, "#8a8f94", 4),
    onEachFeature: ({ properties }, layer) => layer.bindPopup(() => make("b", {}, properties.name)),
  }).addTo(points.infrastructure);
};
find("infrastructure").addEventListener("change", ({ target }) => {
  if (!target.checked) return points.infrastructure.remove();
  points.infrastructure.addTo(map);
  showInfrastructure().catch(failed);
});
const renew = { reports: showReports, gauges: showGauges };

// How current everything is: asked once a minute, because silence is no event.
let heard = Date.now();
let lost;
let stale = settings.stale; // Since when the service itself cannot read its data.
let known = settings.known; // Whether any states are known.
const connection = async () => {
  const since = lost ?? stale;
  document.body.classList.toggle("old", Boolean(since));
  find("connection").className = since ? "lost" : "";
  find("connection").replaceChildren(...(since ? [`· ${lost ? t.offline : t.stale} `, moment(since), "."] : [`· ${t.connected}`]));
  if (since && Date.now() - (lost ? heard : Date.parse(stale)) > 3_600_000) {
    states = shown = new Map();
    await draw();
    find("empty").textContent = t.old;
  }
};
const check = async () => {
  try {
    const sources = await load("/sources");
    heard = Date.now();
    lost = undefined;
    const silent = sources.some(({ status, covers }) => status === "silent" && covers.includes("floods"));
    find("hatched").hidden = !silent;
    silent ? hatched.clearLayers().addData(await outline("city")).addTo(map).bringToBack() : hatched.remove();
    find("empty").textContent = !known ? t.away : silent ? t.noneSilent : settings.empty;
    find("sources").replaceChildren(...(sources.length ? [make("h3", {}, t.sources), make("ul", {}, ...sources.map((source) =>
      make("li", { className: source.status }, `${source.name}: ${t.source[source.status]}`,
        ...(source.last_heard ? [`, ${t.lastHeard} `, moment(source.last_heard)] : []))))] : []));
  } catch {
    lost ??= new Date(heard).toISOString();
  }
  return connection();
};
setInterval(check, settings.check);
addEventListener("online", check);
addEventListener("offline", check);

// The beginning: outlines for orientation, then everything that changes.
outline("city").then((all) => {
  cities.addData(all);
  names(cities, "city_name");
  if (all.length && !current) map.fitBounds(cities.getBounds());
  return check();
}).catch(failed);
const begin = async () => {
  const found = features(await load(`/floods?${query({ minimum_state: 1 })}`));
  for (const feature of found) geometry.set(feature.properties.area_id, feature);
  const areas = found.map(({ properties: { area_id, state, last_updated } }) => ({ area_id, state, last_updated }));
  states = shown = new Map(areas.map((area) => [area.area_id, area]));
  await draw();
  if (!current) return areas;
  await learn([current]);
  choose(current);
  return areas;
};
begin().catch((error) => (failed(error), null)).then((areas) => live(base, {
  select: Object.fromEntries(selected),
  start: areas && settings.cursor ? { cursor: settings.cursor, areas } : undefined,
  states: (all) => {
    states = new Map(all);
    if (!known) {
      known = true;
      check();
    }
    if (Number(hours.value)) return;
    shown = states;
    draw();
  },
  stale: (since) => {
    stale = since;
    connection();
  },
  changed: (resources) => resources.forEach((name) => renew[name]?.().catch(failed)),
}));
for (const show of Object.values(renew)) show().catch(failed);
