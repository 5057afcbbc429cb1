// Runs the code block of the page against the service, and against a scripted one that rejects, fails and changes.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { changes } from "./changes.mjs";

const [address, key] = process.argv.slice(2);
const set = async (state) => {
  const url = address.replace("states", "5");
  const headers = { "X-Api-Key": key, "Content-Type": "application/json" };
  const answer = await fetch(url, { method: "PUT", headers, body: JSON.stringify({ state }) });
  assert.equal(answer.status, 200);
};
const state = ({ value }) => value.find((area) => area.area_id === "5")?.state;

const told = changes(address, 0.1);
await set(2);
assert.equal(state(await told.next()), 2);
const next = told.next();
await new Promise((resolve) => setTimeout(resolve, 500));
await set(3);
assert.equal(state(await next), 3);
await told.return();

// Scripted responses: status and headers; and the received requests with their tags.
const script = [[503], [429, { "Retry-After": "1" }], [200, { ETag: '"a"' }], [304], [200, { ETag: '"b"' }], [403]];
const asked = [];
const server = createServer((request, response) => {
  asked.push([Date.now(), request.headers["if-none-match"]]);
  const [status, headers] = script[asked.length - 1];
  response.writeHead(status, headers).end(status === 304 ? "" : JSON.stringify({ result: asked.length, message: "no" }));
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const answers = changes(`http://127.0.0.1:${server.address().port}/`, 0.05);
assert.deepEqual([(await answers.next()).value, (await answers.next()).value], [3, 5]);
await assert.rejects(answers.next(), /no/);
assert.deepEqual(asked.map(([, tag]) => tag), [undefined, undefined, undefined, '"a"', '"a"', '"b"']);
assert.ok(asked[2][0] - asked[1][0] >= 990, "Retry-After was not waited for");
process.exit();
