// An officer's hands at the desk.
import { api, key, origin, slow } from "./chromium.mjs";

export const stateOf = async (id) => (await api("GET", "/floods/states")).result.find(({ area_id }) => area_id === id)?.state ?? null;
export const open = async (page) => {
  await page.goto(`${origin}/desk?lang=en`);
  await page.waitForFunction(() => performance.getEntriesByName("desk ready").length, slow);
};
export const logIn = async (page, name, own = key) => {
  await page.goto(`${origin}/desk?lang=en`);
  await page.type("[name=name]", name);
  await page.type("[name=key]", own);
  await Promise.all([page.waitForNavigation(), page.click(".login .button")]);
  await open(page);
};
export const press = async (page, ...keys) => {
  for (const of of keys) await page.keyboard.press(of);
};
export const card = (page, kind) => page.waitForSelector(`#cards .${kind}`, slow);
export const clickIn = (page, selector, words) =>
  page.evaluate((selector, words) => [...document.querySelectorAll(selector)].find((of) => of.textContent.includes(words)).click(), selector, words);
/** Chooses an area, or not any more, by its number in the search. */
export const pick = async (page, id) => {
  await page.$eval("#search", (field, id) => ((field.value = id), field.dispatchEvent(new Event("input"))), id);
  await page.waitForSelector(`[data-area="${id}"]`, slow);
  await page.$eval(`[data-area="${id}"] input[type=checkbox]`, (box) => box.click());
  await page.evaluate(() => document.activeElement.blur());
};
export const stored = (page, words) => page.waitForFunction((words) => [...document.querySelectorAll("#cards .stored")].some((of) => of.textContent.includes(words)), slow, words);
