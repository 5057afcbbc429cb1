// Reads a stream of changes by the package eventsource: the full state first, then a change.

import assert from "node:assert";
import { EventSource } from "eventsource";

const [base, key] = process.argv.slice(2);
const source = new EventSource(`${base}/changes/stream`);
const next = () =>
    new Promise((resolve, reject) => {
        source.addEventListener("areas", resolve, { once: true });
        source.addEventListener("error", reject, { once: true });
    });

const state = JSON.parse((await next()).data);
assert(state.full);
const [area] = state.areas;
const setTo = (area.state % 4) + 1;
const changed = next();
const response = await fetch(`${base}/floods/${area.area_id}`, {
    method: "PUT",
    headers: { "Content-Type": "application/json", "X-Api-Key": key },
    body: JSON.stringify({ state: setTo }),
});
assert.equal(response.status, 200);
const change = JSON.parse((await changed).data);
assert(!change.full);
assert.deepEqual(change.areas.map((one) => one.state), [setTo]);
source.close();
