// The queue of batches of the desk.
import assert from "node:assert/strict";
import test from "node:test";
import { decide, settle } from "../../src/pages/desk/outcome.js";

const NOW = 1_000_000_000_000;
const change = (area_id, state = 2) => ({ area_id, state, after: null });
const order = { id: "first", decided: NOW - 6_000, due: NOW - 1_000, status: "held", note: "by telephone", changes: ["1", "2", "3"].map((id) => change(id)) };
const conflicts = [{ area_id: "2", state: 4, since: "2016-12-05T03:00:00Z", username: "Sri" }, { area_id: "3", state: null, since: "2016-12-05T03:01:00Z" }];
/** The remaining batches, without their identifiers. */
const left = (orders) => orders.map(({ status, due, changes }) => [status, due, changes.map(({ area_id, after }) => (after ? [area_id, after] : area_id))]);

test("a batch without a response of the service is sent again unchanged", () => {
  const responses = [null, ...[408, 429, 500, 502, 503].map((status) => ({ status, body: {} }))];
  for (const response of responses) assert.deepEqual(settle(order, response, NOW), { kept: [{ ...order, status: "lost", due: NOW + 5_000 }] });
});

test("a batch ends when the service has stored or rejected it, or ended the login", () => {
  assert.deepEqual(settle(order, { status: 200, body: { result: { batch: 7 } } }, NOW), { kept: [], result: { batch: 7 } });
  assert.deepEqual(settle(order, { status: 200, body: { hidden: [1] } }, NOW), { kept: [], result: { hidden: [1] } });
  assert.deepEqual(settle(order, { status: 400, body: { message: "no" } }, NOW), { kept: [], refused: order, why: "no" });
  assert.deepEqual(settle(order, { status: 412, body: {} }, NOW), { kept: [], refused: order, why: "412" });
  assert.deepEqual(settle(order, { status: 401, body: {} }, NOW), { kept: [{ ...order, status: "ended", why: undefined }] });
  assert.deepEqual(settle(order, { status: 403, body: { message: "no" } }, NOW), { kept: [{ ...order, status: "ended", why: "no" }] }, "the right may come back");
});

test("areas changed by two officers become a conflict, and the rest becomes a batch of its own", () => {
  const { kept } = settle(order, { status: 409, body: { conflicts } }, NOW);
  assert.deepEqual(left(kept), [["held", 0, ["1"]], ["conflict", order.due, ["2", "3"]]]);
  assert.equal(new Set([order, ...kept].map(({ id }) => id)).size, 3, "each body has an identifier of its own");
  assert.deepEqual(kept[1].conflicts, conflicts);
  const [conflict] = settle({ ...order, changes: order.changes.slice(1) }, { status: 409, body: { conflicts } }, NOW).kept;
  assert.equal(conflict.status, "conflict");
});

test("areas that no longer exist are rejected, and the rest is sent", () => {
  const { kept, refused, why } = settle(order, { status: 404, body: { unknown: ["1"] } }, NOW);
  assert.deepEqual([left(kept), refused.changes, why], [[["held", 0, ["2", "3"]]], [change("1")], "gone"]);
});

test("an officer accepts the states of the other officer or overwrites them", () => {
  const [, conflict] = settle(order, { status: 409, body: { conflicts } }, NOW).kept;
  assert.deepEqual(decide(conflict, ["2", "3"], false, NOW), []);
  const [open] = decide(conflict, ["2"], false, NOW);
  assert.deepEqual([open.id, left([open]), open.conflicts], [conflict.id, [["conflict", order.due, ["3"]]], [conflicts[1]]]);
  const [still, mine] = decide(conflict, ["2"], true, NOW);
  assert.deepEqual([left([still, mine]), mine.decided, mine.conflicts], [[["conflict", order.due, ["3"]], ["held", 0, [["2", conflicts[0].since]]]], NOW, undefined]);
  const [both] = decide(conflict, ["2", "3"], true, NOW);
  assert.deepEqual(left([both]), [["held", 0, [["2", conflicts[0].since], "3"]]], "a dry area has no time");
});

test("areas of others are taken out of a batch, and the rest is sent", () => {
  const { kept, refused, why } = settle(order, { status: 403, body: { outside: ["2", "3"] } }, NOW);
  assert.deepEqual([left(kept), refused.changes, why], [[["held", 0, ["1"]]], [change("2"), change("3")], "outside"]);
  const undo = { ...order, undo: 7 };
  assert.deepEqual(settle(undo, { status: 403, body: { outside: ["2"] } }, NOW), { kept: [], refused: { ...undo, changes: [change("2")] }, why: "outside" });
});
