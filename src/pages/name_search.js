// Finds areas, larger areas, cities and places by what people type: "kp melayu 3", "bidaracina rw.8", "cawang jaktim".

import { nice } from "./names.js";
import { get } from "./request.js";

const MOST_WORDS = 12;
// The costs of a match. A name that people typed in full comes first.
const BEGINNING = 0.5;
const SKELETON = 0.5;
const JOINED = 0.2;
const TYPO = 2;
const JUMP = 1;
const LEFT_OUT = 0.4;
// Matches that cost this much more than the best are other names.
const OTHER_NAME = 1;

/** @typedef {{ low: number, high: number }} Range */

/** @param {string} text */
const plain = (text) => text.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "");
/** @param {string} text */
const isNumber = (text) => /^\d+$/.test(text);

/** @type {Map<string, string[]>} */
const split = new Map();
/**
 * Returns the words of a name. Letters and digits are separate words: "RW03" is two. Equal names have the same list.
 *
 * @param {string | undefined} name
 */
export const nameWords = (name) => {
  const text = plain(name ?? "");
  let words = split.get(text);
  if (!words) split.set(text, (words = text.match(/\p{L}+|\d+/gu) ?? []));
  return words;
};

/**
 * Returns the words of a query: abbreviations in full, without words that are in no name, and ranges of numbers.
 *
 * @param {string} text
 * @param {Record<string, string>} short
 * @returns {(string | Range)[]}
 */
const queryWords = (text, short) => {
  const found = plain(text).matchAll(/(\d+)\s*(?:-|–|s\/?d|sampai|to|bis)\s*(\d+)|\brt[\s.]*\d+|\p{L}+|\d+/gu);
  /** @type {(string | Range)[]} */
  const words = [];
  for (const [word, low, high] of found) {
    if (low) words.push({ low: Number(low), high: Number(high) });
    else if (!/^rt.*\d/.test(word)) words.push(...(Object.hasOwn(short, word) ? nameWords(short[word]) : [word]));
  }
  return words.slice(0, MOST_WORDS);
};

/**
 * Returns whether one edit makes two words equal: a letter added, left out, wrong, or exchanged with its neighbour.
 *
 * @param {string} one
 * @param {string} other
 */
const isOneEdit = (one, other) => {
  if (Math.abs(one.length - other.length) > 1) return false;
  let begin = 0;
  while (begin < one.length && one[begin] === other[begin]) begin += 1;
  const [rest, its] = [one.slice(begin), other.slice(begin)];
  const isSwap = rest[0] === its[1] && rest[1] === its[0] && rest.slice(2) === its.slice(2);
  return isSwap || rest.slice(1) === its.slice(1) || rest.slice(1) === its || rest === its.slice(1);
};

/** @param {string} word */
const skeleton = (word) => word[0] + word.slice(1).replace(/[aeiou]/g, "");

/**
 * Returns what it costs that a word of the query stands for a word of a name; Infinity if it does not.
 *
 * @param {string | Range} wanted
 * @param {string} word
 */
const cost = (wanted, word) => {
  if (typeof wanted === "object") return isNumber(word) && Number(word) >= wanted.low && Number(word) <= wanted.high ? 0 : Infinity;
  if (isNumber(wanted) || isNumber(word)) return isNumber(wanted) && isNumber(word) && Number(wanted) === Number(word) ? 0 : Infinity;
  if (word === wanted) return 0;
  if (word.startsWith(wanted)) return BEGINNING;
  if (wanted.length >= 3 && wanted === skeleton(wanted) && skeleton(word).startsWith(wanted)) return SKELETON;
  return wanted.length >= 5 && word.length >= 5 && isOneEdit(wanted, word) ? TYPO : Infinity;
};

/**
 * Returns what it costs that a word stands for two: "jaktim" for Jakarta Timur, "bidaracina" for Bidara Cina.
 *
 * @param {string | Range} wanted
 * @param {string} first
 * @param {string} second
 */
const costOfTwo = (wanted, first, second) => {
  if (typeof wanted === "object" || isNumber(wanted) || isNumber(first) || isNumber(second)) return Infinity;
  const joined = cost(wanted, first + second);
  // The beginning of the first word alone stands for one word.
  if (joined < Infinity && (joined !== BEGINNING || wanted.length > first.length)) return joined + JOINED;
  for (let at = 2; at <= wanted.length - 2; at += 1) {
    if (first.startsWith(wanted.slice(0, at)) && second.startsWith(wanted.slice(at))) return SKELETON + JOINED;
  }
  return Infinity;
};

