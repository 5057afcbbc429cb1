// Loads an address as a layer source in map libraries. Prints how many features each
// finds: OpenLayers in the collection, MapLibre on the map.
import { readFileSync } from "node:fs";
import { chromium } from "./chromium.mjs";

const [origin, address] = process.argv.slice(2);
const seen = {};
await chromium(async (page) => {
  await page.setBypassCSP(true); // The page is only a place in the service's origin.
  await page.goto(origin);
  for (const path of ["ol/dist/ol.js", "maplibre-gl/dist/maplibre-gl.js"]) {
    await page.evaluate(readFileSync(`node_modules/${path}`, "utf8"));
  }
  seen.openlayers = await page.evaluate(async (url) => {
    const source = new ol.source.Vector({ url, format: new ol.format.GeoJSON() });
    const loaded = new Promise((resolve, reject) => {
      source.on("featuresloadend", () => resolve(source.getFeatures().length));
      source.on("featuresloaderror", () => reject(new Error(`OpenLayers cannot load ${url}`)));
    });
    source.loadFeatures([-Infinity, -Infinity, Infinity, Infinity], 1, ol.proj.get("EPSG:4326"));
    return loaded;
  }, address);
  seen.maplibre = await page.evaluate(async (data) => {
    const container = document.createElement("div");
    container.style.cssText = "width: 800px; height: 800px";
    document.body.append(container);
    const style = {
      version: 8,
      sources: { floods: { type: "geojson", data } },
      layers: [{ id: "floods", type: "fill", source: "floods" }],
    };
    const map = new maplibregl.Map({ container, style, center: [106.83, -6.2], zoom: 10 });
    await new Promise((resolve, reject) => {
      map.on("idle", resolve);
      map.on("error", ({ error }) => reject(error));
    });
    return new Set(map.querySourceFeatures("floods").map(({ properties }) => properties.area_id)).size;
  }, address);
});
console.log(JSON.stringify(seen));
