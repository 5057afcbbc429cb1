// What the parts of the map page share: its settings, texts, elements, times and requests.

export const settings = JSON.parse(document.body.dataset.settings);
export const { base, texts: t, depths, language } = settings;

export const find = (id) => document.getElementById(id);

/** Makes an element. Names are texts, never HTML. */
export const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};

export const fill = (text, values) => text.replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);

/** The selection of the page, as parameters of requests. */
export const query = (more = {}) => new URLSearchParams({ ...(settings.city ? { city: settings.city } : {}), ...more });

/** Requests a part of the service, and returns its result. Throws an error with the `status`. */
export const load = async (path, options) => {
  const response = await fetch(base + path, options);
  if (!response.ok) throw Object.assign(new Error(`${path}: ${response.status}`), { status: response.status });
  return (await response.json()).result;
};

export const failed = (error) => console.warn(error.message);

// Names in capitals are hard to read. Short ones are abbreviations: RW, TMII.
export const nice = (name) =>
  name === name.toUpperCase() && /\p{Lu}{5}|\p{Lu}{4} |\p{Lu}{3} \p{Lu}{3}/u.test(name)
    ? name.toLowerCase().replace(/(^|[\s(/.-])(\p{L})/gu, (_, before, letter) => before + letter.toUpperCase())
    : name;

export const nameOf = ({ parent_name, area_name, area_id }) => [parent_name, area_name || area_id].filter(Boolean).map(nice).join(", ");

const UNITS = [["day", 86_400_000], ["hour", 3_600_000], ["minute", 60_000]];
const relative = new Intl.RelativeTimeFormat(language, { numeric: "always" });
const clock = (options) => new Intl.DateTimeFormat(language, { timeZone: settings.timeZone, ...options });
const ofToday = clock({ hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const ofThen = clock({ day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

/** Returns how long ago a time was, in words. */
export const age = (at) => {
  const passed = Math.max(0, Date.now() - Date.parse(at));
  const [unit, length] = UNITS.find(([, length]) => passed >= length) ?? UNITS[2];
  return relative.format(-Math.floor(passed / length), unit);
};
const written = (at) => `${age(at)} (${(Date.now() - Date.parse(at) < 43_200_000 ? ofToday : ofThen).format(new Date(at))} ${settings.zone})`;

/** Returns a time with its age, which grows while the page is open. */
export const moment = (at) => make("time", { dateTime: at, className: "age" }, written(at));

const grow = () => {
  for (const time of document.querySelectorAll("time")) {
    const text = written(time.dateTime);
    if (time.textContent !== text) time.textContent = text;
  }
};
grow();
setInterval(grow, 30_000);

const day = clock({ weekday: "long", day: "numeric", month: "long" });

/** Returns an hour in words: a day, and from when to when. */
export const hourOf = ({ start, end }) => `${day.format(start)}, ${ofToday.format(start)}–${ofToday.format(end)} ${settings.zone}`;
