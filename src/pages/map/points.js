// Reports, gauges, pumps and floodgates: on the map, in their lists, and in words.
import { decode } from "./module/layers.js";
import { toPlace } from "./module/view.js";
import { nice } from "../names.js";
import { get, once } from "../request.js";
import { HOUR, clockOf, curve, fill, find, language, load, loadGauges, make, moment, photo, query, settings, svg, t } from "./words.js";

// The hazards of the country.
let hazards = {}, attributes = {}, answers = {};
const learn = () => once("hazards", async () => {
  ({ hazards, attributes, words: answers } = (await get(`/map/hazards?lang=${language}`)).body);
});
// The hazards selected by the reader; all if none.
const picked = new Set();

const badge = ({ colour, icon }) => {
  const picture = svg("svg", { viewBox: "-7 -7 38 38", class: "badge", "aria-hidden": "true" }, svg("path", { d: icon ?? "" }));
  picture.style.background = colour;
  return picture;
};

/** Returns points as rows of a list, at most 50 at first. They call `choose` when tapped. */
const rows = (points, choose) => {
  const row = (point) => {
    const button = make("button", { type: "button", className: "item" }, ...(point.hazard ? [badge(point.hazard)] : []), point.title);
    button.addEventListener("click", () => choose(point));
    return make("li", {}, button, make("small", {}, ...point.about()));
  };
  const rest = points.slice(50);
  const more = make("button", { type: "button", className: "item" }, t.more.replace("{count}", rest.length));
  more.addEventListener("click", () => more.parentElement.replaceWith(...rest.map(row)));
  return [...points.slice(0, 50).map(row), ...(rest.length ? [make("li", {}, more)] : [])];
};
const items = (id, points, none, choose) => find(id).replaceChildren(...(points.length ? rows(points, choose) : [make("li", {}, none)]));

/** Returns for how many milliseconds reports are shown: an hour, unless their hazard has a `window` (in seconds). */
const shownFor = (hazard) => (hazard ? hazard.window * 1_000 : HOUR);
const hazardOf = (type) => hazards[type] ?? { name: type, colour: "#5b2a86" };

/** Returns the value of an attribute as text; nothing if it is not for people. */
const said = ({ kind, ...of }, value) => {
  if (value == null) return;
  if (kind === "depth" || kind === "measure") return Number.isFinite(Number(value)) ? `${Math.round(value)} ${kind === "depth" ? t.depth.cm : "m"}` : undefined;
  if (kind === "truth") return value ? answers.yes : answers.no;
  if (kind === "code" || kind === "codes") return [value].flat().map((code) => of[code]).filter(Boolean).join(", ");
};
const facts = (names = [], data) => names.flatMap((name) => {
  const text = attributes[name] && said(attributes[name], data?.[name]);
  return text ? [`${attributes[name].name}: ${text}`] : [];
});

/** Returns the radius of a fire in metres, which is given as a number or as a place on the circle. */
const reachOf = (radius, at) => {
  if (radius?.lat == null) return Number(radius) || undefined;
  const [lng, lat] = toPlace(at);
  return Math.hypot((radius.lng - lng) * Math.cos((lat * Math.PI) / 180), radius.lat - lat) * 111_320 || undefined;
};

const report = (feature, areaName) => {
  const { pkey, title, text, created_at, disaster_type, image_url, report_data, tags } = feature.properties;
  const hazard = hazardOf(disaster_type);
  const { name, colour, icon, types } = hazard;
  const type = types?.[report_data?.report_type] ?? Object.values(types ?? {})[0];
  const says = facts(type?.attributes, report_data);
  const place = areaName(tags?.local_area_id);
  return {
    id: `report-${pkey}`, at: feature.at, kind: disaster_type, hazard, reach: reachOf(report_data?.fireRadius, feature.at),
    colour, line: "#fff", radius: 11, icon: icon && new Path2D(icon), ink: "#fff", joins: true,
    title: title || (report_data?.report_type && type?.name) || name,
    place,
    about: () => [[...says, ...(place ? [place] : []), ""].join(" · "), moment(created_at)],
    photo: () => photo(image_url),
    more: () => (text ? [make("p", {}, text)] : []),
  };
};

