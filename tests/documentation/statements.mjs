// Statements of the live map: its rules for each row of the table, and in Chromium for thirty of them, with a
// fake clock and fake responses.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { api, chromium, origin, patience } from "./chromium.mjs";
import { areaSays, connectionSays, pageSays, titleSays } from "./statements.js";

const rows = JSON.parse(readFileSync("table.json", "utf8"));
const MINUTE = 60_000;
const limits = { shownFor: 60 * MINUTE, overFor: 360 * MINUTE, confirmedFor: 1_440 * MINUTE };
const NOW = Date.UTC(2026, 5, 1, 5);
const ago = (minutes) => (minutes === undefined ? undefined : NOW - minutes * MINUTE);
// Age of the data, or of the lost connection.
const LASTS = { stale: 10, lost: 10, old: 61, lostLong: 61 };
const FLOODS = { old: "stale", lostLong: "lost", opening: "now" };

// The rules without a browser.
for (const { name, when, page, area, title, connection } of rows) {
  const { floods = "now", watch = "heard", areas = true, part = false, flooded = 0, newest, areaOf } = when;
  const known = FLOODS[floods] ?? floods;
  const situation = { floods: known, since: ago(LASTS[floods]), now: NOW, watch, hasAreas: areas, isPart: part, flooded, newest: newest && ago(30) };
  if (page) assert.deepEqual(pageSays(situation, limits), page, name);
  if (area) {
    const { state, since, confirmed, over, reports } = areaOf;
    const about = { state, flooded_since: ago(since), confirmed: ago(confirmed), over_since: ago(over), reports: reports ?? undefined };
    const says = areaSays(situation, limits, about);
    assert.deepEqual(says, area, name);
    if (title) assert.equal(titleSays(says), title, name);
  }
  if (connection !== undefined && floods !== "hour") assert.equal(connectionSays(known, floods !== "opening"), connection ?? undefined, name);
}
console.log(`${rows.length} rows by the rules of the script`);

