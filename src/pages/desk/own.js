// The areas of responsibility of the officer. Without a limit, these are all areas.
import { get } from "../request.js";
import { failed, settings } from "../map/words.js";

const RENEWAL = 300_000; // An import can change the areas.

/** @type {{ write: Set<string> | null, moderate: Set<string> | null }} */
const ownAreas = { write: new Set(), moderate: new Set() }; // `null` for all areas.
let isKnown = !settings.limited;
if (isKnown) Object.assign(ownAreas, { write: null, moderate: null });

/** Whether the areas have been loaded. */
export const hasOwn = () => isKnown;
/** Whether the officer may set the state of an area. */
export const mayWrite = (id) => settings.mayWrite && (!ownAreas.write || ownAreas.write.has(`${id}`));
/** Whether the officer may moderate a report in an area. The service decides about reports without an area. */
export const mayModerate = (id) => settings.mayModerate && (!ownAreas.moderate || id == null || ownAreas.moderate.has(`${id}`));
/** Whether an area belongs to the officer. */
export const isMyArea = (id) => !settings.limited || mayWrite(id) || (ownAreas.moderate !== null && ownAreas.moderate.has(`${id}`));

/** Loads the areas, and again from time to time; calls `changed` then. Retries after `again` milliseconds. */
export const loadOwn = async (again, changed) => {
  if (!settings.limited) return;
  try {
    const { write, moderate } = (await get("/desk/areas")).body.result;
    Object.assign(ownAreas, { write: write && new Set(write), moderate: moderate && new Set(moderate) });
    isKnown = true;
  } catch (error) {
    failed(error);
  }
  setTimeout(() => loadOwn(again, changed).then(changed), isKnown ? RENEWAL : again);
};
