#!/usr/bin/env node
// encode.mjs FEATURES.geojson [QUANTIZATION [RUNS]]: how long topojson-server and JSON.stringify take to write the features
// of a GeoJSON file, with their properties, as quantized TopoJSON. Prints the median of the runs in milliseconds.
//
// Needs topojson-server (npm install topojson-server) in the working directory or in NODE_PATH. Reading the file is not
// measured, nor are the first runs, in which the engine compiles.
import fs from "node:fs";
import { createRequire } from "node:module";

const [, , file, quantization = "10000", runs = "30"] = process.argv;
if (!file || file === "--help") {
  const head = fs.readFileSync(new URL(import.meta.url), "utf8").split("\n").slice(1, 6);
  console.log(head.map((line) => line.replace(/^\/\/ ?/, "")).join("\n"));
  process.exit(file ? 0 : 2);
}
const { topology } = createRequire(process.cwd() + "/")("topojson-server");
const features = JSON.parse(fs.readFileSync(file));

const encode = () => JSON.stringify(topology({ output: features }, Number(quantization)));
const milliseconds = () => {
  const start = performance.now();
  encode();
  return performance.now() - start;
};
for (let warming = 0; warming < 10; warming++) encode();
const taken = Array.from({ length: Number(runs) }, milliseconds).sort((a, b) => a - b);
console.log(taken[taken.length >> 1].toFixed(2));
