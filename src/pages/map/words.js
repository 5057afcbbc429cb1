// Shared by the modules of the map page: settings, texts, elements, times and requests.

import { nice } from "../names.js";
import { get } from "../request.js";

export const settings = JSON.parse(document.body.dataset.settings);
export const { base, texts: t, depths, language } = settings;

/** An hour, in milliseconds. */
export const HOUR = 3_600_000;

export const find = (id) => document.getElementById(id);

/** Creates an element. Names are text, never HTML. */
export const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};

/** Calls a function that a browser may block or lack. Returns `undefined` then. */
export const attempt = (use) => {
  try {
    return use();
  } catch {}
};

/** Writes a sentence into an element, with its key in `data-says`. */
export const stating = (element, key, ...children) => {
  key ? (element.dataset.says = key) : delete element.dataset.says;
  element.replaceChildren(...children);
  return element;
};

export const fill = (text, values) => text.replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);

/** The selection of the page, as parameters of requests. */
export const query = (more = {}) => new URLSearchParams({ ...(settings.city ? { city: settings.city } : {}), ...more });

// Data from the cache of the service worker, by address: the time of the data, and the function that applies newer data.
const kept = new Map();
/** Records cached or current data. Dispatches the event `kept`. */
const noteKept = (address, of) => {
  of ? kept.set(address, of) : kept.delete(address);
  dispatchEvent(new Event("kept"));
};
const full = (path) => new URL(base + path, location.href).href;
/** Returns the age of the oldest cached data, of all or of one path; `undefined` if it came from the service. */
export const keptSince = (part = "") =>
  [...kept].filter(([address]) => address.startsWith(full(part))).map(([, { since }]) => since).sort()[0];
/** Records that newer data has arrived another way. */
export const replaced = (path) => kept.has(full(path)) && noteKept(full(path));

/**
 * Requests a path of the service, and returns its result. Throws an error with the `status`. `take` is for mutable data: if the result is
 * from the cache of the service worker, `take` is called later with the result of the service.
 * @param {string} path
 * @param {RequestInit & { take?: (result: any) => void }} options
 */
export const load = async (path, { take, ...options } = {}) => {
  const note = (since) => take && noteKept(full(path), since && { since, take, again: () => load(path, { take }).then(take) });
  try {
    const { headers, body } = await get(base + path, { cache: "no-cache", ...options });
    note(headers.get("Siaga-Kept"));
    return body.result;
  } catch (error) {
    // The data that is part of a cached page is as old as the page.
    if (document.body.dataset.kept && !kept.has(full(path))) note(document.body.dataset.kept);
    throw error;
  }
};
/** Requests all gauges; of each only the latest reading if there are too many for a list. */
export const loadGauges = (more = "", options = {}) => {
  const path = `/floodgauges?silent=true${more}`;
  return load(path, options).catch((error) => {
    if (error.status !== 400) throw error;
    return load(`${path}&latest=true`, options);
  });
};
/** Requests cached data again. */
export const askAgain = () => Promise.all([...kept.values()].map(({ again }) => again().catch(failed)));
navigator.serviceWorker?.addEventListener("message", ({ data: { address, body } }) => {
  if (!body) return dispatchEvent(new Event("newer"));
  const known = kept.get(address);
  if (!known) return;
  noteKept(address);
  known.take(body.result);
});

export const svg = (tag, properties, ...children) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(properties)) element.setAttribute(name, value);
  element.append(...children);
  return element;
};
/**
 * Returns the curve of a gauge, labelled with its lowest and highest level. Thresholds up to the height of the curve above it are
 * dashed lines, suspect readings circles, and more than three times the usual time without a reading a gap.
 */