const AREA = "5";
const decode = (text) => text.replaceAll("&quot;", '"').replaceAll("&#x27;", "'").replaceAll("&#x2f;", "/").replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
const encode = (text) => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
const html = await (await fetch(`${origin}/map?lang=en`)).text();
const settings = JSON.parse(decode(html.match(/data-settings="([^"]*)"/)[1]));
const outlines = await api("GET", "/areas?ids=5,6,7,8");
const iso = (minutes) => (minutes === undefined || minutes === null ? null : new Date(ago(minutes)).toISOString());
const points = (geometries) => ({ statusCode: 200, result: { type: "Topology", objects: { output: { type: "GeometryCollection", geometries } }, arcs: [], transform: { scale: [1e-6, 1e-6], translate: [0, 0] }, bbox: [106, -7, 107, -6] } });

// The clock runs, so no case is at a limit.
const chosen = rows.filter(({ name, area, when }) => area && when.areaOf && !name.endsWith("to the minute"));
let count = 0;
await chromium(async (first, browser) => {
  await first.goto(`${origin}/map?lang=en`);
  for (const { name, when, page: ofPage, area, connection } of chosen) {
    const { floods = "now", watch = "heard", part = false, flooded = 0, newest, areaOf } = when;
    const isLost = floods.startsWith("lost");
    const context = await browser.createBrowserContext();
    const page = await context.newPage();
    await page.setBypassServiceWorker(true);
    // The page is opened before its connection is lost.
    const opened = isLost ? LASTS[floods] : 0;
    await page.evaluateOnNewDocument((at) => {
      const Real = Date;
      window.offset = at - Real.now();
      window.Date = class extends Real {
        constructor(...values) {
          values.length ? super(...values) : super(Real.now() + window.offset);
        }
        static now = () => Real.now() + window.offset;
      };
    }, NOW - opened * MINUTE);
    const source = { name: "post", covers: ["floods"], status: ["silent", "never"].includes(watch) ? "silent" : "ok", last_heard: watch === "never" ? null : iso(25), expected_by: null };
    const own = {
      ...settings, known: floods !== "unread", stale: ["stale", "old"].includes(floods) ? iso(LASTS[floods]) : null, watch, silent: source.status === "silent" ? source : null,
      hasAreas: true, city: part ? "jbd" : null, cursor: null, newest: newest ? iso(30) : null, over: areaOf.over === undefined ? {} : { [AREA]: iso(areaOf.over) }, reported: null, check: 200,
    };
    const states = [["5", areaOf.state], ["6", 2], ["7", 2]].filter(([id, state]) => state && (id === "5" || flooded > 1)).slice(0, Math.max(flooded, areaOf.state ? 1 : 0));
    const flood = Object.fromEntries(states.map(([id, state]) => [id, { state, last_updated: iso(areaOf.since ?? 90), flooded_since: iso(areaOf.since ?? 90), confirmed: iso(areaOf.confirmed ?? 90) }]));
    const { result } = structuredClone(outlines);
    result.objects.output.geometries = result.objects.output.geometries.filter(({ properties }) => flood[properties.area_id]).map((of) => ({ ...of, properties: { ...of.properties, ...flood[of.properties.area_id] } }));
    const reports = Array.from({ length: areaOf.reports ?? 0 }, (_, index) => ({
      type: "Point", coordinates: [106_800_000, -6_200_000],
      properties: { pkey: `${index}`, created_at: iso(1), source: "grasp", status: "confirmed", url: null, image_url: null, disaster_type: "flood", report_data: { report_type: "flood", flood_depth: 40 }, tags: { local_area_id: AREA, instance_region_code: "ID-JK" }, title: "", text: "" },
    }));
    let isCut = false;
    const json = (body) => ({ contentType: "application/json", body: JSON.stringify(body) });
    await page.setRequestInterception(true);
    page.on("request", (request) => {
      const { pathname } = new URL(request.url());
      if (isCut) return request.abort("internetdisconnected");
      const path = pathname.replace(/^\/v1/, "");
      if (pathname === "/map") return request.respond({ contentType: "text/html; charset=utf-8", body: html.replace(/data-settings="[^"]*"/, () => `data-settings="${encode(JSON.stringify(own))}"`) });
      if (path === "/floods") return floods === "unread" ? request.respond({ status: 503, body: "" }) : request.respond(json({ statusCode: 200, result }));
      if (path === "/sources") return floods === "opening" ? undefined : request.respond(json({ statusCode: 200, result: watch === "none" ? [] : [source] }));
      if (path === "/changes/stream") return floods === "opening" ? undefined : request.respond({ contentType: "text/event-stream", body: ": is open\n\n" });
      // Trends have their own tests; here the log is too young for one.
      if (pathname === "/map/trend") return request.respond(json({ at: iso(60), until: iso(0), logged: false, then: {}, since: {}, corrected: [] }));
      if (path === "/floods/archive") return request.respond(json({ statusCode: 200, result: states.map(([area_id, state]) => ({ area_id, last_updated: iso(90), max_state: state })) }));
      if (path === "/reports/archive") return request.respond(json(points([])));
      if (path === "/reports") return areaOf.reports === null ? request.respond({ status: 503, body: "" }) : request.respond(json(points(reports)));
      return request.continue();
    });
    await page.goto(`${origin}/map?lang=en&area=${AREA}`);
    const said = () => page.evaluate(() => {
      const keys = (selector) => [...document.querySelectorAll(`${selector} [data-says], ${selector}[data-says]`)].filter((of) => of.checkVisibility() && of.id !== "connection").map((of) => of.dataset.says);
      return { page: keys("#summary"), area: keys("#chosen"), connection: document.getElementById("connection").dataset.says ?? null };
    });
    const expected = { page: ofPage, area, connection };
    const becomes = async (expected) => {
      let found;
      for (const end = Date.now() + 30_000 * patience; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 50))) {
        found = await said().catch(() => undefined);
        if (found && Object.entries(expected).every(([part, keys]) => keys === undefined || JSON.stringify(found[part]) === JSON.stringify(keys))) return;
      }
      assert.deepEqual(found, expected, name);
    };
    if (isLost) {
      await becomes({ connection: "connected" });
      // The reports come last.
      await page.waitForFunction(() => !document.querySelector("[data-says=reportsUnknown]"), { polling: 50, timeout: 30_000 * patience });
      isCut = true;
      await page.setOfflineMode(true);
      await becomes({ connection: "offline" });
      await page.evaluate((milliseconds) => (window.offset += milliseconds), opened * MINUTE);
    }
    if (floods === "hour") {
      await becomes({ connection: "connected" });
      await page.focus("#hours");
      await page.keyboard.press("ArrowLeft");
    }
    await becomes(expected);
    // The list of floods that are over says no more than an area without reports.
    if (areaOf.over !== undefined && !areaOf.reports) assert.equal(await page.$eval("#over", (of) => of.checkVisibility()), area.includes("over"), name);
    count++;
    await context.close();
  }
}, /503|ERR_INTERNET_DISCONNECTED|Failed to fetch|404/);
assert.ok(count >= 30, `${count}`);
console.log(`${count} situations in Chromium`);
