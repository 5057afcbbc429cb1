// Looks at each page in both languages and at three widths, light and dark, and with text twice as large.
import assert from "node:assert/strict";
import { api, base, chromium, fits, origin, patience, until as becomes, violations } from "./chromium.mjs";

/** Reports a flood with a photo, and waits until the photo is published. */
const report = async (page) => {
  const { features: [{ properties: { label: [lng, lat] } }] } = (await api("GET", "/areas?ids=5&geoformat=geojson")).result;
  const { cardId } = await api("POST", "/cards", { username: "ani", network: "test", language: "en" });
  const card_data = { report_type: "flood", flood_depth: 40 };
  await api("PUT", `/cards/${cardId}`, { disaster_type: "flood", card_data, text: "Water up to the knee", created_at: new Date().toISOString(), location: { lat, lng } });
  const { signedRequest } = await api("GET", `/cards/${cardId}/images?file_type=image/jpeg`);
  const picture = await page.evaluate(() => document.createElement("canvas").toDataURL("image/jpeg").split(",")[1]);
  const sent = await fetch(signedRequest, { method: "PUT", headers: { "Content-Type": "image/jpeg" }, body: Buffer.from(picture, "base64") });
  assert.equal(sent.status, 200);
  await becomes("the photo is published", async () =>
    (await api("GET", "/reports?geoformat=geojson")).result.features.some(({ properties }) => properties.url === cardId && properties.image_url));
};
/** Opens that report on the map. */
const openReport = async (page) => {
  await page.waitForFunction(() => {
    const row = [...document.querySelectorAll("#reports li")].find(({ textContent }) => textContent.includes("40 cm"));
    row?.querySelector("button").click();
    return row;
  });
  await page.waitForFunction(() => document.querySelector("#chosen img")?.complete);
};
/** Opens the dialog in which people subscribe to messages. */
const openTell = async (page) => {
  await page.waitForFunction(() => {
    const button = [...document.querySelectorAll("#chosen button")].find(({ textContent }) => /^(Tell me|Beri tahu saya)/.test(textContent));
    button?.click();
    return button;
  });
  await page.waitForSelector("dialog[open]");
};
// Addresses end with a parameter, so that a language can follow. `until` is there once the page is complete.
const PAGES = [
  { address: `${origin}/?` },
  { address: `${origin}/map?`, until: "#gauges li button" },
  { address: `${origin}/map?area=1&`, until: "#gauges li button" },
  { address: `${origin}/map?`, until: "#gauges li button", act: openReport },
  { address: `${origin}/map?area=1&`, until: "#gauges li button", act: openTell },
  { address: `${origin}/map/notifications?`, until: "#notifications p" },
  { address: `${origin}/docs?`, until: ".opblock" },
  { address: `${base}/alerts?format=html&` },
  { address: `${origin}/report?` },
  { address: `${origin}/desk?` },
  { address: `${origin}/nothing?` },
];

await chromium(async (page) => {
  page.setDefaultTimeout(60_000 * patience);
  await page.setBypassCSP(true); // For axe-core, which the pages do not bring.
  const faults = [];
  await report(page);
  for (const { address, until, act = () => {} } of PAGES) {
    for (const [language, schemes] of [["id", ["light", "dark", "light"]], ["en", ["dark", "light", "dark"]]]) {
      await page.goto(`${address}lang=${language}`);
      if (until) await page.waitForSelector(until);
      await act(page);
      for (const [at, width] of [360, 768, 1440].entries()) {
        await page.setViewport({ width, height: 800 });
        await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: schemes[at] }]);
        // Scripts of the page follow in the next frame.
        await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
        faults.push(...(await violations(page)).map((found) => [address, language, width, schemes[at], ...found]));
        if (!(await fits(page))) faults.push([address, language, width, "wider than the screen"]);
      }
      await page.setViewport({ width: 360, height: 800 });
      await page.evaluate(() => (document.documentElement.style.fontSize = "200%"));
      if (!(await fits(page))) faults.push([address, language, 360, "wider than the screen at 200 %"]);
    }
  }
  assert.deepEqual(faults, []);
  // Pages about something unknown are 404, which browsers log.
}, /404/);
