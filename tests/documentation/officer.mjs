// What tests of the desk share: requests by key, and an officer's hands in a page.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const [origin, base, key] = process.argv.slice(2);
export const patience = Number(process.env.TEST_PATIENCE ?? 1);
export const slow = { timeout: 30_000 * patience };
export const pause = (time) => new Promise((done) => setTimeout(done, time));

export const asked = async (method, path, body) => {
  const response = await fetch(base + path, { method, headers: { "X-Api-Key": key, "Content-Type": "application/json" }, body: body && JSON.stringify(body) });
  assert.equal(response.status, 200, `${method} ${path}: ${await response.clone().text()}`);
  return response.json();
};
export const stateOf = async (id) => (await asked("GET", "/floods/states")).result.find(({ area_id }) => area_id === id)?.state ?? null;
export const until = async (says, holds) => {
  const begun = Date.now();
  for (;;) {
    if (await holds()) return Date.now() - begun;
    assert.ok(Date.now() - begun < slow.timeout, says);
    await pause(50);
  }
};

export const open = async (page) => {
  await page.goto(`${origin}/desk?lang=en`);
  await page.waitForFunction(() => performance.getEntriesByName("desk ready").length, slow);
};
export const logIn = async (page, name) => {
  await page.goto(`${origin}/desk?lang=en`);
  await page.type("[name=name]", name);
  await page.type("[name=key]", key);
  await Promise.all([page.waitForNavigation(), page.click(".login .button")]);
  await open(page);
};
export const noFaults = async (page) => {
  await page.evaluate(readFileSync("node_modules/axe-core/axe.min.js", "utf8"));
  const { violations } = await page.evaluate(() => axe.run());
  assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html.slice(0, 300))]), []);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= Math.ceil(visualViewport.width)), "nothing is wider than the page");
};
export const press = async (page, ...keys) => {
  for (const of of keys) await page.keyboard.press(of);
};
export const card = (page, kind) => page.waitForSelector(`#cards .${kind}`, slow);
export const text = (page, selector) => page.$eval(selector, (element) => element.textContent);
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
