// The sentences about an area, in words.
import { areaSays, titleSays } from "./statements.js";
import { age, clockOf, depths, fill, make, moment, settings, stating, t } from "./words.js";

const TEXTS = { unconfirmed: "unconfirmedFor" };
/** Returns the text of a sentence. */
export const sentence = (key) => settings.says[key] ?? t[TEXTS[key] ?? key];

const span = (all) => (all.length > 1 && all[0] !== all.at(-1) ? `${all[0]}–${all.at(-1)}` : `${all[0]}`);
/** Returns how many residents have reported a flood, how deep, and when. */
const reported = (key, reports) => {
  const found = reports.map(({ depth }) => depth).filter(Number.isFinite).sort((one, other) => one - other).map(Math.round);
  const times = span(reports.map(({ at }) => clockOf(at)));
  return fill(t[key], { count: reports.length, what: [...(found.length ? [`${span(found)} ${t.depth.cm}`] : []), times].join(", ") });
};
const CLASSES = { advice: "advice", unconfirmed: "notice", stale: "notice", offline: "notice", oneReport: "notice", reports: "notice", unwatched: "place", reportsUnknown: "place" };
const time = (at) => at && Date.parse(at);

/** Returns the sentences about an area with `state`, `flooded_since` and `confirmed`, or `over_since`; and `reports`, if loaded. */
export const saysOf = (situation, { state = undefined, flooded_since = undefined, confirmed = undefined, over_since, reports }) =>
  areaSays(situation, settings, { state, flooded_since: time(flooded_since), confirmed: time(confirmed), over_since: time(over_since), reports: reports?.length });

/** Returns these sentences in words, as elements. */
export const elements = (says, situation, { state, flooded_since, confirmed, over_since, reports }) => {
  const since = situation.since && new Date(situation.since).toISOString();
  const timed = { since: flooded_since, confirmed, over: over_since, stale: since, offline: since };
  return says.map((key, index) => {
    const element = make("p", { className: index ? CLASSES[key] ?? "" : "state" });
    if (key === "depth") return stating(element, key, make("i", { className: `swatch s${state}` }), depths[state]);
    if (key === "advice") return stating(element, key, t.advice[state]);
    if (key === "unconfirmed") return stating(element, key, fill(sentence(key), { age: age(confirmed) }));
    if (key === "oneReport" || key === "reports") return stating(element, key, reported(key, reports));
    return stating(element, key, ...(timed[key] ? [`${sentence(key)} `, moment(timed[key])] : [sentence(key)]));
  });
};

/** Returns the sentence about an area for the title or a spoken message. */
export const inShort = (says, { state, reports }) => {
  const key = titleSays(says);
  return key === "depth" ? depths[state] : fill(sentence(key), { count: reports?.length });
};