export const curve = (readings, unit, thresholds = {}) => {
  const [times, levels] = [readings.map(({ f1 }) => Date.parse(f1)), readings.map(({ f2 }) => f2)];
  const [least, most] = [Math.min(...levels), Math.max(...levels)];
  const borders = Object.values(thresholds).filter((level) => level >= least && level <= most + Math.max(most - least, 10));
  const top = Math.max(most, ...borders);
  const x = (time) => 2 + ((time - times[0]) / (times.at(-1) - times[0] || 1)) * 196;
  const y = (level) => 46 - ((level - least) / (top - least || 1)) * 42;
  const distances = times.slice(1).map((time, at) => time - times[at]).sort((one, other) => one - other);
  const usual = distances[distances.length >> 1];
  const path = readings.map((_, at) => `${at && times[at] - times[at - 1] <= 3 * usual ? "L" : "M"}${x(times[at])} ${y(levels[at])}`);
  const even = { fill: "none", stroke: "currentColor", "vector-effect": "non-scaling-stroke" };
  const lines = borders.map((level) => svg("path", { d: `M2 ${y(level)}H198`, "stroke-dasharray": "4 3", "stroke-width": 1, ...even }));
  const circles = readings.flatMap(({ quality }, at) => (quality === 3 ? [svg("circle", { cx: x(times[at]), cy: y(levels[at]), r: 3, "stroke-width": 1, ...even })] : []));
  return svg("svg", { viewBox: "0 0 200 48", role: "img", preserveAspectRatio: "none", "aria-label": `${least}–${most} ${unit}` },
    ...lines, svg("path", { d: path.join(""), "stroke-width": 2, ...even }), ...circles);
};

/** Returns the photo of a report as elements: an image if it is the service's own, else a link. */
export const photo = (address) => {
  const url = address && attempt(() => new URL(address, location.href));
  if (!url) return [];
  const isOwn = [location, new URL(settings.photos, location.href)].some(({ origin }) => origin === url.origin);
  if (isOwn) return [make("img", { src: url.href, alt: t.photo, loading: "lazy" })];
  return /^https?:$/.test(url.protocol) ? [make("a", { href: url.href, rel: "noopener noreferrer", target: "_blank" }, t.photoElsewhere)] : [];
};

export const failed = (error) => console.warn(error.message);

export const nameOf = ({ parent_name, area_name, area_id }) => [parent_name, area_name || area_id].filter(Boolean).map(nice).join(", ");

/** @type {[Intl.RelativeTimeFormatUnit, number][]} */
const UNITS = [["year", 31_557_600_000], ["month", 2_629_800_000], ["day", 86_400_000], ["hour", 3_600_000], ["minute", 60_000]];
const HALF_A_DAY = 43_200_000;
const TIME = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
const DATE = { ...TIME, day: "numeric", month: "short" };
const FORMS = { today: TIME, year: DATE, other: { ...DATE, year: "numeric" }, day: { weekday: "long", day: "numeric", month: "long" } };
// Created lazily: each takes 50 ms on a slow phone.
const made = {};
const clock = (form, at) => (made[form] ??= new Intl.DateTimeFormat(language, { timeZone: settings.timeZone, ...FORMS[form] })).format(at);

/** Returns the hour and minute of a time. */
export const clockOf = (at) => clock("today", new Date(at));

/** Returns how long ago a time was, in words. */
export const age = (at) => {
  const passed = Math.max(0, Date.now() - Date.parse(at));
  const unit = UNITS.find(([, length]) => passed >= length);
  if (!unit) return t.justNow;
  made.age ??= new Intl.RelativeTimeFormat(language, { numeric: "always" });
  return made.age.format(-Math.floor(passed / unit[1]), unit[0]);
};
let isPaper = false;
const written = (at) => {
  const [then, now] = [new Date(at), new Date()];
  // Prints absolute times, because times on paper do not update. A time ahead, when a gauge counts again, has no age.
  if (isPaper || then.getTime() - now.getTime() > 60_000) return `${clock("other", then)} ${settings.zone}`;
  const form = now.getTime() - then.getTime() < HALF_A_DAY ? "today" : then.getUTCFullYear() === now.getUTCFullYear() ? "year" : "other";
  return `${age(at)} (${clock(form, then)} ${settings.zone})`;
};

/** Returns a time with its age, which is updated while the page is open. */
export const moment = (at) => make("time", { dateTime: at, className: "age" }, written(at));

const grow = () => {
  for (const time of document.querySelectorAll("time")) {
    const text = written(time.dateTime);
    if (time.textContent !== text) time.textContent = text;
  }
};
setTimeout(grow);
setInterval(grow, 30_000);
for (const when of ["beforeprint", "afterprint"]) addEventListener(when, () => {
  isPaper = when === "beforeprint";
  grow();
});

/** Returns an hour in words: day, start and end. */
export const hourOf = ({ start, end }) => `${clock("day", start)}, ${clock("today", start)}–${clock("today", end)} ${settings.zone}`;
