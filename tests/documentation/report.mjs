// Reports as residents do, with and without a script, and with a network that fails.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { chromium, noFaults, origin, pause, reportsOf as of, text, until } from "./chromium.mjs";

/// Clicks at something as soon as it is shown.
const click = async (page, selector) => {
  await page.waitForSelector(selector, { visible: true });
  await page.click(selector);
};
/// Sends the form, and waits for the page that thanks. The form first goes back in the history.
const send = async (page) => {
  await click(page, "#send");
  await page.waitForFunction(() => location.pathname.endsWith("/thanks") && document.readyState === "complete");
};
const next = (page) => click(page, "#next");

/// Fills in the form up to the last step, by the keyboard where that is another way.
async function fillIn(page, { disaster, answer, words, file }) {
  await page.focus(`[value="${disaster}"]`);
  await page.keyboard.press("Space");
  await next(page);
  await page.type("#search", "kampung");
  await page.waitForSelector("#found button");
  await page.focus("#found button");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.getElementById("chosen").textContent.startsWith("Chosen: "));
  await next(page);
  await answer(page);
  await next(page);
  await page.type("#text", words);
  if (file) {
    await (await page.$("#photo")).uploadFile(file);
    await page.waitForSelector("#preview:not([hidden])");
  }
  await next(page);
}

