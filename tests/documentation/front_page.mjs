// Looks at / in each language, light and dark, wide and narrow. Prints what axe-core finds, and what the page says.
import { chromium, fits, origin, violations } from "./chromium.mjs";

const looks = [];
await chromium(async (page) => {
  await page.setBypassCSP(true); // For axe-core, which the page does not bring.
  for (const accepted of ["id-ID,id;q=0.9", "en"]) {
    await page.setExtraHTTPHeaders({ "Accept-Language": accepted });
    for (const scheme of ["light", "dark"]) {
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
      for (const width of [320, 1440]) {
        await page.setViewport({ width, height: 900 });
        await page.goto(origin);
        const said = await page.evaluate(() => ({
          language: document.documentElement.lang,
          counts: [...document.querySelectorAll("td, .count")].map((cell) => Number(cell.innerText)),
          newest: document.querySelector("time").innerText,
          addresses: [...document.querySelectorAll("dd code")].length,
        }));
        looks.push({ accepted, violations: await violations(page), overflows: !(await fits(page)), ...said });
      }
    }
  }
  await Promise.all([page.waitForNavigation(), page.click("header .language")]);
  looks.push({ switched: await page.evaluate(() => [document.documentElement.lang, location.search]) });
});
console.log(JSON.stringify(looks));
