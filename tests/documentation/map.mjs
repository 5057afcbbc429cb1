// Uses the live map as people do. Prints how long its parts take, and how many bytes.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { chromium } from "./chromium.mjs";

const [origin, base, key] = process.argv.slice(2);
// Other tests run beside this one.
const patience = Number(process.env.TEST_PATIENCE ?? 1);
const AREA = "1";
const put = (path, body, method = "PUT") =>
  fetch(`${base}${path}`, { method, headers: { "X-Api-Key": key, "Content-Type": "application/json" }, body: body && JSON.stringify(body) });
const set = async (state) => assert.equal((await put(`/floods/${AREA}`, { state })).status, 200);
const text = (page, selector) => page.$eval(selector, (element) => element.textContent);
const until = (page, test, ...values) => page.waitForFunction(test, { polling: 20, timeout: 60_000 * patience }, ...values);
const connected = (page) => until(page, () => document.getElementById("connection").textContent === "Live");
const total = (page, count) => until(page, (count) => document.getElementById("total").textContent === `${count}`, count);
const cardSays = (page, words) => until(page, (words) => document.getElementById("chosen").innerText.includes(words), words);
const noFaults = async (page) => {
  await page.evaluate(readFileSync("node_modules/axe-core/axe.min.js", "utf8"));
  const { violations } = await page.evaluate(() => axe.run());
  assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes[0].html]), []);
};
const fits = async (page) => assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing is wider than the screen");
const counted = async (page, pattern, act) => {
  const bytes = [];
  const note = async (response) => {
    if (response.url().includes(pattern)) bytes.push(response.headers()["content-length"] ?? (await response.buffer()).length);
  };
  page.on("response", note);
  await act();
  page.off("response", note);
  return bytes;
};