await chromium(async (page) => {
  await page.setViewport({ width: 360, height: 740, isMobile: true, hasTouch: true });
  await page.goto(`${origin}/report?lang=en`);
  // A photo of some megabytes, as noisy as a photo can be.
  const photo = await page.evaluate(async () => {
    const canvas = Object.assign(document.createElement("canvas"), { width: 2600, height: 1950 });
    const context = canvas.getContext("2d");
    const image = context.createImageData(canvas.width, canvas.height);
    for (let at = 0; at < image.data.length; at += 65536) crypto.getRandomValues(image.data.subarray(at, Math.min(at + 65536, image.data.length)));
    for (let at = 3; at < image.data.length; at += 4) image.data[at] = 255;
    context.putImageData(image, 0, 0);
    return canvas.toDataURL("image/jpeg", 0.9).split(",")[1];
  });
  writeFileSync("photo.jpg", Buffer.from(photo, "base64"));
  writeFileSync("no-photo.jpg", "%PDF-1.7 this is not a photo");
  assert.ok(photo.length > 4e6, `${photo.length}`);

  // The page before the form, to which Back leads after the report.
  await page.goto(`${origin}/?lang=en`);
  await page.goto(`${origin}/report?lang=en`);

  // A flood with a photo. Each step fits the width and has no fault, light and dark.
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
  await noFaults(page);
  const flood = async () => {
    await page.focus(".of.current .more");
    for (const _ of "12345") await page.keyboard.press("Enter");
    assert.equal(await text(page, ".of.current .words"), "knee");
    await noFaults(page);
  };
  await fillIn(page, { disaster: "flood", answer: flood, words: "Up to the knee", file: "photo.jpg" });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "light" }]);
  await page.setViewport({ width: 320, height: 640, isMobile: true, hasTouch: true });
  await noFaults(page);
  const [, size] = (await text(page, "#photo-says")).match(/(\d+) kB/);
  assert.ok(size <= 200, `${size} kB`);
  assert.match(await text(page, "#summary"), /Flood.*Chosen: .*Jakarta.*50 cm \(knee\).*Up to the knee; with a photo/);
  await send(page);
  assert.match(page.url(), /\/thanks\?lang=en&token=/);
  assert.match(await text(page, "main"), /Your report is on the map/);
  await noFaults(page);
  await page.goBack();
  assert.equal(new URL(page.url()).pathname, "/");
  const [sent] = await of("Up to the knee");
  assert.equal(sent.report_data.flood_depth, 50);
  await until("the photo is shown", async () => (await of("Up to the knee"))[0].image_url);
  assert.equal((await fetch((await of("Up to the knee"))[0].image_url)).status, 200);
  console.log(`photo ${photo.length * 0.75} bytes, sent as ${size} kB`);

  // A file that is not a photo, unreadable for this browser or too large, is rejected before it is sent.
  await page.goto(`${origin}/report?lang=en`);
  await page.evaluate(() => { document.querySelector('[data-step="photo"]').classList.add("current"); });
  writeFileSync("photo.heic", Buffer.from("\0\0\0\x18ftypheic\0\0\0\0mif1heic", "latin1"));
  writeFileSync("huge.jpg", Buffer.alloc(40_000_000));
  for (const [file, says] of [["no-photo.jpg", "cannot read this file"], ["photo.heic", "cannot read this file"], ["huge.jpg", "too large"]]) {
    await (await page.$("#photo")).uploadFile(file);
    await page.waitForFunction((part) => document.getElementById("photo-says").textContent.includes(part), {}, says);
    assert.equal(await page.$eval("#photo", (input) => input.files.length), 0);
  }

  // The position of the phone is a place with a name.
  await page.browserContext().overridePermissions(origin, ["geolocation"]);
  await page.setGeolocation({ latitude: -6.2, longitude: 106.82 });
  await page.goto(`${origin}/report?lang=en`);
  await page.$eval('[value="flood"]', (choice) => choice.click());
  await next(page);
  await click(page, "#locate");
  await page.waitForFunction(() => /^Chosen: .+, Jakarta/.test(document.getElementById("chosen").textContent));

  // A rough position is not a place until the person moves the map.
  await page.setGeolocation({ latitude: -6.2, longitude: 106.82, accuracy: 3000 });
  await click(page, "#locate");
  await page.waitForFunction(() => document.getElementById("chosen").textContent.includes("within 3000 m"));
  await page.waitForSelector("#map canvas");
  await noFaults(page);
  assert.equal(await page.$eval("[name=lat]", (input) => input.value), "");
  await page.focus("#map");
  await page.keyboard.press("ArrowLeft");
  // The name of the place comes last.
  await page.waitForFunction(() => /^Chosen: [A-Z]/.test(document.getElementById("chosen").textContent));

  // A position that comes after the person has chosen a place does not replace it.
  await page.evaluate(() => {
    navigator.geolocation.getCurrentPosition = (found) => (window.locate = () => found({ coords: { latitude: -6.3, longitude: 106.9, accuracy: 10 } }));
  });
  await click(page, "#locate");
  await page.focus("#map");
  await page.keyboard.press("ArrowLeft");
  await page.waitForFunction(() => /^Chosen: /.test(document.getElementById("chosen").textContent));
  await page.evaluate(() => window.locate());
  assert.notEqual(await page.$eval("[name=lat]", (input) => input.value), "-6.3");
  await page.evaluate(() => delete navigator.geolocation.getCurrentPosition);

  // A place outside all areas is accepted after one question, and its report is reviewed.
  await page.setGeolocation({ latitude: 48.1, longitude: 11.5 });
  await click(page, "#locate");
  await page.waitForFunction(() => document.getElementById("chosen").textContent.includes("outside all areas"));
  await page.evaluate(() => { document.querySelector('[value="wind"]').click(); });
  await page.evaluate(() => { document.querySelector('[name="wind.impact"]').click(); });
  for (const _ of "12") await next(page);
  await page.type("#text", "Not here");
  await next(page);
  await click(page, "#send");
  await page.waitForSelector("#fault-outside", { visible: true });
  await noFaults(page);
  await click(page, "#outside");
  await send(page);
  assert.match(await text(page, "main"), /The agency checks it before it appears on the map.*Open the map/s);
  assert.deepEqual(await of("Not here"), []);

  // Next says what is missing in its step.
  await page.goto(`${origin}/report?lang=en`);
  await next(page);
  await page.waitForSelector("#fault-disaster", { visible: true });
  await noFaults(page);
  await page.tap('.hazards label:has([value="flood"])');
  await page.waitForSelector("#map canvas", { visible: true });
  await next(page);
  await page.waitForSelector("#fault-place", { visible: true });

  // A tap on the map sets the pin, whose area has its name at every zoom.
  const map = await page.$("#map");
  await map.scrollIntoView();
  const { x, y, width, height } = await map.boundingBox();
  let located = 0;
  page.on("request", (request) => request.url().includes("/areas/at") && located++);
  await page.touchscreen.tap(x + width / 3, y + height / 2);
  await page.waitForFunction(() => /^Chosen: \D+.*, .*Jakarta/.test(document.getElementById("chosen").textContent));
  await pause(500);
  assert.ok(located <= 2, `a map at rest asks no more: ${located} requests`);
  const placed = () => page.$eval("form", ({ lat, lng }) => [lat.value, lng.value]);
  const tapped = await placed();
  await next(page);
  await next(page);
  await page.waitForSelector('[id="fault-flood.flood_depth"]', { visible: true });
  await page.type('[name="flood.flood_depth"]', "45");
  // Enter is Next.
  await page.keyboard.press("Enter");
  await page.type("#text", "Near the bridge");
  await (await page.$("#photo")).uploadFile("photo.jpg");
  await page.waitForSelector("#preview:not([hidden])");
  await pause(500);

  // The phone's Back and forward go from step to step. The change of the language keeps all.
  const step = () => page.evaluate(() => document.querySelector("fieldset.current").dataset.step);
  await page.goBack();
  assert.equal(await step(), "details");
  await page.click("#previous");
  await page.waitForFunction(() => document.querySelector("fieldset.current").dataset.step === "place");
  await next(page);
  await next(page);
  assert.equal(await step(), "photo");
  await page.evaluate(() => document.querySelector("a.language").click());
  await page.waitForFunction(() => document.documentElement.lang === "id" && document.querySelector("fieldset.current"));
  assert.equal(await step(), "photo");
  await page.waitForSelector("#preview:not([hidden])");
  assert.deepEqual(await placed(), tapped);
  await next(page);
  assert.match(await text(page, "#summary"), /Banjir.*Jakarta.*45 cm.*Near the bridge; dengan foto/);
  await send(page);
  assert.match(page.url(), /\/thanks\?lang=id/);
  assert.equal((await of("Near the bridge")).length, 1);
  await until("the photo of the draft is shown", async () => (await of("Near the bridge"))[0].image_url);
  // The next report begins empty.
  await page.goto(`${origin}/report?lang=en`);
  assert.equal(await step(), "hazard");
  assert.equal(await page.$eval("#text", ({ value }) => value), "");
  // A place that only the address has chosen is not kept for another report.
  await page.goto(`${origin}/report?lang=en&area=1`);
  assert.notEqual((await placed())[0], "");
  await page.goto(`${origin}/report?lang=en`);
  assert.deepEqual(await placed(), ["", ""]);
}, /status of 40[04]/);

