// Loads a page twice, with libraries from installed packages instead of their address. In the first, an area is cleared and
// another set meanwhile. Prints what the page shows, requests and redraws.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { JSDOM, ResourceLoader, VirtualConsole } from "jsdom";

const [file, address, key] = process.argv.slice(2);

class Packages extends ResourceLoader {
  fetch(url) {
    const [, name, path] = url.match(/^https:\/\/unpkg\.com\/([a-z-]+)@[\d.]+\/(.+)$/) ?? [];
    if (!name) throw new Error(`${url} is not in a package`);
    return Promise.resolve(readFileSync(`node_modules/${name}/${path}`));
  }
}

const fail = (error) => {
  console.error(error);
  process.exit(1);
};
process.on("unhandledRejection", fail);

async function load(kept) {
  const requests = [];
  let poll;
  const { window } = await JSDOM.fromFile(file, {
    url: "http://map.example/",
    resources: new Packages(),
    runScripts: "dangerously",
    virtualConsole: new VirtualConsole().on("jsdomError", fail).on("error", fail).on("warn", fail),
    beforeParse(window) {
      window.fetch = (url) => requests.push(url.slice(address.length)) && fetch(url);
      window.setInterval = (run) => (poll = run);
      for (const [name, value] of Object.entries(kept)) window.localStorage.setItem(name, value);
    },
  });
  const shapes = () => [...window.document.querySelectorAll("path.leaflet-interactive")];
  const becomes = async (what, is) => {
    const until = Date.now() + 20_000;
    while (!is()) {
      assert.ok(Date.now() < until, what);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  await becomes("shapes are drawn", () => shapes().length);
  return { window, shapes, becomes, requests, poll: () => poll(), kept: { ...window.localStorage } };
}

const { window, shapes, becomes, requests, poll, kept } = await load({});
const text = (selector) => window.document.querySelector(selector)?.textContent;
const before = shapes();
before[0].dispatchEvent(new window.MouseEvent("mouseover", { bubbles: true }));
const name = text(".leaflet-tooltip");

const set = async (area, method, body) => {
  const headers = { "X-Api-Key": key, "Content-Type": "application/json" };
  const response = await fetch(`${address}/floods/${area}`, { method, body, headers });
  assert.equal(response.status, 200);
};
const { result } = await (await fetch(`${address}/floods/states`)).json();
const [cleared, changed] = result.map(({ area_id }) => area_id);
await set(cleared, "DELETE");
await set(changed, "PUT", JSON.stringify({ state: result[1].state % 4 + 1 }));
poll();
await becomes("the change is drawn", () => shapes().length === before.length - 1 && requests.length > 2);
const after = shapes();
const redrawn = after.filter((shape) => !before.includes(shape)).length;
poll();
await becomes("states are requested again", () => requests.length > 3);
assert.ok(after.every((shape, index) => shape === shapes()[index]));

const again = await load(kept);
console.log(
  JSON.stringify({
    drawn: before.length,
    name,
    redrawn,
    requests,
    again: again.requests,
    legend: [...window.document.querySelectorAll(".legend li")].map((item) => item.textContent),
    attribution: text(".leaflet-control-attribution"),
    viewport: window.document.querySelector("meta[name=viewport]").content,
    language: window.document.documentElement.lang,
  }),
);
process.exit();
