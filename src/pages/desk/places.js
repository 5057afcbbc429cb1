// Finds areas by the words of a phone call, and names groups of areas.
import { nice } from "../names.js";
import { fill, t } from "../map/words.js";
import { named } from "./rows.js";

const MOST_PLACES = 3; // More places are counted.

// Splits "RW03" into two words.
const wordsIn = (text) => `${text ?? ""}`.toLowerCase().match(/\p{L}+|\p{N}+/gu) ?? [];
const isNumber = (word) => /^\d+$/.test(word);
/** Names match by prefix, numbers as a whole: "rw 3" is RW 03, but not RW 30. */
const fits = (word, wanted) => (isNumber(wanted) ? isNumber(word) && Number(word) === Number(wanted) : word.startsWith(wanted));

/**
 * Returns the number of phrases, each matching in order within one field; Infinity if a word is in none. "jakarta utara"
 * is one phrase in the city of this name, but two in the kelurahan Utan Kayu Utara of Jakarta Timur.
 */
const phrases = (words, fields) => {
  let count = 0;
  for (let at = 0; at < words.length; count += 1) {
    let longest = 0;
    for (const field of fields) {
      for (let start = 0; start < field.length; start += 1) {
        let length = 0;
        while (at + length < words.length && start + length < field.length && fits(field[start + length], words[at + length])) length += 1;
        longest = Math.max(longest, length);
      }
    }
    if (!longest) return Infinity;
    at += longest;
  }
  return count;
};

/** Returns a search in a map of areas. It returns the identifiers that match in the fewest phrases; null without words. */
export const finder = (areas) => {
  let last, found;
  return (text) => {
    const words = wordsIn(text).slice(0, 12);
    if (!words.length) return null;
    const key = `${areas.size} ${words.join(" ")}`;
    if (key === last) return found;
    last = key;
    let least = Infinity;
    found = new Set();
    for (const [id, area] of areas) {
      area.words ??= [area.area_name, area.parent_name, area.city_name, area.area_id].map(wordsIn);
      const count = phrases(words, area.words);
      if (count === Infinity || count > least) continue;
      if (count < least) found.clear();
      least = count;
      found.add(id);
    }
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
