// Reports that cannot be sent at once: responses of portals and proxies, expired links, corrections, earlier page versions, clocks.
import assert from "node:assert/strict";
import { api, chromium, origin, reportsOf, until } from "./chromium.mjs";

const HOUR = 3_600_000;
const card = async () => (await api("POST", "/cards", { username: "Ani", network: "telegram", language: "en" })).cardId;

/// Opens a form. `fault`, if given, is applied to each sent report.
async function opened(page, path = "/report") {
  const test = { fault: null, answer: true, asked: [] };
  await page.setRequestInterception(true);
  page.on("request", (request) => (request.method() === "POST" && test.fault ? test.fault(request) : request.continue()));
  page.on("dialog", (dialog) => {
    test.asked.push(dialog.message());
    return test.answer ? dialog.accept() : dialog.dismiss();
  });
  await page.goto(`${origin}${path}?lang=en`);
  return test;
}
const respond = (status, body, headers = {}) => (request) => request.respond({ status, body, headers, contentType: headers.type ?? "text/html" });
const fill = (page, text, { depth = "40", photo } = {}) =>
  page.evaluate(async (text, depth, photo) => {
    document.querySelector('[value="flood"]').click();
    for (const [name, value] of Object.entries({ "flood.flood_depth": depth, lat: "-6.2", lng: "106.82", text })) document.querySelector(`form [name="${name}"]`).value = value;
    if (photo) {
      const canvas = Object.assign(document.createElement("canvas"), { width: 80, height: 60 });
      const files = new DataTransfer();
      canvas.getContext("2d").fillRect(0, 0, 40, 40);
      files.items.add(new File([await new Promise((done) => canvas.toBlob(done, "image/jpeg"))], "photo.jpg"));
      document.getElementById("photo").files = files.files;
      document.getElementById("photo").dispatchEvent(new Event("change"));
    }
  }, text, depth, photo);