/** Remembers the costs of the words of one query: names share most of their words. */
const remembered = (/** @type {(string | Range)[]} */ words) => {
  /** @type {Map<string, number>[]} */
  const known = words.map(() => new Map());
  return (/** @type {number} */ at, /** @type {string} */ word, /** @type {string} */ next) => {
    const key = next ? `${word} ${next}` : word;
    let found = known[at].get(key);
    if (found === undefined) known[at].set(key, (found = next ? costOfTwo(words[at], word, next) : cost(words[at], word)));
    return found;
  };
};

/**
 * Returns the least cost of all words of the query in the fields of a name, most specific field first; Infinity if a word is in none.
 *
 * @param {(string | Range)[]} words
 * @param {string[][]} fields
 * @param {(at: number, word: string, next: string) => number} costOf
 */
const score = (words, fields, costOf) => {
  // The ways to match the next words: from, to (in the query), field, first and last word, and cost.
  /** @type {{ to: number, field: number, first: number, last: number, cost: number }[][]} */
  const ways = words.map(() => []);
  for (let at = 0; at < words.length; at += 1) {
    const next = words[at + 1];
    const pair = typeof words[at] === "string" && typeof next === "string" && !isNumber(next) ? `${words[at]}${next}` : null;
    fields.forEach((field, index) => field.forEach((word, first) => {
      const add = (/** @type {number} */ to, /** @type {number} */ last, /** @type {number} */ way) => {
        if (way < Infinity) ways[at].push({ to, field: index, first, last, cost: way });
      };
      add(at + 1, first, costOf(at, word, ""));
      if (first + 1 < field.length) add(at + 1, first + 1, costOf(at, word, field[first + 1]));
      if (pair && !isNumber(word) && word.startsWith(pair)) add(at + 2, first, JOINED + (word === pair ? 0 : BEGINNING));
    }));
  }
  // The cheapest way to have matched the words before `at`, for each last word of a name.
  /** @type {Map<string, { cost: number, field: number, last: number, used: Set<number> }>[]} */
  const best = [...words, ""].map(() => new Map());
  best[0].set("", { cost: 0, field: -1, last: -1, used: new Set() });
  for (let at = 0; at < words.length; at += 1) {
    for (const before of best[at].values()) {
      for (const way of ways[at]) {
        const word = way.field * 100 + way.first;
        if (before.used.has(word)) continue;
        const isNext = before.field < 0 || (way.field === before.field && way.first === before.last + 1);
        const total = before.cost + way.cost + (isNext ? 0 : JUMP);
        const key = `${way.field} ${way.last}`;
        const known = best[way.to].get(key);
        if (known && known.cost <= total) continue;
        const used = new Set(before.used);
        for (let part = way.first; part <= way.last; part += 1) used.add(way.field * 100 + part);
        best[way.to].set(key, { cost: total, field: way.field, last: way.last, used });
      }
    }
  }
  const ends = [...(best.at(-1)?.values() ?? [])].map(({ cost: total, used }) => {
    const touched = new Set([...used].map((word) => Math.floor(word / 100)));
    const length = [...touched].reduce((sum, field) => sum + fields[field].length, 0);
    return { cost: total + LEFT_OUT * (length - used.size), isIn: (/** @type {number} */ field) => touched.has(field) };
  });
  return ends.sort((one, other) => one.cost - other.cost)[0] ?? { cost: Infinity, isIn: () => false };
};

/**
 * Returns the entries that match all words of a text, the best first. Names of the same rank keep their order. A number is a whole
 * number: "rw 3" is RW 03, but not RW 30. An entry has the fields of its name, the most specific first; a larger area, whose first
 * field is empty, matches only by its own name.
 *
 * @template {{ fields: string[][] }} Entry
 * @param {Entry[]} entries
 * @param {string} text
 * @param {Record<string, string>} [short] abbreviations, and what they stand for
 * @returns {{ entry: Entry, cost: number }[]}
 */