// The network fails: the report stays on the phone, and is sent once when it is back.
await chromium(async (page) => {
  await page.goto(`${origin}/report?lang=en`);
  const road = async () => {
    await click(page, '[value="road"]');
    await click(page, '[name="earthquake.accessabilityFailure"][value="1"]');
  };
  await fillIn(page, { disaster: "earthquake", answer: road, words: "Only motorcycles" });
  await page.setOfflineMode(true);
  await click(page, "#send");
  await page.waitForFunction(() => document.getElementById("kept").textContent.includes("kept on this phone"));
  await noFaults(page);
  assert.equal((await of("Only motorcycles")).length, 0);
  await page.setOfflineMode(false);
  await page.waitForFunction(() => location.pathname.endsWith("/thanks"), { timeout: 120_000 });
  const [kept] = await of("Only motorcycles");
  assert.deepEqual([kept.report_data.report_type, kept.report_data.accessabilityFailure], ["road", 1]);

  // The report is stored but its response is lost: sent again, it is the same report.
  await page.goto(`${origin}/report?lang=en`);
  const fire = async () => { await page.type('[name="fire.fireRadius"]', "25"); };
  await fillIn(page, { disaster: "fire", answer: fire, words: "Behind the market" });
  await page.evaluate(() => {
    const real = window.fetch;
    let lost = 0;
    window.fetch = async (...request) => {
      const response = await real(...request);
      if (request[1]?.method === "POST" && lost++ < 3) throw new TypeError("lost");
      return response;
    };
  });
  await click(page, "#send");
  await page.waitForFunction(() => document.getElementById("kept").textContent.includes("kept on this phone"));
  for (let tries = 2; tries <= 4; tries += 1) await page.evaluate(() => dispatchEvent(new Event("online")));
  await until("the page says thank you", async () => {
    if (page.url().includes("/thanks")) return true;
    await page.evaluate(() => dispatchEvent(new Event("online"))).catch(() => {});
  });
  assert.equal((await of("Behind the market")).length, 1);
  assert.ok((await of("Behind the market"))[0].report_data.fireRadius.lat, "a place on the circle");
}, /ERR_INTERNET_DISCONNECTED|status of 404/);

// Without a script it is one form.
await chromium(async (page) => {
  await page.setJavaScriptEnabled(false);
  await page.setViewport({ width: 360, height: 740 });
  await page.goto(`${origin}/report?lang=id`);
  const choose = (selector) => page.$eval(selector, (element) => element.click());
  await choose('[value="wind"]');
  await page.type("#text", "Tiang listrik miring");
  await choose('[name="wind.impact"][value="2"]');
  // The choice of a city, and of a larger area in it, keeps all that is filled in.
  await Promise.all([page.waitForNavigation(), click(page, ".choices button")]);
  await Promise.all([page.waitForNavigation(), click(page, ".choices button")]);
  await Promise.all([page.waitForNavigation(), choose("#send")]);
  assert.match(page.url(), /\/thanks\?lang=id&token=/);
  assert.equal((await of("Tiang listrik miring"))[0].report_data.impact, 2);
  // A reload of the page sends nothing.
  await page.reload();
  assert.equal((await of("Tiang listrik miring")).length, 1);
  // The photo can follow, scaled down by the script if there is one.
  await page.setJavaScriptEnabled(true);
  await page.reload();
  await noFaults(page);
  await (await page.$("#photo")).uploadFile("photo.jpg");
  await page.waitForFunction(() => /Foto siap: \d+ kB/.test(document.getElementById("photo-says").textContent));
  assert.ok(await page.$eval("#photo", (input) => input.files[0].size <= 200_000));
  await Promise.all([page.waitForNavigation(), click(page, "form .button")]);
  assert.match(await text(page, "main"), /Foto Anda sudah diterima/);
  await until("the later photo is shown", async () => (await of("Tiang listrik miring"))[0].image_url);
});
