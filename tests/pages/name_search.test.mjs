// What people type and what they mean: 60 queries on names of Jakarta.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { fromIndex, match, nameWords, sameName } from "../../src/pages/name_search.js";

const { names, queries } = JSON.parse(readFileSync(new URL("name_search.json", import.meta.url), "utf8"));
const country = readFileSync(new URL("../../country/id/country.toml", import.meta.url), "utf8");
const short = Object.fromEntries([...country.split("[abbreviations]")[1].matchAll(/^(\w+) = "(.*)"$/gm)].map(([, word, full]) => [word, full]));

// A number stands for as many RW.
const areasOf = (of) => (Array.isArray(of) ? of : Array.from({ length: of }, (_, at) => `RW ${`${at + 1}`.padStart(2, "0")}`));
let id = 0;
const cities = Object.entries(names).map(([city, parents]) => [city, Object.entries(parents).map(([parent, of]) => [parent, areasOf(of).map((name) => [`${id++}`, name])])]);
const entries = fromIndex({ cities, places: [["Stasiun Manggarai", 106.85, -6.21]] });
const nameOf = new Map(cities.flatMap(([, parents]) => parents.flatMap(([, areas]) => areas)));

/** The names of the first matches, from the city to the area. */
const found = (text, count) => match(entries, text, short).slice(0, count).map(({ entry }) => [entry.city, entry.parent, nameOf.get(entry.id)].filter(Boolean));

test("at least 57 of 60 queries have the right first answer", () => {
  const wrong = queries.filter(([text, wanted]) => {
    const ranged = Array.isArray(wanted?.at(-1)) ? wanted.at(-1).map((name) => [...wanted.slice(0, -1), name]) : wanted ? [wanted] : [];
    return JSON.stringify(found(text, ranged.length || 1)) !== JSON.stringify(ranged);
  });
  assert.equal(queries.length, 60);
  assert.ok(wrong.length <= 3, JSON.stringify(wrong));
});

test("a number is a whole number, and a range has every area in it", () => {
  assert.deepEqual(found("cawang 1", 9), [["JAKARTA TIMUR", "CAWANG", "RW 01"]]);
  assert.deepEqual(found("cawang rw 11-13", 9).map((name) => name.at(-1)), ["RW 11", "RW 12"]);
  assert.deepEqual(found("cawang 99", 9), []);
});

test("one wrong letter is forgiven in words of five letters, and not in shorter ones", () => {
  for (const typed of ["cawnag", "cawan g", "cawamg", "cawaang", "cawng"]) assert.equal(found(typed, 1)[0]?.[1], "CAWANG", typed);
  for (const typed of ["cawaangg", "dury", ""]) assert.deepEqual(found(typed, 1), [], typed);
  assert.equal(match(entries, "stasiun mangarai")[0].entry.name, "Stasiun Manggarai");
});

test("areas of the same name are found together, without other names", () => {
  const areas = entries.filter((entry) => entry.id);
  const parents = (text) => [...new Set(sameName(match(areas, text, short)).map(({ parent }) => parent))];
  assert.deepEqual(parents("bukit duri"), ["BUKIT DURI"]);
  assert.deepEqual(parents("kramat"), ["KRAMAT", "KRAMAT PELA", "KRAMAT JATI"]);
  const cities = new Set(sameName(match(areas, "jakarta utara", short)).map(({ city }) => city));
  assert.deepEqual([...cities], ["JAKARTA UTARA"], "and no Utan Kayu Utara of Jakarta Timur");
});

test("equal names share their words, and hostile texts are only texts", () => {
  assert.equal(nameWords("RW 03"), nameWords("RW 03"));
  for (const typed of ["(", "\\", "[a-z]+", "a".repeat(10_000), "1".repeat(400), "constructor", "a ".repeat(5_000)]) assert.deepEqual(found(typed, 1).length <= 1, true, typed.slice(0, 20));
});
