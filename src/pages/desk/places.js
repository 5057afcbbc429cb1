// Finds areas by the words of a phone call, and names groups of areas.
import { match, nameWords, sameName, streetsOf } from "../name_search.js";
import { nice } from "../names.js";
import { fill, t } from "../map/words.js";
import { named } from "./rows.js";

const MOST_PLACES = 3; // More places are counted.
const STREETS_PAUSE = 10_000; // So long a failed search for streets is not repeated.

/**
 * Returns a search in a map of areas. It returns the identifiers of those that a text means; null without a text. If it means none, calls
 * `changed` with the name of the street when its areas are known, and `searched` with whether streets could be searched.
 */
export const finder = (areas, short, changed, searched) => {
  let last, found, timer;
  const askForStreets = async (text, key) => {
    const all = await streetsOf(text, () => key === last).catch(() => null);
    if (key !== last) return;
    searched(Boolean(all));
    // The next call searches again.
    if (!all) timer = setTimeout(() => (last = undefined), STREETS_PAUSE);
    if (!all?.length) return;
    // Streets with other names are other places.
    const same = all.filter(({ name }) => name === all[0].name);
    found = new Set(same.flatMap(({ ids }) => ids).filter((id) => areas.has(id)));
    changed([same[0].name, same.map(({ more }) => more).join(", ")].filter(Boolean).join(": "));
  };
  return (text) => {
    if (!text.trim()) return null;
    const key = `${areas.size} ${text}`;
    if (key === last) return found;
    last = key;
    clearTimeout(timer);
    for (const area of areas.values()) area.fields ??= [area.area_name, area.parent_name, area.city_name].map(nameWords);
    found = new Set(sameName(match([...areas.values()], text, short)).map(({ area_id }) => `${area_id}`));
    if (areas.has(text.trim())) found.add(text.trim());
    if (!found.size && areas.size) askForStreets(text, key);
    return found;
  };
};

/** Names where areas are: in up to three larger areas, else by city, the most areas first. */
export const whereOf = (all) => {
  const by = (key) => {
    const counts = new Map();
    for (const area of all) counts.set(area[key] || "", (counts.get(area[key] || "") ?? 0) + 1);
    return [...counts].sort(([, one], [, other]) => other - one);
  };
  const parents = by("parent_name");
  const places = parents.length <= MOST_PLACES && parents[0]?.[0] ? parents : by("city_name");
  const names = places.filter(([name]) => name).map(([name, count]) => (places.length > 1 ? `${nice(name)} (${count})` : nice(name)));
  const rest = names.length - MOST_PLACES;
  return names.slice(0, MOST_PLACES).join(", ") + (rest > 0 ? ` ${fill(t.andMore, { count: rest })}` : "");
};

/** Names areas: one by its name, more by their number and where they are. */
export const placeOf = (all) => {
  if (all.length === 1) return named(all[0]);
  const place = whereOf(all);
  return fill(place ? t.areasIn : t.areas, { count: all.length, place });
};
