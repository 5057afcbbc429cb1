// The map while something else responds for the service, or nothing does.
import assert from "node:assert/strict";
import { api, chromium, origin, patience, sees, total } from "./chromium.mjs";
import { foreign, standIn } from "./stand_in.mjs";

const put = (path, body, method = "PUT") => api(method, path, body);
const flooded = async () => (await api("GET", "/floods/states")).result.length;
const says = (page, words) => sees(page, (words) => document.getElementById("connection")?.textContent.includes(words), words);
const kept = (page) => page.evaluate(async () => {
  const cache = await caches.open("map");
  const all = await Promise.all((await cache.keys()).map(async (request) => [request.url, await (await cache.match(request, { ignoreVary: true })).text()]));
  return Object.fromEntries(all.map(([url, text]) => [url.slice(location.origin.length), text]));
});
const stand = await standIn(origin);
const MAP = `${stand.origin}/map?lang=en`;
const [AREA, OTHER] = ["1", "3"];

await chromium(async (page) => {
  page.setDefaultTimeout(30_000 * patience);
  for (const id of [AREA, OTHER]) await put(`/floods/${id}`, undefined, "DELETE");
  const before = await flooded();

  // During the first load a captive portal responds to one request. Its response is not cached.
  stand.answer = (path, response) => path.startsWith("/v1/floodgauges") && foreign.portal(path, response);
  await page.goto(MAP);
  await says(page, "Connected");
  const isKept = async () => (await (await caches.open("map")).keys()).filter(({ url }) => /\/map\?|\/floods\?/.test(url)).length >= 2;
  await page.waitForFunction(isKept, { polling: 200 });
  assert.ok(!Object.keys(await kept(page)).some((path) => path.startsWith("/v1/floodgauges")));
  stand.answer = () => false;
  await page.goto(MAP);
  await says(page, "Connected");
  await sees(page, () => document.querySelectorAll("#gauges li button").length);
  assert.ok(!Object.keys(await kept(page)).some((path) => path.includes("/reports")), "a hidden report would be shown again");
  const own = (await kept(page))["/map?lang=en"];

  // With foreign responses the cached page opens, with its time and data, faded and not marked as live.
  const shown = { "502": foreign.gateway(502), "503": foreign.gateway(503), "429": foreign.gateway(429), "login page": foreign.portal, redirect: foreign.redirect, cut: foreign.cut };
  for (const [name, answer] of Object.entries(shown)) {
    stand.answer = answer;
    const begun = Date.now();
    await page.goto(MAP);
    await says(page, "No connection since");
    console.log(`${name}: ${Date.now() - begun} ms`);
    await total(page, before);
    await sees(page, () => performance.getEntriesByName("floods drawn").length);
    assert.ok(await page.evaluate(() => document.body.classList.contains("old") && Date.parse(document.body.dataset.kept) > 0), name);
    assert.equal((await kept(page))["/map?lang=en"], own, `${name}: it is still the service's page`);
  }

  // The page retries by itself.
  await put(`/floods/${AREA}`, { state: 4 });
  stand.answer = () => false;
  await says(page, "Connected");
  await total(page, before + 1);
  assert.ok(!(await page.evaluate(() => document.body.classList.contains("old"))));

  // A silent server costs five seconds in total, not per request.
  await page.goto(MAP);
  await says(page, "Connected");
  const resume = stand.pause();
  const begun = Date.now();
  await page.goto(MAP);
  await says(page, "No connection since");
  await total(page, before + 1);
  await sees(page, () => performance.getEntriesByName("floods drawn").length);
  const silence = Date.now() - begun;
  console.log(`silence: ${silence} ms`);
  assert.ok(silence >= 4_900 && silence <= 9_000 * patience, `${silence} ms`);
  resume();
  await says(page, "Connected");
  await page.waitForSelector("#newer");

  // A late page is cached and offered to the reader. The next visit shows it.
  stand.wait = (path) => (path.startsWith("/map?") ? 5_000 + 1_500 * patience : 0);
  await page.goto(MAP);
  assert.ok(await page.evaluate(() => document.body.dataset.kept));
  await page.waitForSelector("#newer button");
  stand.wait = () => 0;
  await Promise.all([page.waitForNavigation(), page.click("#newer button")]);
  assert.equal(await page.evaluate(() => document.body.dataset.kept), undefined);
  await says(page, "Connected");

  // Late floods are shown on the open page, also without a stream.
  await put(`/floods/${OTHER}`, { state: 4 });
  const isFollowing = (path) => path.startsWith("/v1/changes/stream") || path.startsWith("/v1/floods/states");
  stand.answer = (path, response) => isFollowing(path) && foreign.gateway(502)(path, response);
  stand.wait = (path) => (path.startsWith("/v1/floods?") ? 6_500 : 0);
  await page.goto(MAP);
  await says(page, "Not current since");
  await total(page, before + 1);
  await total(page, before + 2);
  await says(page, "Connected");
  stand.wait = () => 0;

  // Cached floods are older than the page: changes in between are not missed.
  await put(`/floods/${OTHER}`, undefined, "DELETE");
  stand.answer = (path, response) => path.startsWith("/v1/floods?") && foreign.gateway(502)(path, response);
  await page.goto(MAP);
  await total(page, before + 1);
  await says(page, "Connected");
  assert.equal(Number(await page.$eval("#total", (of) => of.textContent)), before + 1);
  stand.answer = () => false;

  // `no-store` responses are not cached, and nothing older than an hour is shown.
  stand.answer = (path, response) => {
    if (!path.startsWith("/map/private")) return false;
    response.writeHead(200, { "Cache-Control": "no-store", "Siaga-Version": "1" }).end("private");
    return true;
  };
  assert.equal(await page.evaluate(async () => (await fetch("/map/private")).text()), "private");
  await page.evaluate(async () => (await fetch("/map/map.js")).text());
  assert.equal((await kept(page))["/map/private"], undefined);
  await page.evaluate(async () => {
    const cache = await caches.open("map");
    for (const request of await cache.keys()) {
      const response = await cache.match(request, { ignoreVary: true });
      const headers = new Headers(response.headers);
      headers.set("Siaga-Kept", new Date(Date.now() - 3_700_000).toISOString());
      await cache.put(request, new Response(await response.blob(), { headers }));
    }
  });
  stand.answer = foreign.gateway(502);
  await page.goto(MAP);
  assert.match(await page.$eval("body", (body) => body.textContent), /Bad Gateway/);
}, /status of (404|429|502|503)|Failed to (fetch|load)|ERR_|EventSource's response|Unexpected token|is not valid JSON/).finally(() => stand.close());