await chromium(async (page, browser) => {
  page.setDefaultTimeout(60_000 * patience);
  // Without a script there is the list: the deepest first, at most 50 rows, and a link to all.
  await page.setJavaScriptEnabled(false);
  await page.goto(`${origin}/map?lang=en`);
  const listed = Number(await text(page, "#total"));
  assert.equal((await page.$$("#list li")).length, Math.min(50, listed));
  assert.equal(await text(page, "#list h3"), "More than 150 cm");
  assert.ok(!(await page.$eval("#map", (part) => part.checkVisibility())));
  await page.goto(`${origin}/map?lang=en&list=all`);
  assert.equal((await page.$$("#list li")).length, listed);
  await page.setJavaScriptEnabled(true);

  // With it there is the map, at each width, light and dark, in both languages, and with text twice as large.
  for (const [width, scheme, lang] of [[360, "light", "en"], [768, "dark", "id"], [1440, "light", "en"], [360, "dark", "id"]]) {
    await page.setViewport({ width, height: 800 });
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    await page.goto(`${origin}/map?lang=${lang}`);
    await until(page, () => document.querySelectorAll("#reports li").length && document.querySelectorAll("#gauges li").length);
    await fits(page);
    await noFaults(page);
    await page.evaluate(() => (document.documentElement.style.fontSize = "200%"));
    await fits(page);
  }
  await page.setViewport({ width: 1440, height: 900 });
  await page.goto(`${origin}/map?lang=en`);
  await connected(page);

  // A change is shown at once, whether the area was flooded before or not, and the keyboard's focus stays where it is.
  await page.focus("#list li a");
  const focused = await page.evaluate(() => document.activeElement.closest("li").id);
  for (const [state, words] of [[4, "More than 150 cm"], [2, "10–70 cm"]]) {
    const begun = Date.now();
    await set(state);
    // Both are shorter than the time between two polls.
    await until(page, (words) => document.getElementById("announced").textContent.endsWith(words), words);
    console.log(`change ${Date.now() - begun} ms`);
  }
  await total(page, listed + 1);
  assert.equal(await page.evaluate(() => document.activeElement.closest("li")?.id), focused);

  // The search finds an area by its name, by keyboard. The address names it, and the link to the other language keeps it.
  const { result } = await (await fetch(`${base}/areas/${AREA}`)).json();
  const { area_name, parent_name } = result.objects.output.geometries[0].properties;
  await page.focus("#query");
  await page.keyboard.type(`${area_name.replace(/ 0/, " ")} ${parent_name.toLowerCase()}`);
  await page.waitForSelector("#found li[id]");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await cardSays(page, "10–70 cm");
  assert.equal(new URL(page.url()).searchParams.get("area"), AREA);
  assert.match(await page.$eval("a[hreflang], a.language", (link) => link.href), new RegExp(`area=${AREA}\\b`));

  // What is said about it follows its state, also when the flood is over.
  await set(3);
  await cardSays(page, "71–150 cm");
  assert.equal((await put(`/floods/${AREA}`, undefined, "DELETE")).status, 200);
  await cardSays(page, "No flood recorded");
  await set(2);
  await total(page, listed + 1);

  // A tap on dry ground says that nothing is recorded there, one outside that the place is not covered.
  await page.click("#chosen .close");
  await page.focus("#map");
  await page.keyboard.press("Enter");
  await until(page, () => !document.getElementById("chosen").hidden || !document.getElementById("said").hidden);
  for (let step = 0; step < 4; step++) await page.keyboard.press("-");
  for (let step = 0; step < 14; step++) await page.keyboard.press("ArrowUp");
  const uncovered = async () => {
    await page.keyboard.press("Enter");
    const says = () => document.getElementById("said").textContent.includes("not covered");
    return page.waitForFunction(says, { timeout: 3_000 }).then(() => true, () => false);
  };
  for (const end = Date.now() + 60_000 * patience; !(await uncovered()); ) assert.ok(Date.now() < end, "north of the city nothing is covered");

  // Gauges and reports are opened by keyboard.
  await page.focus("#gauges button");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#chosen svg polyline");

  // An hour of the past is another look of the page; the way back is a button, and nothing that arrives late changes that.
  await page.focus("#hours");
  const hour = await counted(page, "/archive?", async () => {
    await Promise.all([page.waitForResponse((response) => response.url().includes("/floods/archive")), page.keyboard.press("ArrowLeft")]);
    await until(page, () => document.body.classList.contains("in-past"));
  });
  const hourBytes = hour.reduce((sum, bytes) => sum + Number(bytes), 0);
  console.log(`an hour of the past: ${hourBytes} bytes`);
  assert.ok(hourBytes > 0 && hourBytes <= 10_000);
  assert.match(await text(page, "#past"), /\d\d:00–\d\d:\d\d WIB/);
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("End");
  await until(page, () => !document.body.classList.contains("in-past"));
  await total(page, listed + 1);

  // A shared address opens the area.
  await page.goto(`${origin}/map?lang=en&area=${AREA}`);
  await cardSays(page, "10–70 cm");

  // Without a connection the page says since when, and recovers.
  const other = await browser.newPage();
  await other.goto(`${origin}/map?lang=en`);
  await connected(other);
  await other.setOfflineMode(true);
  await until(other, () => document.getElementById("connection").textContent.includes("Not connected since"));
  assert.ok(await other.evaluate(() => document.body.classList.contains("old")));
  await set(3);
  await other.setOfflineMode(false);
  await connected(other);
  await until(other, () => [...document.querySelectorAll("#count-3")].length === 1);
  await other.close();

  // Without a network the page opens again, with the last data and its time.
  const kept = await browser.newPage();
  await kept.goto(`${origin}/map?lang=en`);
  await connected(kept);
  const isKept = async () => (await (await caches.open("map")).keys()).filter(({ url }) => /\/map\?|\/floods\?/.test(url)).length >= 2;
  await kept.waitForFunction(isKept, { polling: 200 });
  const worker = await browser.waitForTarget((target) => target.type() === "service_worker");
  const offline = { offline: true, latency: 0, downloadThroughput: 0, uploadThroughput: 0 };
  await (await worker.createCDPSession()).send("Network.emulateNetworkConditions", offline);
  await kept.setOfflineMode(true);
  await kept.reload();
  await until(kept, () => document.getElementById("connection").textContent.includes("Not connected since"));
  await until(kept, () => performance.getEntriesByName("floods drawn").length);
  assert.equal(Number(await text(kept, "#total")), listed + 1);
  // Nothing that is kept tells where a reader is.
  assert.deepEqual(await kept.evaluate(async () => (await (await caches.open("map")).keys()).map(({ url }) => url).filter((url) => url.includes("/areas/at"))), []);
  await kept.close();

  // A slow connection: 50 kB/s, 400 ms.
  const slow = await (await browser.createBrowserContext()).newPage();
  slow.setDefaultTimeout(60_000 * patience);
  await slow.emulateNetworkConditions({ download: 50_000, upload: 50_000, latency: 400 });
  const begun = Date.now();
  const loading = slow.goto(`${origin}/map?lang=en`);
  await slow.waitForSelector("#list li");
  const list = Date.now() - begun;
  await loading;
  await until(slow, () => performance.getEntriesByName("floods drawn").length);
  const whole = await slow.evaluate(() => Math.round(performance.getEntriesByName("floods drawn")[0].startTime));
  console.log(`slow: list ${list} ms, floods drawn ${whole} ms`);
  // Measured 0.7 s and 2 s on an idle machine.
  assert.ok(list <= 5_000 * patience && whole <= 10_000 * patience, `list ${list} ms, floods drawn ${whole} ms`);

  // What a visitor loads until the floods are drawn, once the service has compressed it better.
  const isFast = async () => {
    const response = await fetch(`${base}/floods?minimum_state=1`, { headers: { "Accept-Encoding": "gzip" } });
    return response.headers.get("ETag").includes("-fast");
  };
  for (const end = Date.now() + 30_000 * patience; (await isFast()) && Date.now() < end; ) await new Promise((resolve) => setTimeout(resolve, 100));
  const next = await (await browser.createBrowserContext()).newPage();
  await next.goto(`${origin}/map?lang=en`);
  await until(next, () => performance.getEntriesByName("floods drawn").length);
  const sizes = await next.evaluate(() => {
    // The page requests these once the floods are drawn.
    const isLater = (path) => /\/(live|points|search|past|connection)\.js$|\/(names|hazards)$/.test(path);
    const all = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")].filter(({ name }) => !isLater(new URL(name).pathname));
    const sum = (test) => all.filter(({ name }) => test(new URL(name).pathname)).reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0);
    return { page: sum((path) => path.startsWith("/map")), floods: sum((path) => path.endsWith("/floods")) };
  });
  console.log(`bytes until the floods are drawn: page, scripts and styles ${sizes.page}, floods ${sizes.floods}`);
  assert.ok(sizes.page > 10_000 && sizes.page <= 32_000 && sizes.page + sizes.floods <= 65_000, JSON.stringify(sizes));

  // A CPU that is six times slower: how long the page is blocked while it loads.
  const weak = await (await browser.createBrowserContext()).newPage();
  weak.setDefaultTimeout(60_000 * patience);
  await weak.setViewport({ width: 360, height: 800 });
  await weak.emulateCPUThrottling(6);
  await weak.evaluateOnNewDocument(() => {
    window.blocked = 0;
    new PerformanceObserver((list) => list.getEntries().forEach(({ duration }) => (window.blocked += duration - 50))).observe({ type: "longtask", buffered: true });
  });
  await weak.goto(`${origin}/map?lang=en`);
  await connected(weak);
  await until(weak, () => performance.getEntriesByName("floods drawn").length);
  const blocked = await weak.evaluate(() => Math.round(window.blocked));
  // What the same CPU takes for a known piece of work: other tests use it, too.
  const known = await weak.evaluate(() => {
    const begun = performance.now();
    for (let at = 0, sum = 0; at < 3e7; at++) sum += Math.sqrt(at);
    return Math.round(performance.now() - begun);
  });
  // A change of an area.
  await weak.evaluate(() => (window.blocked = 0));
  await set(4);
  await until(weak, () => document.getElementById("announced").textContent.endsWith("More than 150 cm"));
  const changed = await weak.evaluate(() => Math.round(window.blocked));
  // A finger that moves the map for a second.
  await weak.evaluate(() => {
    window.drawn = [];
    let last = performance.now();
    const next = (now) => (window.drawn.push(now - last), (last = now), requestAnimationFrame(next));
    requestAnimationFrame(next);
  });
  await weak.mouse.move(120, 300);
  await weak.mouse.down();
  for (let step = 1; step <= 40; step++) await weak.mouse.move(120 + step * 3, 300 + step * 2);
  await weak.mouse.up();
  const frames = await weak.evaluate(() => [...window.drawn].sort((one, other) => one - other));
  const slowest = Math.round(frames[Math.floor(frames.length * 0.95)]);
  console.log(`slow CPU: blocked ${blocked} ms while it loads, ${changed} ms by a change; 95 of 100 frames of a move within ${slowest} ms; known work ${known} ms`);
  assert.ok(blocked <= 12 * known * patience && changed <= 3 * known * patience && slowest <= known * patience);
  // A place outside all areas is a 404, which browsers log; so they do without a network.
}, /404|ERR_INTERNET_DISCONNECTED|Failed to fetch/);
