// Whether it is better or worse than an hour ago. Has no imports, so that it can be loaded later and tested alone.

// The past is requested again after this time, and at once when states change, but not more often than the second, in milliseconds.
const RENEWED = 600_000, SOONEST = 30_000;

// How the state of an area compares with an earlier one: positive if it is worse, NaN if the depth of one is not known.
const worsening = (state, then) => (state === then ? 0 : state && then && (state === 1 || then === 1) ? NaN : (state ?? 0) - (then ?? 0));
const trendOf = (change) => (change > 0 ? "worse" : change < 0 ? "better" : change === 0 ? "same" : undefined);
const isKnown = ({ floods, watch }) => floods === "now" && watch !== "silent" && watch !== "never";
// An undo keeps the earlier times: it corrects what was shown then, and the water has not changed.
const isCorrected = ({ state, last_updated, confirmed, over_since }, then, at) =>
  state ? last_updated > at && confirmed < last_updated : Boolean(then) && !(over_since > at);
// "The same" means that somebody has looked since.
const isUnconfirmed = ({ state, confirmed }, at) => state && !(confirmed > at);

/**
 * Returns whether an area is "worse" or "better" than at a time of the past, or the "same"; `undefined` if that is not known. `past` has the time
 * `at`, the states `then`, the areas whose log an undo has `corrected` since, and `until`, when it was read. The area has id, state, last_updated
 * and confirmed, or over_since; and reports, the number of reports of a flood.
 */
export const areaTrend = (of, area, past) => {
  const then = past.then[area.id];
  if (!isKnown(of) || !past.logged || !(area.state || then)) return;
  if (past.corrected.includes(area.id) || isCorrected(area, then, past.at)) return;
  if ((area.state ? area.last_updated : area.over_since) > past.until || (!area.state && area.reports)) return;
  const trend = trendOf(worsening(area.state, then));
  return trend === "same" && isUnconfirmed(area, past.at) ? undefined : trend;
};

/**
 * The same for all areas that are flooded or were: first by the number of flooded areas, then by the sum of their states. "The same" means that
 * each area is. Returns the trend, and whether the number has changed.
 */
export const pageTrend = (of, areas, past) => {
  const thenOf = ({ id }) => past.then[id];
  if (!isKnown(of) || !past.logged || !areas.length || past.corrected.length) return {};
  if (areas.some((area) => isCorrected(area, thenOf(area), past.at) || (!area.state && area.reports))) return {};
  if (areas.some((area) => (area.state ? area.last_updated : area.over_since) > past.until)) return {};
  const more = areas.filter(({ state }) => state).length - areas.filter(thenOf).length;
  const deeper = (all) => all.reduce((sum, area) => sum + worsening(area.state, thenOf(area)), 0);
  // Fewer floods that are deeper are not better.
  if (more < 0 && !(deeper(areas.filter(({ state }) => state)) <= 0)) return {};
  const trend = trendOf(more || deeper(areas));
  const isSame = (area) => area.state === thenOf(area) && !isUnconfirmed(area, past.at);
  return trend === "same" && !areas.every(isSame) ? {} : { trend, isCounted: more !== 0 };
};

/**
 * Compares with the states of an hour ago. Calls `changed` when they are loaded; `about` returns an area as in `saysOf`. Returns `renew`, to call
 * when states have changed, and the sentences `forArea(situation, id)` about an area, and `forAll(situation, ids)` about all flooded areas:
 * `{ key, text }`, or `undefined` if nothing is known.
 */
export const trend = ({ changed, about, get, query, clockOf, depths, fill, flooded, t }) => {
  let past, timer, asked = 0, loaded = 0;
  const load = async (after) => {
    if (document.hidden || Date.now() - asked < after) return;
    asked = Date.now();
    const { body } = await get(`/map/trend?${query()}`, { cache: "no-cache" });
    past = { ...body, at: Date.parse(body.at), until: Date.parse(body.until) };
    loaded = Date.now();
    changed();
  };
  const earlier = () => {
    load(RENEWED).catch(() => {});
    return Date.now() - loaded < 2 * RENEWED ? past : undefined;
  };
  const timed = (id) => {
    const { state, last_updated, confirmed, over_since, reports } = about(id);
    return { id, state, last_updated: Date.parse(last_updated), confirmed: Date.parse(confirmed), over_since: Date.parse(over_since), reports: reports?.length };
  };
  const since = (id) => (past.since[id] ? `, ${t.since.replace("{time}", clockOf(past.since[id]))}` : "");
  const sentence = (key, then, more = "") => key && { key, text: fill(t[key], { time: clockOf(past.at), then }) + more };
  return {
    renew: () => {
      clearTimeout(timer);
      timer = setTimeout(() => load(SOONEST).catch(() => {}), asked + SOONEST - Date.now());
    },
    forArea: (situation, id) => {
      const known = earlier();
      if (!known) return;
      const then = known.then[id];
      const key = areaTrend(situation, timed(id), known);
      return sentence(key, then ? depths[then] : t.dry, key === "same" ? "" : since(id));
    },
    forAll: (situation, ids) => {
      const known = earlier();
      if (!known) return;
      const { trend: key, isCounted } = pageTrend(situation, [...new Set([...ids, ...Object.keys(known.then)])].map(timed), known);
      return sentence(key, isCounted ? `${Object.keys(known.then).length} ${flooded}` : t[key === "worse" ? "lower" : "deeper"]);
    },
  };
};
