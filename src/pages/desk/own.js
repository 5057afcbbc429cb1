// The areas of responsibility of the officer. Without a limit, these are all areas.
import { get } from "../request.js";
import { failed, settings } from "../map/words.js";

const OWN_AGAIN = 10_000; // So long the page waits before it tries again.

/** @type {{ write: Set<string> | null, moderate: Set<string> | null }} */
const ownAreas = { write: new Set(), moderate: new Set() }; // `null` for all areas.

/** Whether the officer may set the state of an area. */
export const mayWrite = (id) => settings.mayWrite && (!ownAreas.write || ownAreas.write.has(`${id}`));
/** Whether the officer may moderate a report in an area. The service decides about reports without an area. */
export const mayModerate = (id) => settings.mayModerate && (!ownAreas.moderate || id == null || ownAreas.moderate.has(`${id}`));
/** Whether an area belongs to the officer. */
export const isMyArea = (id) => !settings.limited || mayWrite(id) || (ownAreas.moderate !== null && ownAreas.moderate.has(`${id}`));

/** Loads the areas; retries until it succeeds. */
export const loadOwn = async () => {
  if (!settings.limited) return void Object.assign(ownAreas, { write: null, moderate: null });
  try {
    const { write, moderate } = (await get("/desk/areas")).body.result;
    Object.assign(ownAreas, { write: write && new Set(write), moderate: moderate && new Set(moderate) });
  } catch (error) {
    failed(error);
    await new Promise((again) => setTimeout(again, OWN_AGAIN));
    await loadOwn();
  }
};