const press = (page) => page.evaluate(() => document.querySelector("form").requestSubmit());
const says = (page, words) => page.waitForFunction((words) => document.getElementById("kept").innerText.includes(words) && !document.getElementById("send").disabled, {}, words);
const pressIn = (page, name) => page.evaluate((name) => [...document.querySelectorAll("#kept button")].find((button) => button.textContent === name).click(), name);
/// Opens the page's stored reports; adds one if given. Returns all of them.
const kept = (page, entry) =>
  page.evaluate((entry) => new Promise((done) => {
    const opening = indexedDB.open("siaga-reports", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("waiting", { keyPath: "key" });
    opening.onsuccess = () => {
      const reports = opening.result.transaction("waiting", "readwrite").objectStore("waiting");
      if (entry) reports.put(entry);
      reports.getAll().onsuccess = ({ target }) => { opening.result.close(); done(target.result); };
    };
  }), entry);
const again = (page) => page.evaluate(() => dispatchEvent(new Event("online"))).catch(() => {});
const expected = /status of|ERR_FAILED|ERR_ABORTED/;

// Only the service confirms a report; each press of the button is its own report, stored once.
await chromium(async (page) => {
  const test = await opened(page);
  const portal = "<html><title>Log in</title>Hotel</html>";
  const faults = [
    respond(200, portal),
    respond(200, '{"ok":true}', { type: "application/json" }),
    respond(204, ""),
    respond(302, "", { Location: `${origin}/` }),
    respond(400, portal),
    respond(400, '{"statusCode":400,"message":"no"}', { type: "application/json" }),
    respond(403, portal),
    respond(404, portal),
    respond(413, portal),
    respond(511, portal),
    respond(502, portal),
    (request) => request.abort(),
  ];
  for (const [index, fault] of faults.entries()) {
    test.fault = fault;
    await fill(page, `kept ${index}`, { photo: index === 0 });
    await press(page);
    await says(page, "Not sent yet: the report is kept on this phone.");
    assert.equal((await kept(page)).length, index + 1);
    assert.equal(page.url(), `${origin}/report?lang=en`);
    assert.equal(await page.$eval("#text", (input) => input.value), "", "the form is empty for another report");
  }
  await says(page, `Reports that wait on this phone: ${faults.length}.`);
  test.fault = null;
  await again(page);
  await until("the page says thank you", () => page.url().includes("/thanks?lang=en&token="));
  for (const [index] of faults.entries()) assert.equal((await reportsOf(`kept ${index}`)).length, 1, `${index}`);
  await until("the photo is shown", async () => (await reportsOf("kept 0"))[0].image_url);
  await page.goto(`${origin}/report?lang=en`);
  assert.deepEqual(await kept(page), []);

  // A report's fault is shown once the service is reachable; the report is corrected or discarded, not deleted.
  test.fault = respond(502, portal);
  for (const words of ["too deep", "no flood"]) {
    await fill(page, words, { depth: "99999", photo: true });
    await press(page);
    await says(page, "kept on this phone");
  }
  test.fault = null;
  await page.reload();
  await page.waitForSelector('[id="fault-flood.flood_depth"]', { visible: true });
  await says(page, "This report has not been sent. Correct what is marked below");
  await says(page, "no flood");
  assert.equal(await page.$eval("#text", (input) => input.value), "too deep");
  assert.equal((await kept(page)).length, 2);
  await page.evaluate(() => { document.querySelector('[name="flood.flood_depth"]').value = "90"; });
  await Promise.all([page.waitForNavigation(), press(page)]);
  assert.equal((await reportsOf("too deep"))[0].report_data.flood_depth, 90);
  await until("its photo is shown", async () => (await reportsOf("too deep"))[0].image_url);
  await page.goto(`${origin}/report?lang=en`);
  await says(page, "This report has not been sent. Correct what is marked below");
  assert.equal(await page.$eval("#text", (input) => input.value), "no flood");
  test.answer = false;
  await pressIn(page, "Discard");
  assert.equal((await kept(page)).length, 1);
  test.answer = true;
  await pressIn(page, "Discard");
  await until("it is discarded", async () => (await kept(page)).length === 0);
  assert.deepEqual(test.asked, Array(2).fill("Discard this report? It has not been sent."));
  assert.equal(await page.$eval("#text", (input) => input.value), "");

  // A fault found at once is shown at once.
  await fill(page, "at once", { depth: "" });
  await press(page);
  await page.waitForSelector('[id="fault-flood.flood_depth"]', { visible: true });
  await page.evaluate(() => { document.querySelector('[name="flood.flood_depth"]').value = "20"; });
  await Promise.all([page.waitForNavigation(), press(page)]);
  assert.equal((await reportsOf("at once")).length, 1);
}, expected);

// Reports stored by an earlier page version, to be deleted after a day; the page asks after a week.
await chromium(async (page) => {
  await opened(page);
  const entry = (number, days) => {
    const created = Date.now() - days * 24 * HOUR;
    const token = `${number}`.repeat(32);
    const fields = Object.entries({ token, disaster: "flood", "flood.flood_depth": "50", lat: "-6.2", lng: "106.82", text: `old ${number}` });
    return { key: token, address: `${origin}/report?lang=en`, fields, photo: null, created, until: created + 24 * HOUR };
  };
  await kept(page, entry(1, 2));
  await kept(page, entry(2, 8));
  await page.reload();
  await says(page, "A report that was kept on this phone has been sent.");
  const [sent] = await reportsOf("old 1");
  assert.ok(Math.abs(Date.now() - 48 * HOUR - Date.parse(sent.created_at)) < 60_000, sent.created_at);
  await says(page, "This report has waited on this phone for more than a week: Flood, ");
  assert.deepEqual((await kept(page)).map(({ key }) => key), ["2".repeat(32)]);
  await pressIn(page, "Send");
  await until("it is sent", async () => (await kept(page)).length === 0);
}, expected);

// The time of a report is the first press of the button, however long the page was open.
await chromium(async (page) => {
  const test = await opened(page);
  await page.evaluate(() => {
    const now = Date.now;
    window.ahead = 0;
    Date.now = () => now() + window.ahead;
    const Real = Date;
    window.Date = class extends Real { constructor(...of) { of.length ? super(...of) : super(Real.now()); } };
  });
  const later = (milliseconds) => page.evaluate((milliseconds) => { window.ahead += milliseconds; }, milliseconds);
  await later(90 * 60_000);
  await fill(page, "opened early");
  test.fault = respond(502, "");
  await press(page);
  await says(page, "kept on this phone");
  await later(30 * 60_000);
  test.fault = null;
  await again(page);
  await until("it is sent", async () => (await reportsOf("opened early")).length === 1);
  const [{ created_at }] = await reportsOf("opened early");
  assert.ok(Math.abs(Date.now() - 30 * 60_000 - Date.parse(created_at)) < 60_000, created_at);
}, expected);

// A link takes one report: a second one replaces the first, if the person says so, or is sent without the link if that had arrived.
await chromium(async (page) => {
  const links = [await card(), await card(), await card()];
  const test = await opened(page, `/report/${links[0]}`);
  test.fault = respond(502, "");
  const twice = async (first, second) => {
    for (const words of [first, second]) {
      await fill(page, words, { photo: true });
      await press(page);
      await says(page, "Reports that wait on this phone: 1.");
    }
  };
  test.answer = false;
  await twice("house A", "house B");
  assert.deepEqual(test.asked, ["A report by this link waits on this phone. Replace it by this one?"]);
  const text = async () => (await kept(page))[0].fields.find(([name]) => name === "text")[1];
  assert.equal(await text(), "house A");
  test.answer = true;
  await press(page);
  await until("it is replaced", async () => (await text()) === "house B");
  await says(page, "kept on this phone");
  test.fault = null;
  await again(page);
  await until("the page says thank you", () => page.url().includes("/thanks"));
  assert.deepEqual([(await reportsOf("house A")).length, (await reportsOf("house B")).length], [0, 1]);

  // The first one is stored, and its response is lost.
  await page.goto(`${origin}/report/${links[1]}?lang=en`);
  await page.evaluate(() => {
    const real = window.fetch;
    window.fetch = async (...request) => {
      const response = await real(...request);
      if (request[1]?.method === "POST" && window.isLost) throw new TypeError("lost");
      return response;
    };
    window.isLost = true;
  });
  await twice("knee", "waist");
  await page.evaluate(() => { window.isLost = false; });
  await again(page);
  await says(page, "An earlier version of this report had already arrived: Flood, ");
  await pressIn(page, "Send without the link");
  await until("both are there", async () => (await reportsOf("knee")).length === 1 && (await reportsOf("waist")).length === 1);

  // The link expires while the report waits.
  await page.goto(`${origin}/report/${links[2]}?lang=en`);
  test.fault = (request) => request.continue({ url: request.url().replace(links[2], "abcdefgh-1234") });
  await fill(page, "too late", { photo: true });
  await press(page);
  await says(page, "The link has expired through which this report was to be sent: Flood, ");
  test.fault = null;
  await pressIn(page, "Send without the link");
  await until("it is there", async () => (await reportsOf("too late")).length === 1);
  await until("with its photo", async () => (await reportsOf("too late"))[0].image_url);
  await until("nothing is left", async () => (await kept(page)).length === 0);
}, expected);

// A phone without storage shows it. The page counts characters like the service.
await chromium(async (page) => {
  const test = await opened(page);
  const longest = `${"a".repeat(24)}\n`.repeat(20);
  await page.$eval("#text", (input, text) => { input.value = text; input.dispatchEvent(new Event("input")); }, `${"😀".repeat(500)}more`);
  assert.equal(await page.$eval("#count", (count) => count.textContent), "0 characters left");
  await fill(page, longest);
  await page.evaluate(() => { IDBFactory.prototype.open = () => { throw new Error("private"); }; });
  test.fault = respond(200, "<html>");
  await press(page);
  await page.waitForFunction(() => document.getElementById("sending").textContent.includes("this phone cannot keep the report"));
  assert.equal(await page.$eval("#text", (input) => input.value), longest);
  test.fault = null;
  await Promise.all([page.waitForNavigation(), press(page)]);
  assert.equal((await reportsOf(longest.trim())).length, 1);
}, expected);
