// Opens a page in eight tabs of one Chromium, four in each of two windows, with a changing service. Each tab must show each
// change, by one stream. Only one tab of a window is visible.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const [address, metrics, key] = process.argv.slice(2);
const TABS = 8;
let tabs = [];

const set = async (area, state) => {
  const headers = { "X-Api-Key": key, "Content-Type": "application/json" };
  const response = await fetch(`${address}/floods/${area}`, { method: "PUT", headers, body: JSON.stringify({ state }) });
  assert.equal(response.status, 200);
};
const streams = async () => Number((await (await fetch(metrics)).text()).match(/^siaga_streams(?:{})? (\d+)$/m)?.[1] ?? 0);
const eventually = async (what, found) => {
  for (const until = Date.now() + 30_000; ; ) {
    if (await found()) return;
    if (Date.now() > until) assert.fail(`not ${what}: ${JSON.stringify(await Promise.all(tabs.map((tab) => tab.about())))}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

// Serves the page and the client beside it.
const types = { "/page.html": "text/html", "/live.js": "text/javascript" };
const server = createServer((request, response) => {
  const type = types[request.url];
  if (!type) return response.writeHead(404).end();
  response.writeHead(200, { "Content-Type": type }).end(readFileSync(`.${request.url}`));
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const page = `http://127.0.0.1:${server.address().port}/page.html`;

// Chromium reads commands on file descriptor 3 and writes responses and events on 4, each terminated by NUL.
const flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-proxy-server"];
const chromium = spawn("chromium", [...flags, "--remote-debugging-pipe", `--user-data-dir=${process.cwd()}/profile`], {
  stdio: ["ignore", "ignore", "pipe", "pipe", "pipe"],
});
let errors = "";
chromium.stderr.on("data", (data) => (errors += data));
const fail = (error) => {
  console.error(error, errors);
  chromium.kill("SIGKILL");
  process.exit(1);
};
process.on("unhandledRejection", fail).on("uncaughtException", fail);

const waiting = new Map();
const hearers = [];
let text = "", number = 0;
chromium.stdio[4].setEncoding("utf8").on("data", (data) => {
  const messages = (text + data).split("\0");
  text = messages.pop();
  for (const message of messages.map((message) => JSON.parse(message))) {
    if (!message.id) hearers.forEach((hear) => hear(message));
    else if (message.error) waiting.get(message.id).reject(new Error(message.error.message));
    else waiting.get(message.id).resolve(message.result);
  }
});
const command = (method, params = {}, sessionId) =>
  new Promise((resolve, reject) => {
    waiting.set(++number, { resolve, reject });
    chromium.stdio[3].write(`${JSON.stringify({ id: number, method, params, sessionId })}\0`);
  });

const open = async (url, newWindow = false) => {
  const { targetId } = await command("Target.createTarget", { url, newWindow });
  const { windowId } = await command("Browser.getWindowForTarget", { targetId });
  const { sessionId } = await command("Target.attachToTarget", { targetId, flatten: true });
  await command("Network.enable", {}, sessionId);
  const value = async (expression) => (await command("Runtime.evaluate", { expression }, sessionId)).result.value;
  return {
    sessionId,
    shows: async (area, state) => (await value("document.body?.innerText ?? ''")).split("\n").includes(`${area}: ${state}`),
    about: () => value("[document.visibilityState, document.readyState, document.body?.innerText.length].join()"),
    state: () => value("document.visibilityState"),
    resize: (windowState) => command("Browser.setWindowBounds", { windowId, bounds: { windowState } }),
    close: () => command("Target.closeTarget", { targetId }),
  };
};
const all = async (tabs, test) => (await Promise.all(tabs.map(test))).every(Boolean);
const changed = async (tabs, area, state) => {
  await set(area, state);
  const begun = Date.now();
  await eventually(`${area}: ${state} in all tabs`, () => all(tabs, (tab) => tab.shows(area, state)));
  return Date.now() - begun;
};
// The tab with the stream receives its events.
const leader = () =>
  new Promise((resolve) => hearers.push(({ method, sessionId }) => method === "Network.eventSourceMessageReceived" && resolve(sessionId)));

await set(5, 2);
for (let count = 0; count < TABS; count++) tabs.push(await open(page, count % 4 === 0));
await eventually("all states in all tabs", () => all(tabs, (tab) => tab.shows(5, 2)));
const visible = (await Promise.all(tabs.map((tab) => tab.state()))).filter((state) => state === "visible");
assert.equal(visible.length, 2);
const holder = leader();
const took = [await changed(tabs, 5, 3)];
await eventually("one stream", async () => (await streams()) === 1);

// The tab with the stream is closed while areas change.
const held = await holder;
const [closed] = tabs.filter((tab) => tab.sessionId === held);
tabs = tabs.filter((tab) => tab !== closed);
await Promise.all([closed.close(), set(1, 4), set(2, 1)]);
await eventually("all changes in the other tabs", () => all(tabs, async (tab) => (await tab.shows(1, 4)) && (await tab.shows(2, 1))));
took.push(await changed(tabs, 5, 4));
await eventually("one stream", async () => (await streams()) === 1);

// All windows are minimized, and then one of them is shown again.
for (const tab of tabs) await tab.resize("minimized");
await eventually("no stream while all tabs are hidden", async () => (await streams()) === 0);
await set(5, 1);
await tabs[0].resize("normal");
await eventually("what changed meanwhile", () => all(tabs, (tab) => tab.shows(5, 1)));
await eventually("one stream", async () => (await streams()) === 1);

console.log(`a change was in all tabs after ${took.join(" and ")} ms`);
chromium.on("exit", () => process.exit());
await command("Browser.close");
