// Loads a page, with libraries from the packages at hand instead of their address. Prints how many shapes its map shows, and the
// name of the one that is pointed at.
import { readFileSync } from "node:fs";
import { JSDOM, ResourceLoader, VirtualConsole } from "jsdom";

class Packages extends ResourceLoader {
  fetch(url) {
    const [, name, path] = url.match(/^https:\/\/unpkg\.com\/([a-z-]+)@[\d.]+\/(.+)$/) ?? [];
    if (!name) throw new Error(`${url} is not at hand`);
    return Promise.resolve(readFileSync(`node_modules/${name}/${path}`));
  }
}

const fail = (error) => {
  console.error(error);
  process.exit(1);
};
const { window } = await JSDOM.fromFile(process.argv[2], {
  resources: new Packages(),
  runScripts: "dangerously",
  virtualConsole: new VirtualConsole().on("jsdomError", fail).on("error", fail),
  beforeParse: (window) => (window.fetch = fetch),
});
process.on("unhandledRejection", fail);

const shapes = () => window.document.querySelectorAll("path.leaflet-interactive");
const until = Date.now() + 20_000;
while (!shapes().length && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 50));
shapes()[0]?.dispatchEvent(new window.MouseEvent("mouseover", { bubbles: true }));
console.log(shapes().length, window.document.querySelector(".leaflet-tooltip")?.textContent);
process.exit();
