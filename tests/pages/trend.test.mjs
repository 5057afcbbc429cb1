// When the map may say that a flood is worse or better than before.
import assert from "node:assert/strict";
import test from "node:test";
import { areaTrend, pageTrend } from "../../src/pages/map/trend.js";

const MINUTE = 60_000;
const NOW = Date.UTC(2026, 5, 1, 5);
const THEN = NOW - 60 * MINUTE;
const past = (then, more = {}) => ({ at: THEN, until: NOW, logged: true, then, corrected: [], ...more });
const calm = { floods: "now", now: NOW, watch: "heard" };
/** An area that was set to a state some minutes ago. */
const set = (state, minutes) => ({ state, last_updated: NOW - minutes * MINUTE, confirmed: NOW - minutes * MINUTE });
const over = (minutes) => ({ over_since: NOW - minutes * MINUTE });
const undone = (state) => ({ ...set(state, 20), confirmed: NOW - 90 * MINUTE });

for (const [name, area, then, expected] of [
  ["deeper water is worse", set(4, 20), 2, "worse"],
  ["a new flood is worse, at any depth", set(1, 20), undefined, "worse"],
  ["shallower water is better", set(2, 20), 3, "better"],
  ["a flood that is over is better", over(20), 1, "better"],
  ["an equal state that was confirmed since is the same", set(3, 20), 3, "same"],
  ["an equal state that nobody has confirmed since is not the same", set(3, 61), 3, undefined],
  ["an unknown depth is neither worse nor better than a known one", set(1, 20), 3, undefined],
  ["a known depth is neither worse nor better than an unknown one", set(3, 20), 1, undefined],
  ["a dry area that was dry has no trend", over(90), undefined, undefined],
  ["a flood that is over is not better where residents report one", { ...over(20), reports: 1 }, 3, undefined],
  ["an undone setting has not made the water fall", undone(2), 4, undefined],
  ["an undone first setting has not ended a flood", {}, 4, undefined],
  ["an undone setting has not ended a flood again", over(90), 4, undefined],
  ["a change after the past was read may follow an undo", set(4, -1), 2, undefined],
]) {
  test(name, () => assert.equal(areaTrend(calm, { id: "5", ...area }, past({ 5: then })), expected));
}

test("an undo that was confirmed since corrects the past", () => {
  assert.equal(areaTrend(calm, { id: "5", ...set(3, 10) }, past({ 5: 4 }, { corrected: ["5"] })), undefined);
  assert.deepEqual(pageTrend(calm, [{ id: "5", ...set(3, 10) }], past({ 5: 4 }, { corrected: ["7"] })), {});
});

test("without a log of an hour nothing is compared", () => {
  assert.equal(areaTrend(calm, { id: "5", ...set(3, 10) }, past({}, { logged: false })), undefined);
  assert.deepEqual(pageTrend(calm, [{ id: "5", ...set(3, 10) }], past({}, { logged: false })), {});
});

for (const [name, situation] of [
  ...["stale", "lost", "unread", "hour"].map((floods) => [`the states are not those of now: ${floods}`, { ...calm, floods }]),
  ...["silent", "never"].map((watch) => [`a source is not heard: ${watch}`, { ...calm, watch }]),
]) {
  test(`nothing is compared if ${name}`, () => {
    assert.equal(areaTrend(situation, { id: "5", ...set(4, 20) }, past({ 5: 2 })), undefined);
    assert.deepEqual(pageTrend(situation, [{ id: "5", ...set(4, 20) }], past({ 5: 2 })), {});
  });
}

for (const [name, areas, then, expected] of [
  ["more flooded areas are worse, even if others have fallen", [set(2, 20), set(2, 20)], [4], { trend: "worse", isCounted: true }],
  ["fewer flooded areas are better", [set(2, 20), over(20)], [2, 1], { trend: "better", isCounted: true }],
  ["fewer flooded areas that are deeper are not better", [set(4, 20), over(20)], [2, 1], {}],
  ["a flood that is over does not outweigh one that is deeper", [set(4, 20), over(20), over(20)], [2, 3, 3], {}],
  ["fewer flooded areas are not better where residents report a flood", [set(2, 20), { ...over(20), reports: 2 }], [2, 1], {}],
  ["as many that are deeper on the whole are worse", [set(4, 20), set(2, 20)], [2, 3], { trend: "worse", isCounted: false }],
  ["as many that are equal each are the same", [set(3, 20), set(2, 20)], [3, 2], { trend: "same", isCounted: false }],
  ["as many that are equal on the whole are not the same", [set(3, 20), set(2, 20)], [2, 3], {}],
  ["a change after the past was read may follow an undo", [set(2, -1), set(2, 20)], [4, 3], {}],
  ["as many with an unknown depth cannot be compared", [set(1, 20), set(4, 20)], [2, 3], { trend: undefined, isCounted: false }],
  ["one area that nobody has confirmed since prevents the same", [set(3, 20), set(3, 61)], [3, 3], {}],
  ["one area that nobody has confirmed since does not prevent worse", [set(3, 20), set(3, 61)], [undefined, 3], { trend: "worse", isCounted: true }],
  ["an undo prevents all", [undone(2), set(3, 20)], [4], {}],
  ["without a flood, now and then, nothing is said", [], [], {}],
]) {
  test(`of all areas: ${name}`, () => assert.deepEqual(pageTrend(calm, areas.map((area, id) => ({ id: `${id}`, ...area })), past({ ...then })), expected));
}
