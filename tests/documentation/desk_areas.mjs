// Two districts and the province at the desk in one night, each with the areas of their key.
import assert from "node:assert/strict";
import { api, chromium, noFaults, origin, slow, text, until } from "./chromium.mjs";
import { card, clickIn, logIn, open, pick, press, stateOf, stored } from "./officer.mjs";

const cities = (page) => page.$$eval("#rows .row .soft", (all) => [...new Set(all.map((of) => of.textContent.split(" · ").at(-1)))].filter((city) => city.startsWith("Jakarta")));
const search = (page, words) => page.$eval("#search", (field, words) => ((field.value = words), field.dispatchEvent(new Event("input"))), words);
const rows = (page) => page.$$eval("#rows .row", (all) => all.map(({ dataset }) => dataset.area));
const areaIn = async (city) => {
  const { features } = (await api("GET", "/areas?geoformat=geojson")).result;
  return features.filter(({ properties }) => properties.city_name === city).map(({ properties }) => `${properties.area_id}`);
};
const another = async (browser, name, key) => {
  const page = await (await browser.createBrowserContext()).newPage();
  await page.setViewport({ width: 1440, height: 900 });
  await logIn(page, name, key);
  return page;
};

await chromium(async (page, browser) => {
  const [south, centre] = [await areaIn("JAKARTA SELATAN"), await areaIn("JAKARTA PUSAT")];
  await api("POST", "/floods/changes", { changes: [...south.slice(0, 9), ...centre.slice(0, 9)].map((area_id) => ({ area_id, state: null })) });
  await page.setViewport({ width: 1440, height: 900 });
  await logIn(page, "Sri", "selatan");

  // The list and the search have one's own areas; the others are read-only, on request.
  await page.click("#tab-all");
  await until("the own areas", async () => `${await cities(page)}` === "Jakarta Selatan");
  await search(page, centre[0]);
  await until("the number of others", async () => (await text(page, "#empty")).includes("Areas of others: 1"));
  assert.deepEqual(await rows(page), []);
  await page.click("#others");
  await page.waitForSelector(`[data-area="${centre[0]}"] input:disabled`, slow);
  assert.match(await text(page, `[data-area="${centre[0]}"]`), /Not one of your areas/);
  await noFaults(page);
  await page.setViewport({ width: 360, height: 740 });
  await noFaults(page);
  await page.setViewport({ width: 1440, height: 900 });
  await search(page, "");
  await until("own areas first", async () => south.includes((await rows(page))[0]));
  await page.click("#others");

  // Each sets areas of their own, and the province sets areas of both.
  const budi = await another(browser, "Budi", "pusat");
  const province = await another(browser, "Ani", "root");
  for (const [officer, id] of [[page, south[0]], [budi, centre[0]]]) {
    await officer.click("#tab-all");
    await pick(officer, id);
    await press(officer, "2");
    await stored(officer, "→");
    assert.equal(await stateOf(id), 2);
  }
  await province.click("#tab-all");
  for (const id of [south[1], centre[1]]) await pick(province, id);
  await press(province, "3");
  await stored(province, "→");
  // Only the province can undo what it has set in both districts.
  const undos = (officer) => officer.$$eval("#night-list li", (lines) => lines.map((line) => [line.textContent.includes("Ani"), Boolean(line.querySelector("button"))]));
  for (const [officer, may] of [[page, false], [budi, false], [province, true]]) {
    await until("the line of Ani", async () => (await undos(officer)).some(([isAni]) => isAni));
    const [, hasUndo] = (await undos(officer)).find(([isAni]) => isAni);
    assert.equal(hasUndo, may);
  }

  // The service decides: areas outside are taken out of an order, and the rest is set.
  await page.setRequestInterception(true);
  page.on("request", (request) =>
    request.url().endsWith("/desk/areas") ? request.respond({ status: 200, contentType: "application/json", headers: { "Siaga-Version": "0" }, body: '{"result":{"write":null,"moderate":null}}' }) : request.continue());
  await open(page);
  for (const id of [south[2], centre[2]]) await pick(page, id);
  await press(page, "4");
  const refused = await card(page, "refused");
  assert.match(await refused.evaluate((of) => of.textContent), /Not set, because they are not your areas/);
  await until("the own area", async () => (await stateOf(south[2])) === 4);
  assert.equal(await stateOf(centre[2]), null);

  // The situation report has one's own areas, or all.
  await page.goto(`${origin}/desk/situation?lang=en&areas=own`);
  const report = await text(page, "main");
  assert.ok(report.includes("JAKARTA SELATAN") && !report.includes("JAKARTA PUSAT"), report);
  await page.goto(`${origin}/desk/situation?lang=en`);
  assert.match(await text(page, "main"), /JAKARTA PUSAT/);

  // An order that another user of this browser has left is shown, never sent, and can be discarded.
  const left = { id: "11111111-1111-4111-8111-111111111111", decided: Date.now(), due: 0, status: "lost", changes: [{ area_id: south[3], state: 4, after: null }] };
  await page.evaluate((left) => localStorage.setItem(`siaga desk selatan 2 ${left.id}`, JSON.stringify(left)), left);
  await open(page);
  await page.waitForFunction(() => [...document.querySelectorAll("#cards .found")].some((of) => of.textContent.includes("(selatan 2)")), slow);
  assert.equal(await page.$$eval("#cards .found button", (all) => all.length), 1, "there is nothing but to discard it");
  await clickIn(page, "#cards .found button", "Discard");
  await until("it is gone", () => page.evaluate((left) => localStorage.getItem(`siaga desk selatan 2 ${left.id}`) === null, left));
  assert.equal(await stateOf(south[3]), null);
}, /status of 403/);