const ALERT_COLOURS = { 1: "var(--state-4)", 2: "var(--state-3)", 3: "var(--state-2)" };
// The level from which an alert level applies, by its name.
const ALERT_NUMBERS = { critical: 1, alert: 2, watch: 3 };

/** Returns how fast the water rises, in words; changes of up to 2 cm an hour are measuring errors. */
const trendOf = ({ cm_per_hour: rate, from, to }) => {
  const text = Math.abs(rate) <= 2 ? t.water.steady : fill(rate > 0 ? t.water.rising : t.water.falling, { rate: Math.round(Math.abs(rate)) });
  return `${text} (${clockOf(from)}–${clockOf(to)})`;
};
/** Returns why no level is shown as the present one; nothing if one is. */
const absence = ({ status, muted_until, every }, last) => {
  if (status === "muted" && Date.parse(muted_until) > Date.now()) return [`${t.water.mutedUntil} `, moment(muted_until)];
  if (!last) return [t.water.never];
  // The page may be older than the gauge's silence.
  const isOverdue = Date.now() - Date.parse(last.f1) >= 3_000 * every;
  if (status === "silent" || isOverdue) return [`${t.water.noDataSince} `, moment(last.f1)];
};

const gauge = (feature) => {
  const { gaugeid, gaugenameid, observations, thresholds = {}, trend } = feature.properties;
  const last = observations.at(-1) ?? feature.properties.last;
  const { f1, f2, f3, quality, reason } = last ?? {};
  const level = `${Math.round(f2)} ${t.depth.cm}`;
  const absent = absence(feature.properties, last);
  const isSuspect = quality === 3;
  const borders = Object.entries(thresholds).map(([name, from]) => `${t.depth.level} ${ALERT_NUMBERS[name]}: ${fill(t.water.from, { level: Math.round(from) })}`);
  const facts = [
    ...(isSuspect ? [t.water[reason] ?? t.water.suspect] : []),
    ...(trend && !absent ? [trendOf(trend)] : []),
    ...(borders.length ? [borders.join(" · ")] : []),
  ];
  return {
    id: `gauge-${gaugeid}`, at: feature.at, line: "#0b4a6b", radius: 8,
    colour: absent ? "#9aa5ad" : isSuspect ? "#fff" : ALERT_COLOURS[f3] ?? "#fff",
    struck: Boolean(absent), hollow: isSuspect && !absent,
    title: absent ? nice(gaugenameid) : `${nice(gaugenameid)}: ${level}`,
    about: () => absence(feature.properties, last) ?? [`${t.depth.level} ${f3} · ${[...(isSuspect ? [t.water.suspect] : []), ...(trend ? [trendOf(trend)] : []), ""].join(" · ")}`, moment(f1)],
    more: () => [
      ...(absent && last ? [make("p", {}, `${level} · ${t.depth.level} ${f3}`)] : []),
      ...facts.map((fact) => make("p", {}, fact)),
      ...(observations.length > 1 ? [curve(observations, t.depth.cm, thresholds)] : []),
    ],
  };
};

/**
 * Shows points in a layer of the map and in lists. Calls `choose` with a point tapped in a list, and `changed` after a change of reports;
 * `areaName` returns the name of an area. Returns functions that reload the points.
 */
