// Messages to a phone: a stand-in for the browser's push service, whose messages an independent library decrypts.
import assert from "node:assert/strict";
import { createECDH, createPublicKey, randomBytes, verify } from "node:crypto";
import { createServer } from "node:http";
import ece from "http_ece";
import { api, base, chromium, noFaults, origin, patience, sees, text } from "./chromium.mjs";

const AREA = "1";
const received = [];
const service = createServer((request, response) => {
  const parts = [];
  request.on("data", (part) => parts.push(part));
  request.on("end", () => {
    received.push({ path: request.url, headers: request.headers, body: Buffer.concat(parts) });
    response.writeHead(201).end();
  });
});
await new Promise((resolve) => service.listen(0, "127.0.0.1", resolve));
const address = `http://127.0.0.1:${service.address().port}`;

/** A phone: its subscription, and its keys. */
const phone = (name) => {
  const keys = createECDH("prime256v1");
  keys.generateKeys();
  const auth = randomBytes(16);
  const subscription = { endpoint: `${address}/${name}`, keys: { p256dh: keys.getPublicKey("base64url"), auth: auth.toString("base64url") } };
  const read = async () => {
    // A phone gets at most one message a minute.
    for (const end = Date.now() + 80_000 * patience; ; await new Promise((resolve) => setTimeout(resolve, 50))) {
      const at = received.findIndex(({ path }) => path === `/${name}`);
      if (at >= 0) {
        const [{ headers, body }] = received.splice(at, 1);
        return { headers, message: JSON.parse(ece.decrypt(body, { version: "aes128gcm", privateKey: keys, authSecret: auth })) };
      }
      assert.ok(Date.now() < end, `no message to ${name}`);
    }
  };
  return { subscription, read };
};

/** Verifies the token of a request (RFC 8292). */
const checkToken = async ({ authorization }) => {
  const [, token, key] = authorization.match(/^vapid t=([\w.-]+), k=([\w-]+)$/);
  const { body } = await fetch(`${base}/push/key`).then(async (response) => ({ body: await response.json() }));
  assert.equal(key, body.result.publicKey);
  const point = Buffer.from(key, "base64url");
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString("base64url"));
  const publicKey = createPublicKey({ key: { kty: "EC", crv: "P-256", x, y }, format: "jwk" });
  const [head, claims, signature] = token.split(".");
  assert.ok(verify("sha256", Buffer.from(`${head}.${claims}`), { key: publicKey, dsaEncoding: "ieee-p1363" }, Buffer.from(signature, "base64url")));
  const { aud, exp, sub } = JSON.parse(Buffer.from(claims, "base64url"));
  assert.equal(aud, address);
  assert.ok(exp > Date.now() / 1_000 && exp <= Date.now() / 1_000 + 86_400, `${exp}`);
  assert.match(sub, /^(mailto:|https?:)/);
};

/** Opens a page of a browser whose push service is the stand-in. */
const open = async (browser, subscription, permission = "granted") => {
  const context = await browser.createBrowserContext();
  if (permission === "granted") await context.overridePermissions(origin, ["notifications"]);
  const page = await context.newPage();
  await page.setViewport({ width: 360, height: 740 });
  await page.setBypassCSP(true);
  await page.evaluateOnNewDocument((subscription, permission) => {
    const own = { ...subscription, toJSON: () => subscription, unsubscribe: async () => true };
    PushManager.prototype.subscribe = async () => own;
    PushManager.prototype.getSubscription = async () => own;
    if (permission !== "granted") Notification.requestPermission = async () => permission;
  }, subscription, permission);
  return page;
};
const press = (page, label) => sees(page, (label) => {
  const button = [...document.querySelectorAll("button")].find((of) => of.textContent === label && of.checkVisibility());
  button?.click();
  return Boolean(button);
}, label);
const says = (page, words) => sees(page, (words) => (document.querySelector("dialog") ?? document.querySelector("main")).innerText.includes(words), words);

