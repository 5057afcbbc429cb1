// The map in a hand: where the reader is, a long name in large text, and a phone that is turned.
import assert from "node:assert/strict";
import { api, chromium, noFaults, origin, patience, sees } from "./chromium.mjs";
import { logIn } from "./officer.mjs";

const said = (page, words) => sees(page, (words) => document.getElementById("said").textContent.includes(words), words);
const named = (page, name) => sees(page, (name) => !document.getElementById("chosen").hidden && document.querySelector("#chosen h2").textContent.includes(name), name);
const search = (page) => page.$eval("#query", ({ value }) => value);
/** How many pixels of the map have the colour of the reader's place. */
const marked = (page) => page.evaluate(() => new Promise((drawn) => setTimeout(() => {
  const canvas = document.querySelector("#map canvas");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let count = 0;
  for (let at = 0; at < data.length; at += 4) count += Math.abs(data[at] - 26) + Math.abs(data[at + 1] - 115) + Math.abs(data[at + 2] - 232) < 60;
  drawn(count);
}, 1_000)));
const { features } = (await api("GET", "/areas?geoformat=geojson")).result;
const [one, other] = [features[40], features[200]].map(({ properties: { label: [longitude, latitude], area_name } }) => ({ longitude, latitude, area_name }));
const place = ({ longitude, latitude }, accuracy) => ({ longitude, latitude, accuracy });

await chromium(async (page, browser) => {
  page.setDefaultTimeout(30_000 * patience);
  await page.setBypassCSP(true);
  await page.setViewport({ width: 360, height: 740, isMobile: true, hasTouch: true });
  await browser.defaultBrowserContext().overridePermissions(origin, ["geolocation"]);
  await page.evaluateOnNewDocument(() => {
    const { geolocation } = navigator;
    const ask = geolocation.getCurrentPosition.bind(geolocation);
    geolocation.getCurrentPosition = (found, failed, options) => ask(found, failed, (window.located = options));
  });
  await page.goto(`${origin}/map?lang=en`);
  await sees(page, () => document.querySelectorAll("#gauges li button").length);

  // An accurate position selects the area, and the search no longer shows another one.
  await page.type("#query", "rw 1");
  await page.waitForSelector("#found li[id]");
  await page.keyboard.press("Enter");
  await sees(page, () => !document.getElementById("chosen").hidden);
  assert.notEqual(await search(page), "");
  await page.setGeolocation(place(one, 20));
  await page.tap("#locate");
  await named(page, one.area_name.replace(/ (?=\d)/, "\u00a0"));
  assert.equal(await search(page), "");
  assert.equal(await page.evaluate(() => window.located.maximumAge), 0, "a reader who asks again has moved");
  const dot = await marked(page);

  // A position accurate to 3 km selects none: its circle is drawn, and the reader chooses.
  await page.setGeolocation(place(other, 3_000));
  await page.tap("#locate");
  await said(page, "You are around here, within about 3 km.");
  assert.ok(await page.$eval("#chosen", ({ hidden }) => hidden));
  assert.equal(new URL(page.url()).searchParams.get("area"), null);
  const circle = await marked(page);
  assert.ok(circle > dot + 100, `${dot} and ${circle} pixels`);
  await page.setGeolocation(place(other, 151));
  await page.tap("#locate");
  await said(page, "within about 160 m.");
  await page.setGeolocation(place(other, 150));
  await page.tap("#locate");
  await named(page, other.area_name.replace(/ (?=\d)/, "\u00a0"));
  assert.ok(await page.$eval("#said", ({ hidden }) => hidden));

  // Selecting a row of the list replaces it, too.
  await page.type("#query", "rw 1");
  await page.$eval("#list a", (link) => link.click());
  await sees(page, () => document.getElementById("query").value === "");

  // Text of twice the size with a long name: whole words beside each other, nothing over another, and room for the page.
  for (const path of ["/", "/map?lang=en", "/map?lang=en&area=1", "/report?lang=id", "/desk?lang=id", "officer", "/v1/alerts?format=html"]) {
    await (path === "officer" ? logIn(page, "Sri") : page.goto(origin + path));
    for (const size of ["125%", "150%", "175%", "200%"]) {
      await page.evaluate((size) => (document.documentElement.style.fontSize = size), size);
      const seen = await page.evaluate(() => {
        const header = document.querySelector(".site-header");
        const name = document.querySelector(".site-mark b");
        const range = document.createRange();
        range.selectNodeContents(name);
        const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size;
        const parts = [document.querySelector(".site-mark"), ...header.querySelectorAll(":scope > button, :scope > p")].filter((of) => of.checkVisibility()).map((of) => of.getBoundingClientRect());
        const isOver = (one, other) => one.left < other.right - 1 && other.left < one.right - 1 && one.top < other.bottom - 1 && other.top < one.bottom - 1;
        return {
          lines,
          height: header.offsetHeight,
          overlap: parts.some((one, at) => parts.slice(at + 1).some((other) => isOver(one, other))),
          wide: document.documentElement.scrollWidth,
        };
      });
      console.log(`${path} at ${size}: ${JSON.stringify(seen)}`);
      assert.ok(seen.lines <= 4 && seen.height <= 296 && !seen.overlap && seen.wide <= 360, `${path} at ${size}: ${JSON.stringify(seen)}`);
    }
  }

  // A phone that is turned shows the map beside the list.
  await page.setViewport({ width: 740, height: 360, isMobile: true, hasTouch: true });
  for (const path of ["/map?lang=en", "/map?lang=en&area=1"]) {
    await page.goto(origin + path);
    await sees(page, () => document.querySelectorAll("#gauges li button").length);
    const seen = await page.evaluate(() => {
      const isMap = (x, y) => document.elementFromPoint(x, y)?.tagName === "CANVAS";
      const tall = Array.from({ length: innerHeight }, (_, y) => isMap(innerWidth - 100, y)).filter(Boolean).length;
      const wide = Array.from({ length: innerWidth }, (_, x) => isMap(x, innerHeight / 2)).filter(Boolean).length;
      return { tall, wide, page: document.documentElement.scrollWidth };
    });
    console.log(`turned, ${path}: ${JSON.stringify(seen)}`);
    assert.ok(seen.tall >= 200 && seen.wide >= 200 && seen.page <= 740, JSON.stringify(seen));
    await noFaults(page);
  }
}, /404/);
