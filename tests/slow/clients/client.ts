// Uses the types that openapi-typescript generates, against a service.
import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { components, paths } from "./siaga.js";

const [baseUrl, key] = process.argv.slice(2) as [string, string];
const siaga = createClient<paths>({ baseUrl });

const floods = await siaga.GET("/floods", { params: { query: { minimum_state: 1 } } });
const map = floods.data;
assert.ok(map && typeof map === "object" && "result" in map && map.result.type === "Topology");
const { geometries } = map.result.objects.output;
const depths = new Map<string, number | null>(geometries.map(({ properties }) => [properties.area_id, properties.state]));
assert.ok(depths.size > 100);
for (const geometry of geometries) {
  const rings: number[][] = geometry.type === "Polygon" ? geometry.arcs : geometry.arcs.flat();
  assert.ok(rings.flat().every(Number.isInteger));
}

const states = await siaga.GET("/floods/states");
const listed: components["schemas"]["FloodStateRecord"][] = states.data?.result ?? [];
assert.deepEqual(new Map(listed.map(({ area_id, state }) => [area_id, state])), depths);

const reports = await siaga.GET("/reports", { params: { query: { geoformat: "geojson" } } });
assert.ok(reports.data && "result" in reports.data && reports.data.result.type === "FeatureCollection");
const [longitude, latitude]: number[] = reports.data.result.features[0]!.geometry.coordinates;
assert.ok(longitude! > 100 && latitude! < 0);

const headers = { "X-Api-Key": key };
const path = { localAreaId: 5 };
const set = await siaga.PUT("/floods/{localAreaId}", { params: { path }, body: { state: 3 }, headers });
assert.equal(set.data?.state, 3);
const holder = { username: "resident-17", network: "telegram", language: "id", network_data: { chat: [1, "a"] } };
const card = await siaga.POST("/cards", { body: holder, headers });
assert.equal(card.data?.created, true);

const refused = await siaga.PUT("/floods/{localAreaId}", { params: { path }, body: { state: 3 } });
const problem: components["schemas"]["Problem"] | undefined = refused.error;
assert.equal(problem?.statusCode, 403);

// @ts-expect-error: there is no state 9.
const wrong = await siaga.PUT("/floods/{localAreaId}", { params: { path }, body: { state: 9 }, headers });
assert.deepEqual(wrong.error?.validation, { source: "body", keys: ["state"] });
// @ts-expect-error: there is no such resource.
assert.equal((await siaga.GET("/weather")).response.status, 404);
