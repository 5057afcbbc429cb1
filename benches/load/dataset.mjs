// dataset.mjs FLOODS.json FOLDER: adds areas and a log of flood states to FOLDER/dataset if missing, and writes beside
// it the inputs of the measurements. FLOODS.json is a response of GET /floods?geoformat=geojson.
import fs from "node:fs";

const ENTRIES = 20_000;
const DAYS = 7;
const [, , floods, folder] = process.argv;
const { result } = JSON.parse(fs.readFileSync(floods));
const areas = result.features.map(({ properties }) => properties.area_id);

fs.writeFileSync(`${folder}/features.geojson`, JSON.stringify(result));
fs.writeFileSync(`${folder}/areas`, areas.map((area) => `${area}\n`).join(""));

if (!fs.existsSync(`${folder}/dataset/areas.geojson`)) {
  const features = result.features.map(({ type, properties, geometry }) => {
    const { area_id, geom_id, area_name, parent_name, city_name } = properties;
    const codes = { city: "jbd", instance_region_code: "ID-JK" };
    return { type, properties: { area_id, geom_id, area_name, parent_name, city_name, ...codes }, geometry };
  });
  fs.writeFileSync(`${folder}/dataset/areas.geojson`, JSON.stringify({ type: "FeatureCollection", features }));
}

// Areas change in turn: four times in five to another state, else the area is cleared.
const end = Math.floor(Date.now() / 1000) * 1000;
const start = end - DAYS * 86_400_000;
const log = Array.from({ length: ENTRIES }, (_, number) => {
  const state = (Math.floor(number / areas.length) + number) % 5;
  const changed = new Date(start + ((number + 1) * (end - start)) / (ENTRIES + 1));
  return `${areas[number % areas.length]},${state || ""},${changed.toISOString()},,\n`;
});
fs.writeFileSync(`${folder}/dataset/flood_states.csv`, `area_id,state,changed_at,username,subject\n${log.join("")}`);
const seconds = (moment) => new Date(moment).toISOString().replace(".000", "");
fs.writeFileSync(`${folder}/period`, `start=${seconds(start)}&end=${seconds(end)}`);
