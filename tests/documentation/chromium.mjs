// Opens pages in Chromium without a window. A page may not log an error, nor request anything from another origin.
import puppeteer from "puppeteer-core";

/// Runs `use(page, browser)` with an empty page, and closes the browser after it. Logged errors that match `expected` are no faults.
export async function chromium(use, expected = /^$/) {
  const browser = await puppeteer.launch({
    executablePath: "/usr/bin/chromium",
    protocolTimeout: 600_000,
    // The sandbox does not start for root, and containers have little shared memory. Without a graphics card, WebGL has to be asked for.
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
    const elsewhere = [...origins].filter((origin) => origin !== "null" && origin !== new URL(page.url()).origin);
    if (faults.length || elsewhere.length) throw new Error([...faults, ...elsewhere].join("\n"));
  } finally {
    await browser.close();
  }
}