export const points = ({ layer, view, choose, areaName, colourOf, changed }) => {
  const all = { reports: [], gauges: [], infrastructure: [] };
  // The flood reports by area_id: `null` until they are loaded, `undefined` if that has failed.
  let ofAreas = null;
  // The reports of an hour of the past.
  let archived = null;

  const filter = () => {
    const kinds = [...new Set(all.reports.map(({ kind }) => kind))].sort();
    find("hazards").replaceChildren(...(kinds.length < 2 ? [] : kinds.map((kind) => {
      const box = make("input", { type: "checkbox", checked: !picked.size || picked.has(kind) });
      box.addEventListener("change", () => {
        if (!picked.size) kinds.forEach((of) => picked.add(of));
        box.checked ? picked.add(kind) : picked.delete(kind);
        draw();
      });
      return make("label", {}, box, badge(hazardOf(kind)), hazardOf(kind).name);
    })));
  };
  const draw = () => {
    const reports = (archived ?? all.reports).filter(({ kind }) => !picked.size || picked.has(kind));
    items("reports", reports, t.noReports, choose);
    const shown = [...all.infrastructure, ...(archived ? [] : all.gauges), ...[...reports].reverse()];
    layer.points = shown.map((point) => ({ ...point, colour: colourOf(point.colour) }));
    view.redraw();
  };
  let gaugeFeatures = [];
  const drawGauges = () => {
    all.gauges = gaugeFeatures.map(gauge);
    items("gauges", all.gauges, t.noGauges, choose);
    draw();
  };
  // Time alone makes a gauge silent.
  setInterval(() => find("gauges").contains(document.activeElement) || drawGauges(), 60_000);
  const readReports = async (result) => {
    await learn();
    return decode(result).map((feature) => report(feature, areaName));
  };
  /** Loads the reports of the last hour, and older ones of hazards with a longer window, newest first. */
  const recent = async () => {
    await learn();
    const lengths = Object.keys(hazards).map((disaster) => ({ disaster, length: Math.max(shownFor(hazards[disaster]), disaster === "flood" ? settings.reportsFor : 0) }));
    const longer = lengths.filter(({ disaster, length }) => disaster === "flood" || length > HOUR);
    const more = longer.map(({ disaster, length }) => load(`/reports?${query({ disaster, timeperiod: Math.round(length / 1_000) })}`));
    const found = (await Promise.all([load(`/reports?${query()}`), ...more])).flatMap(decode);
    const floods = found.filter(({ properties: { disaster_type, tags } }) => disaster_type === "flood" && tags?.local_area_id);
    ofAreas = new Map();
    for (const { properties: { pkey, created_at, report_data, tags } } of floods) {
      const { local_area_id: id } = tags;
      ofAreas.has(id) || ofAreas.set(id, new Map());
      ofAreas.get(id).set(pkey, { at: created_at, depth: report_data?.flood_depth });
    }
    const isShown = ({ disaster_type, created_at }) => Date.now() - Date.parse(created_at) <= shownFor(hazards[disaster_type]);
    const by = new Map(found.filter(({ properties }) => isShown(properties)).map((feature) => [feature.properties.pkey, feature]));
    return [...by.values()].sort((one, other) => other.properties.created_at.localeCompare(one.properties.created_at));
  };
  return {
    reports: async () => {
      all.reports = (await recent().catch((error) => {
        ofAreas = undefined;
        changed();
        throw error;
      })).map((feature) => report(feature, areaName));
      filter();
      draw();
      changed();
    },
    gauges: async () => {
      const take = (result) => {
        gaugeFeatures = decode(result);
        drawGauges();
      };
      take(await loadGauges("", { take }));
    },
    /** Shows pumps and floodgates, or none. */
    infrastructure: (features) => {
      all.infrastructure = features.map(({ at, properties: { name } }) => ({
        id: `place-${name}`, at, colour: "#67727b", line: "#fff", radius: 5, from: 12, title: nice(name), about: () => [], more: () => [],
      }));
      draw();
    },
    /** Shows the reports of an hour of the past; `null`: those of now. */
    past: async (result) => {
      archived = result && (await readReports(result));
      draw();
    },
    /** Returns the flood reports of an area, oldest first: `null` until they are loaded, `undefined` if that has failed. */
    reported: (id) => ofAreas && [...(ofAreas.get(id)?.values() ?? [])].sort((one, other) => one.at.localeCompare(other.at)),
    /** Returns points as rows of a list. */
    rows: (all) => rows(all, choose),
    /** Returns the current data of a point. */
    find: (id) => layer.points.find((point) => point.id === id),
  };
};

