// Prints the area of each feature of a topology on the sphere by d3, in steradians.
import { readFileSync } from "node:fs";
import { geoArea } from "d3-geo";
import { feature } from "topojson-client";

const topology = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { features } = feature(topology, topology.objects.output);
console.log(JSON.stringify(Object.fromEntries(features.map((one) => [one.properties.area_id, geoArea(one)]))));
