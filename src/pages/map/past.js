// The past: the highest state of each area in an hour of the last two days.
import { HOUR, curve, failed, find, hourOf, load, query, settings, svg, t } from "./words.js";

const hours = find("hours");

/** Returns the hour of the slider, up to the current one; `null` for now. */
const hour = () => {
  const back = -Number(hours.value);
  if (!back) return null;
  const start = Math.floor(Date.now() / HOUR) * HOUR - (back - 1) * HOUR;
  return { start, end: Math.min(start + HOUR, Date.now()) };
};

// The line of counts is loaded again after this time, in milliseconds.
const RENEWED = 300_000;

/** Returns the number of flooded areas of each hour as a line, with a mark at each hour in which it changed. */
const line = (counts) => {
  const drawn = curve(counts.map(([time, count]) => ({ f1: time, f2: count })), settings.says.flooded);
  const changed = counts.flatMap(([, count], at) => (at && count !== counts[at - 1][1] ? [2 + (196 * at) / (counts.length - 1)] : []));
  drawn.append(svg("path", { d: changed.map((x) => `M${x} 42V48`).join(""), stroke: "currentColor", "stroke-width": 1, "vector-effect": "non-scaling-stroke" }));
  return drawn;
};

/**
 * Calls `show` with the states and reports of the chosen hour, or with `null` for now. The last choice wins. `counted` returns the present
 * number of flooded areas, if it is known.
 */
export const past = (show, counted) => {
  let asked = 0, drawnAt = 0;
  const draw = async () => {
    if (Date.now() - drawnAt < RENEWED) return;
    drawnAt = Date.now();
    const end = Math.floor(drawnAt / HOUR) * HOUR;
    const period = query({ start: new Date(end + hours.min * HOUR + HOUR).toISOString(), end: new Date(end + 1).toISOString() });
    const series = await load(`/floods/timeseries?${period}`).catch((error) => (failed(error), []));
    const counts = series.map(({ ts, count }) => [ts, Number(count)]);
    // The last position of the slider is now.
    const now = counted() ?? counts.at(-1)?.[1];
    if (counts.length < 2) drawnAt = 0;
    else find("counts").replaceChildren(line([...counts, [new Date(end + HOUR).toISOString(), now]]));
  };
  for (const touch of ["focus", "pointerdown"]) hours.addEventListener(touch, draw);
  const choose = async () => {
    const number = ++asked;
    const chosen = hour();
    find("hour").textContent = find("past-hour").textContent = chosen ? hourOf(chosen) : t.now;
    if (!chosen) {
      show(null);
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 250));
    if (number !== asked) return;
    const period = query({ start: new Date(chosen.start).toISOString(), end: new Date(chosen.end).toISOString() });
    const requests = [load(`/floods/archive?${period}`), load(`/reports/archive?${period}`).catch(() => null)];
    const [records, reports] = await Promise.all(requests).catch((error) => (failed(error), []));
    if (number !== asked) return;
    if (records) show({ ...chosen, records, reports });
    else find("hour").textContent = t.hourFailed;
  };
  hours.addEventListener("input", choose);
  find("back").addEventListener("click", () => {
    hours.value = 0;
    choose();
    hours.focus({ preventScroll: true });
  });
};
