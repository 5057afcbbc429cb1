// The past: the highest state of each area in an hour of the last two days.
import { HOUR, failed, find, hourOf, load, query, t } from "./words.js";

const hours = find("hours");

/** Returns the hour of the slider, up to the current one; `null` for now. */
const hour = () => {
  const back = -Number(hours.value);
  if (!back) return null;
  const start = Math.floor(Date.now() / HOUR) * HOUR - (back - 1) * HOUR;
  return { start, end: Math.min(start + HOUR, Date.now()) };
};

/** Calls `show` with the states and reports of the chosen hour, or with `null` for now. The last choice wins. */
export const past = (show) => {
  let asked = 0;
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
