// Looks at each page in both languages and at three widths, light and dark, and with text twice as large.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { chromium } from "./chromium.mjs";

const [origin, base] = process.argv.slice(2);
const patience = Number(process.env.TEST_PATIENCE ?? 1);
const axe = readFileSync("node_modules/axe-core/axe.min.js", "utf8");
const fits = (page) => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
// Addresses end with a parameter, so that a language can follow. `until` is there once the page is complete.
const PAGES = [
  { address: `${origin}/?` },
  { address: `${origin}/map?`, until: "#gauges li button" },
  { address: `${origin}/map?area=1&`, until: "#gauges li button" },
  // Swagger UI has findings of its own.
  { address: `${origin}/docs?`, until: ".opblock", isGrave: ({ impact }) => impact === "critical" },
  { address: `${base}/alerts?format=html&` },
  { address: `${origin}/report?` },
  { address: `${origin}/desk?` },
  { address: `${origin}/nothing?` },
];

await chromium(async (page) => {
  page.setDefaultTimeout(60_000 * patience);
  await page.setBypassCSP(true); // For axe-core, which the pages do not bring.
  const faults = [];
  for (const { address, until, isGrave = () => true } of PAGES) {
    for (const [language, schemes] of [["id", ["light", "dark", "light"]], ["en", ["dark", "light", "dark"]]]) {
      await page.goto(`${address}lang=${language}`);
      if (until) await page.waitForSelector(until);
      await page.evaluate(axe);
      for (const [at, width] of [360, 768, 1440].entries()) {
        await page.setViewport({ width, height: 800 });
        await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: schemes[at] }]);
        const { violations } = await page.evaluate(() => axe.run({ resultTypes: ["violations"] }));
        for (const { id, nodes } of violations.filter(isGrave)) faults.push([address, language, width, schemes[at], id, nodes[0].html.slice(0, 200)]);
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