export const match = (entries, text, short = {}) => {
  const words = queryWords(text, short);
  if (!words.length) return [];
  const costOf = remembered(words);
  const isPart = (/** @type {string | Range} */ word, /** @type {string} */ name, /** @type {string | Range} */ before) =>
    typeof word === "string" && (name.startsWith(word) || (typeof before === "string" && name.startsWith(`${before}${word}`)));
  const canMatch = (/** @type {string[]} */ field) => words.map((word, at) => field.some((name, index) =>
    costOf(at, name, "") < Infinity || (index + 1 < field.length && costOf(at, name, field[index + 1]) < Infinity) || isPart(word, name, words[at - 1])));
  // Many entries share fields, and equal fields have equal scores: each is scored once. Fields without a match do not count.
  /** @type {Map<string[], { number: number, matches: boolean[] }>} */
  const fields = new Map();
  const known = (/** @type {string[]} */ field) => {
    let of = fields.get(field);
    if (!of) fields.set(field, (of = { number: fields.size, matches: canMatch(field) }));
    return of;
  };
  const scores = new Map();
  const found = [];
  for (const entry of entries) {
    const its = entry.fields.map(known);
    if (!words.every((_, at) => its.some(({ matches }) => matches[at]))) continue;
    const counting = its.map(({ number, matches }) => (matches.includes(true) ? number : "")).join();
    let result = scores.get(counting);
    if (!result) scores.set(counting, (result = score(words, entry.fields, costOf)));
    const own = entry.fields.findIndex((field) => field.length);
    // Larger areas come before their parts, which match by the same words.
    if (result.cost < Infinity && (own === 0 || result.isIn(own))) found.push({ entry, cost: result.cost - own / 100 });
  }
  found.sort((one, other) => one.cost - other.cost);
  // Wrong letters are forgiven only where nothing else matches.
  return found.filter((one) => one.cost < found[0].cost + TYPO - BEGINNING);
};

/**
 * Returns the matches that mean the same name as the best one.
 *
 * @template Entry
 * @param {{ entry: Entry, cost: number }[]} matches
 */
export const sameName = (matches) => matches.filter(({ cost: one }) => one < matches[0].cost + OTHER_NAME).map(({ entry }) => entry);

/**
 * Returns the entries of an index of names: areas with `id`, larger areas and cities with the `ids` of their areas, and places with
 * their position. Each has the texts `name` and `more`.
 *
 * @param {{ cities: [string, [string, [string, string][]][]][], places: [string, number, number][] }} index
 */
export const fromIndex = ({ cities, places }) => {
  const all = [];
  for (const [city, parents] of cities) {
    const more = nice(city);
    const cityWords = nameWords(city);
    const idsOf = (/** @type {[string, string][]} */ areas) => areas.map(([id]) => id);
    if (city && parents.length > 1) all.push({ name: more, more: "", city, ids: parents.flatMap(([, areas]) => idsOf(areas)), fields: [[], [], cityWords] });
    for (const [parent, areas] of parents) {
      const parentWords = nameWords(parent);
      if (parent && areas.length > 1) all.push({ name: nice(parent), more, city, parent, ids: idsOf(areas), fields: [[], parentWords, cityWords] });
      for (const [id, name] of areas) {
        all.push({ id, name: [nice(parent), nice(name || id)].filter(Boolean).join(", "), more, city, parent, fields: [nameWords(name || id), parentWords, cityWords] });
      }
    }
  }
  for (const [name, ...place] of places) all.push({ name, place, fields: [nameWords(name)] });
  return all;
};

// A street has at least so many letters or digits.
const LETTERS = 3;
// The time after the last letter until the service is asked, in milliseconds.
const TYPED = 300;
/**
 * Returns the streets that a text means, from the service: entries with the `ids` of the areas that they touch, and a place on them (`at`).
 * Waits a moment first, and returns none if the text is no longer wanted. Throws without a network. `select` has the city of the page.
 *
 * @param {string} text
 * @param {() => boolean} isWanted
 * @param {Record<string, string>} [select]
 */
export const streetsOf = async (text, isWanted, select = {}) => {
  await new Promise((resolve) => setTimeout(resolve, TYPED));
  if (!isWanted() || (text.match(/[\p{L}\p{N}]/gu) ?? []).length < LETTERS) return [];
  const { body } = await get(`/map/streets?${new URLSearchParams({ ...select, q: text.trim() })}`, { cache: "no-store", timeout: 10_000 });
  const street = (/** @type {{ name: string, city: string, areas: string[], at: [number, number] }} */ { name, city, areas, at }) =>
    ({ name, more: nice(city), ids: areas, at, isStreet: true });
  return body.result.map(street);
};
