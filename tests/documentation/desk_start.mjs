// A desk without JavaScript, or whose script does not start, shows it and links to the situation report.
import assert from "node:assert/strict";
import { chromium, key, noFaults, origin, slow, text } from "./chromium.mjs";
import { logIn } from "./officer.mjs";

const DELAY = 5_000; // So long the page gives its script.

const isSaid = () => document.getElementById("not-started")?.checkVisibility({ visibilityProperty: true });
/** Waits until the page says that the desk has not started. Returns when, in milliseconds after the request. */
const said = async (page) => (await page.waitForFunction(`(${isSaid})() && performance.now()`, slow)).jsonValue();
/** Looks at the page on each screen. */
const looksWell = async (page) => {
  for (const [width, height] of [[360, 740], [1440, 900]]) {
    await page.setViewport({ width, height });
    for (const value of ["light", "dark"]) {
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value }]);
      assert.ok(await page.evaluate(isSaid));
      const isShown = (selector) => page.$eval(selector, (of) => of.checkVisibility({ visibilityProperty: true }));
      assert.ok(!(await isShown("#desk")) && !(await isShown("#status")), "no half of a desk, and no word of a connection");
      await noFaults(page);
    }
  }
};
const follow = (page, link) => Promise.all([page.waitForNavigation(), page.click(link)]);

// Without JavaScript officers log in, read the situation and log out.
await chromium(async (page) => {
  await page.setJavaScriptEnabled(false);
  await page.goto(`${origin}/desk?lang=id`);
  await page.type("[name=name]", "Sari");
  await page.type("[name=key]", key);
  await follow(page, ".login .button");
  await page.goto(`${origin}/desk?lang=id`);
  assert.match(await text(page, "#not-started"), /^Meja petugas belum dapat dipakai\..*JavaScript/);
  await page.setJavaScriptEnabled(true); // The page stays as it was loaded, but axe can wait.
  await looksWell(page);
  await page.setJavaScriptEnabled(false);
  await follow(page, "#not-started a");
  assert.equal(await text(page, "h1"), "Laporan situasi");
  await follow(page, "main a[href='/desk']");
  await follow(page, "#log-out button");
  assert.ok(await page.$("[name=key]"));
});

const faults = [
  (request) => request.abort(),
  (request) => request.respond({ status: 502, contentType: "text/html", body: "<html>" }),
  (request) => request.respond({ contentType: "text/html", body: "<html><title>Log in</title>Hotel</html>" }),
];
await chromium(async (page, browser) => {
  await logIn(page, "Sri");
  assert.equal(await page.$("#not-started"), null);

  await page.setRequestInterception(true);
  let fault = (request) => request.continue();
  page.on("request", (request) => (request.url().endsWith("/desk/desk.js") ? fault(request) : request.continue()));
  for (fault of faults) {
    await page.goto(`${origin}/desk?lang=en`);
    const after = await said(page);
    assert.ok(after >= DELAY, `${after} ms`);
    assert.match(await text(page, "#not-started"), /^The desk has not started\./);
    await looksWell(page);
    await follow(page, "#not-started a");
    assert.equal(await text(page, "h1"), "Situation report");
  }

  // A script that comes late starts the desk.
  let late;
  fault = (request) => (late = request);
  const opened = page.goto(`${origin}/desk?lang=en`);
  await said(page);
  await late.continue();
  await opened;
  await page.waitForFunction(() => performance.getEntriesByName("desk ready").length, slow);
  assert.equal(await page.$("#not-started"), null);
  assert.ok(await page.$eval("#desk", (desk) => desk.checkVisibility()));

  // A connection that brings no states: no area is called dry.
  const mute = await browser.newPage();
  await mute.setRequestInterception(true);
  mute.on("request", (request) => request.url().includes("/changes/stream") ? request.respond({ contentType: "text/event-stream", body: ": is open\n\n" }) : request.continue());
  await mute.goto(`${origin}/desk?lang=en`);
  await mute.$eval("#tab-all", (of) => of.click());
  await mute.waitForSelector(".row .state", slow);
  assert.deepEqual(await mute.$$eval(".row .state", (all) => [...new Set(all.map(({ textContent }) => textContent))]), ["–"]);
  assert.match(await text(mute, "#tab-flooded"), /–$/);
  await mute.close();

  // A browser that lacks something: the script ends with an exception.
  const old = await browser.newPage();
  const errors = [];
  old.on("pageerror", (error) => errors.push(`${error}`));
  await old.evaluateOnNewDocument(() => (window.BroadcastChannel = undefined));
  await old.goto(`${origin}/desk?lang=en`);
  await said(old);
  await looksWell(old);
  assert.match(`${errors}`, /BroadcastChannel is not a constructor/);
  await old.close();
}, /ERR_FAILED|status of 502|MIME type/);
