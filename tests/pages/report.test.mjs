// A queued report, by the response to it.
import assert from "node:assert/strict";
import { WEEK, isOld, isWaiting, newToken, settle, withoutLink } from "../../src/pages/report/waiting.js";

const NOW = 1_000_000_000_000;
const report = { key: "a", address: "http://127.0.0.1/report?lang=en", fields: [["text", "x"]], photo: null, created: NOW - 1000 };
const own = { statusCode: 200, cardId: "abcdefg", created: true, waits: false, photo: "none", thanks: "/report/abcdefg/thanks?lang=en&token=1" };
const again = { ...own, created: false, waits: null };
const stateOf = (response, of = report) => {
  const { kept: [kept], thanks } = settle(of, response, NOW);
  assert.equal(Boolean(kept), !thanks, "a report is kept until it has arrived");
  return kept ? kept.state ?? "waits" : "sent";
};

for (const [state, response, of] of [
  ["sent", { status: 200, body: own }],
  ["sent", { status: 200, body: again }],
  ["sent", { status: 200, body: { ...again, photo: "stored" } }, { ...report, photo: "blob" }],
  ["sent", { status: 200, body: { ...again, photo: "refused" } }, { ...report, photo: "blob" }],
  ["waits", { status: 200, body: again }, { ...report, photo: "blob" }],
  ["sent", { status: 200, body: own }, { ...report, replaces: true }],
  ["used", { status: 200, body: again }, { ...report, replaces: true }],
  ["refused", { status: 400, body: { statusCode: 400, faults: { text: "Too long." } } }],
  ["expired", { status: 404, body: { statusCode: 404, expired: true, message: "" } }],
  // From a portal, a proxy or a firewall; from the service, when it cannot accept the report now.
  ["waits", null],
  ["waits", { status: 0, body: null }],
  ...[200, 204, 302, 400, 401, 403, 404, 405, 409, 410, 413, 415, 418, 422, 429, 451, 500, 502, 503, 511].flatMap((status) => [
    ["waits", { status, body: null }],
    ["waits", { status, body: {} }],
    ["waits", { status, body: "ok" }],
    ["waits", { status, body: { statusCode: status, message: "no" } }],
    ["waits", { status, body: { cardId: "abcdefg" } }],
  ]),
  ["waits", { status: 200, body: { ...own, thanks: "https://portal.example/" } }],
  ["waits", { status: 200, body: { ...own, thanks: "//portal.example/report/" } }],
  ["waits", { status: 200, body: { ...own, cardId: undefined } }],
  ["waits", { status: 404, body: own }],
  ["waits", { status: 403, body: { statusCode: 403, faults: { text: "no" } } }],
]) assert.equal(stateOf(response, of), state, JSON.stringify(response));

// Pauses grow, and a longer Retry-After is respected.
let kept = report;
const pauses = Array.from({ length: 7 }, () => {
  [kept] = settle(kept, null, NOW).kept;
  return (kept.next - NOW) / 1000;
});
assert.deepEqual(pauses, [30, 60, 120, 240, 480, 600, 600]);
for (const [wanted, pause] of [["90", 90_000], ["999999999", 600_000], ["Wed, 21 Oct 2026 07:28:00 GMT", 30_000]]) {
  const [{ next }] = settle(report, { status: 503, body: null, headers: new Headers({ "Retry-After": wanted }) }, NOW).kept;
  assert.equal(next - NOW, pause);
}
assert.ok(isWaiting(kept));

// After a week the page asks. Entries of earlier versions were to end after a day.
assert.ok(!isOld(report, report.created + WEEK - 1) && isOld(report, report.created + WEEK));
assert.ok(!isOld({ ...report, until: report.created + 86_400_000 }, report.created + WEEK - 1));
assert.ok(!isOld({ ...report, until: report.created + 2 * WEEK }, report.created + WEEK));
assert.ok(!isOld({ ...report, state: "refused" }, NOW + 10 * WEEK));

const token = newToken();
assert.match(token, /^[0-9a-f]{32}$/);
const linked = { ...report, key: "abcdefg", address: "http://127.0.0.1/report/abcdefg?lang=id", fields: [["token", "of the link"], ["text", "x"]], photo: "blob", state: "expired", tries: 3 };
assert.deepEqual(withoutLink(linked, token), { key: token, address: "http://127.0.0.1/report?lang=id", fields: [["text", "x"], ["token", token]], photo: "blob", created: report.created });
