// Shared helpers of the Chromium scripts: a headless browser, a service, and checks of pages.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import puppeteer from "puppeteer-core";

export const [origin, base, key] = process.argv.slice(2);
// Other tests run beside this one.
export const patience = Number(process.env.TEST_PATIENCE ?? 1);
export const slow = { timeout: 60_000 * patience };
export const pause = (time) => new Promise((done) => setTimeout(done, time));

export const api = async (method, path, body) => {
  const response = await fetch(base + path, { method, headers: { "X-Api-Key": key, "Content-Type": "application/json" }, body: body && JSON.stringify(body) });
  assert.equal(response.status, 200, `${method} ${path}: ${await response.clone().text()}`);
  return response.json();
};
/// The reports with a text.
export const reportsOf = async (text) =>
  (await api("GET", "/reports?geoformat=geojson&timeperiod=604800")).result.features.map(({ properties }) => properties).filter((report) => report.text === text);
/// Waits for a condition; returns the milliseconds.
export const until = async (says, holds) => {
  const begun = Date.now();
  for (;;) {
    if (await holds()) return Date.now() - begun;
    assert.ok(Date.now() - begun < slow.timeout, says);
    await pause(50);
  }
};
/// Waits for a condition in a page.
export const sees = (page, test, ...values) => page.waitForFunction(test, { polling: 20, ...slow }, ...values);
export const text = (page, selector) => page.$eval(selector, (element) => element.textContent);
export const isLive = (page) => sees(page, () => document.getElementById("connection").textContent === "Connected");
export const total = (page, count) => sees(page, (count) => document.getElementById("total").textContent === `${count}`, count);
/// The findings of axe. Pages whose policy forbids foreign scripts need `setBypassCSP`.
export const violations = async (page) => {
  await page.evaluate(readFileSync("node_modules/axe-core/axe.min.js", "utf8"));
  const { violations } = await page.evaluate(() => axe.run());
  return violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html.slice(0, 300))]);
};
export const fits = (page) => page.evaluate(() => document.documentElement.scrollWidth <= Math.ceil(visualViewport.width));
export const noFaults = async (page) => {
  assert.deepEqual(await violations(page), []);
  assert.ok(await fits(page), "nothing is wider than the page");
};

/// Runs `use(page, browser)` with an empty page, then closes the browser. A page must not log errors, except those that match
/// `expected`, nor request anything from another origin, except `others`.
export async function chromium(use, expected = /^$/, others = []) {
  const browser = await puppeteer.launch({
    executablePath: "/usr/bin/chromium",
    protocolTimeout: 600_000,
    // The sandbox does not start for root, and containers have little shared memory. Without a graphics card, WebGL needs a flag.
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--enable-unsafe-swiftshader"],
  });
  try {
    const page = await browser.newPage();
    const faults = [];
    page.on("pageerror", (error) => faults.push(`${error}`));
    page.on("console", (message) => message.type() === "error" && !expected.test(message.text()) && faults.push(message.text()));
    const origins = new Set();
    page.on("request", (request) => origins.add(new URL(request.url()).origin));
    await use(page, browser);
    const elsewhere = [...origins].filter((origin) => origin !== "null" && origin !== new URL(page.url()).origin && !others.includes(origin));
    if (faults.length || elsewhere.length) throw new Error([...faults, ...elsewhere].join("\n"));
  } finally {
    await browser.close();
  }
}