/** Returns what the browser of a page stores. */
const own = (page) => page.evaluate(() => new Promise((resolve) => {
  const opening = indexedDB.open("push");
  opening.onsuccess = () => {
    const reading = opening.result.transaction("own").objectStore("own").get("own");
    reading.onsuccess = () => resolve(reading.result);
  };
}));
const request = ({ id, secret }, method, path = "") =>
  fetch(`${base}/push/subscriptions/${id}${path}`, { method, headers: { Authorization: `Bearer ${secret}` } });

await chromium(async (plain, browser) => {
  // Without a script, the page says what to do instead. The map leads to it.
  await plain.setJavaScriptEnabled(false);
  await plain.goto(`${origin}/map?lang=en`);
  const link = await plain.$eval("a[href^='/map/notifications']", ({ href, textContent }) => [href, textContent]);
  assert.deepEqual(link, [`${origin}/map/notifications?lang=en`, "My notifications"]);
  await plain.goto(link[0]);
  assert.match(await text(plain, "main"), /Messages need a script.*FOSS Warn/s);

  const without = await browser.newPage();
  await without.evaluateOnNewDocument(() => delete window.PushManager);
  await without.goto(`${origin}/map/notifications?lang=en`);
  await says(without, "This browser cannot show messages here");

  // On an iPhone, the page explains the home screen before anything is pressed.
  const iphone = await browser.newPage();
  await iphone.setViewport({ width: 360, height: 740 });
  await iphone.setUserAgent({ userAgent: "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1" });
  await iphone.evaluateOnNewDocument(() => delete window.PushManager);
  await iphone.goto(`${origin}/map?lang=en&area=${AREA}`);
  await press(iphone, "Tell me about this neighbourhood");
  await says(iphone, "“Add to Home Screen”");
  assert.ok(!(await iphone.$$eval("dialog button", (all) => all.some(({ textContent }) => textContent === "Allow messages"))));
  await noFaults(iphone);
  await iphone.close();

  const [mine, other] = [phone("mine"), phone("other")];
  const page = await open(browser, mine.subscription);
  await page.goto(`${origin}/map?lang=en&area=${AREA}`);
  await sees(page, () => [...document.querySelectorAll("#chosen button")].some(({ textContent }) => textContent === "Tell me about this neighbourhood"));
  await press(page, "Tell me about this neighbourhood");
  await says(page, "You get a message in this browser when the state here changes");
  await noFaults(page);
  await press(page, "Allow messages");
  await says(page, "You will be told about");
  const first = await mine.read();
  const name = first.message.body.match(/: (.*)\.$/)[1];
  await checkToken(first.headers);

  // A second phone of somebody who refuses, and then chooses a larger area in the other language.
  const refusing = await open(browser, other.subscription, "denied");
  await refusing.goto(`${origin}/map?lang=en&area=${AREA}`);
  await sees(refusing, () => document.querySelectorAll("#chosen button").length > 1);
  await press(refusing, "Tell me about this neighbourhood");
  await press(refusing, "Allow messages");
  await says(refusing, "The browser blocks messages of this page");
  const second = await open(browser, other.subscription);
  await second.goto(`${origin}/map?lang=id&area=${AREA}`);
  await sees(second, () => document.querySelectorAll("#chosen button").length > 1);
  await press(second, "Beri tahu saya tentang RW ini");
  await second.waitForSelector("dialog input");
  await second.click("dialog input");
  await press(second, "Izinkan pesan");
  await says(second, "Anda akan diberi tahu tentang");
  assert.match((await other.read()).message.body, /^Anda akan mendapat pesan/);

  // Both are told when the state changes, once, each in its language.
  await api("PUT", `/floods/${AREA}`, { state: 4 });
  const told = await mine.read();
  assert.equal(told.message.title, `${name}: More than 150 cm`);
  assert.equal(told.headers.urgency, "high");
  assert.match((await other.read()).message.title, /Lebih dari 150 cm|RW tergenang/);

  // The phone shows it; a tap opens the area. A late one has its time.
  await page.goto(`${origin}/map/notifications?lang=en`);
  await says(page, name);
  await noFaults(page);
  const session = await page.createCDPSession();
  const registered = new Promise((resolve) => session.on("ServiceWorker.workerRegistrationUpdated", ({ registrations: [one] }) => one && resolve(one.registrationId)));
  await session.send("ServiceWorker.enable");
  const registrationId = await registered;
  const deliver = (message) => session.send("ServiceWorker.deliverPushMessage", { origin: `${origin}/`, registrationId, data: JSON.stringify(message) });
  const shown = () => page.evaluate(async () => (await (await navigator.serviceWorker.getRegistration("/map")).getNotifications()).map(({ title, body }) => ({ title, body })));
  const showing = async (body) => {
    for (const end = Date.now() + 20_000 * patience; ; await new Promise((resolve) => setTimeout(resolve, 50))) {
      const all = await shown();
      if (all.length === 1 && all[0].body === body) return all[0];
      assert.ok(Date.now() < end, JSON.stringify(all));
    }
  };
  const late = { ...told.message, at: new Date(Date.now() - 3_600_000).toISOString() };
  await deliver(late);
  assert.equal((await showing(`${late.body}\n${late.late}`)).title, told.message.title);
  await deliver(told.message);
  await showing(told.message.body);
  await page.goto(`${origin}/map?lang=en`);
  const target = await browser.waitForTarget((one) => one.type() === "service_worker" && one.browserContext() === page.browserContext());
  await (await target.worker()).evaluate(async () => {
    const [notification] = await self.registration.getNotifications();
    self.dispatchEvent(new NotificationEvent("notificationclick", { notification }));
  });
  await sees(page, (area) => new URL(location.href).searchParams.get("area") === area, AREA);

  // The map renews the subscription after a week. If the browser replaces its own, the worker sends it to the service.
  const isRenewal = (response) => response.request().method() === "PUT" && response.url().includes("/push/subscriptions/");
  const renewal = () => page.waitForResponse(isRenewal, { timeout: 30_000 * patience });
  await page.evaluate((stored) => new Promise((resolve) => {
    const opening = indexedDB.open("push");
    opening.onsuccess = () => {
      const writing = opening.result.transaction("own", "readwrite");
      writing.objectStore("own").put({ ...stored, renewed: Date.now() - 8 * 86_400_000 }, "own");
      writing.oncomplete = resolve;
    };
  }), await own(page));
  const weekly = renewal();
  await page.goto(`${origin}/map?lang=en`);
  assert.equal((await weekly).status(), 200);
  const replaced = phone("replaced");
  await (await target.worker()).evaluate((subscription) => {
    self.dispatchEvent(Object.assign(new ExtendableEvent("pushsubscriptionchange"), { newSubscription: { ...subscription, toJSON: () => subscription } }));
  }, replaced.subscription);
  assert.match((await replaced.read()).message.body, /^You will get a message/);

  // A trial of a subscription that the service has lost begins a new one. Then the end of it. The page renews the subscription first.
  const renewed = renewal();
  await page.goto(`${origin}/map/notifications?lang=en`);
  await renewed;
  assert.match((await mine.read()).message.body, /^You will get a message/, "the worker had sent another address");
  await says(page, name);
  await sees(page, () => [...document.querySelectorAll("button")].some(({ textContent }) => textContent === "Send a trial"));
  const lost = await own(page);
  assert.equal((await request(lost, "DELETE")).status, 200);
  await press(page, "Send a trial");
  await says(page, "A trial was sent");
  assert.match((await mine.read()).message.body, /^You will get a message/);
  const found = await own(page);
  assert.notEqual(found.secret, lost.secret);
  await press(page, "End");
  await says(page, "This browser gets no messages about");
  assert.equal((await request(found, "POST", "/trial")).status, 404, "it has ended");
  await second.goto(`${origin}/map/notifications?lang=id`);
  await sees(second, () => document.querySelector("#notifications li"));
  await noFaults(second);
});
service.close();
