// The outbox: order, retries and removal.
import assert from "node:assert/strict";
import test from "node:test";
import { outbox } from "../../src/pages/outbox.js";

/** An outbox of some entries, which respond 200 if `isThere`. */
const made = (...names) => {
  const of = { entries: new Map(names.map((name) => [name, { name, next: 0 }])), sent: [], isThere: true, during: () => {} };
  const box = outbox({
    key: "name",
    all: async () => [...of.entries.values()],
    isDue: ({ next }, now, isForced) => isForced || next <= now,
    send: async ({ name }) => {
      of.sent.push(name);
      of.during(name);
      if (!of.isThere) throw new TypeError("no network");
      return { status: 200 };
    },
    settle: (entry, response, now) => ({ kept: response ? [] : [{ ...entry, next: now + 60_000 }], name: entry.name }),
    take: ({ name }, { kept }) => {
      of.entries.delete(name);
      for (const entry of kept) of.entries.set(entry.name, entry);
    },
  });
  return Object.assign(of, box);
};

test("entries are sent in order and removed once stored", async () => {
  const box = made("a", "b");
  assert.deepEqual(await box.flush(), [{ kept: [], name: "a" }, { kept: [], name: "b" }]);
  assert.deepEqual([box.sent, box.entries.size], [["a", "b"], 0]);
});

test("entries without a response stay, and wait for their next attempt or the network", async () => {
  const box = made("a", "b");
  box.isThere = false;
  await box.flush();
  await box.flush();
  assert.deepEqual([box.sent, [...box.entries.keys()]], [["a", "b"], ["a", "b"]]);
  await box.flush(true);
  assert.deepEqual([box.sent.length, box.entries.size], [4, 2], "each is tried once");
  box.isThere = true;
  await box.flush(true);
  assert.equal(box.entries.size, 0);
});

test("entries withdrawn, or sent by another page, while another entry is sent are not sent", async () => {
  const box = made("a", "b", "c");
  box.during = (name) => name === "a" && box.entries.delete("b");
  await box.flush();
  assert.deepEqual(box.sent, ["a", "c"]);
});

test("an entry that a person sends is sent at once, due or not", async () => {
  const box = made("a");
  const entry = { name: "a", next: Infinity };
  assert.deepEqual(await box.post(entry), { kept: [], name: "a" });
});
