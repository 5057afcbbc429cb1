// Executes `GET /floods` at /docs. Prints the time until the response is shown, its beginning, the media type that
// was chosen, and how many operations have an open and a closed lock.
import { chromium, origin, patience } from "./chromium.mjs";

await chromium(async (page) => {
  await page.setViewport({ width: 1440, height: 900 });
  await page.goto(`${origin}/docs`);
  const operation = await page.waitForSelector("#operations-floods-list_floods");
  const locked = (state) =>
    page.$$eval(`.opblock-summary:has(.authorization__btn svg.${state}) .opblock-summary-method`, (all) => [
      ...new Set(all.map((method) => method.innerText)),
    ]);
  const [open, closed] = [await locked("unlocked"), await locked("locked")];
  const groups = await page.$$eval(".opblock-tag-section h3", (all) => all.map((group) => group.innerText.trim()));
  await (await operation.$(".opblock-summary-control")).click();
  await (await operation.waitForSelector(".try-out__btn")).click();
  const execute = await operation.waitForSelector(".execute");
  const type = await operation.$eval(".responses-wrapper select", (select) => select.value);
  const begun = Date.now();
  await execute.click();
  const shown = await operation.waitForSelector(".live-responses-table .microlight", { timeout: 60_000 * patience });
  // The browser has drawn it.
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn))));
  const milliseconds = Date.now() - begun;
  const begins = await shown.evaluate((shown) => shown.textContent.slice(0, 60));
  const length = await shown.evaluate((shown) => shown.textContent.length);
  console.log(JSON.stringify({ milliseconds, begins, length, type, open, closed, groups }));
});
