// Responses, timeouts and failures of requests.
import assert from "node:assert/strict";
import test from "node:test";
import { get, isOwn, once, request } from "../../src/pages/request.js";

const PORTAL = new Response("<html>Log in</html>", { status: 200, headers: { "Content-Type": "text/html" } });
const respond = (...response) => (globalThis.fetch = async () => response[0] instanceof Response ? response[0].clone() : new Response(...response));

test("only a response with the header of the service is its own, and only JSON is a body", async () => {
  respond('{"result":1}', { headers: { "Siaga-Version": "1" } });
  const own = await request("/");
  assert.deepEqual([own.status, own.body, isOwn(own)], [200, { result: 1 }, true]);
  respond(PORTAL);
  const portal = await request("/");
  assert.deepEqual([portal.status, portal.body, isOwn(portal)], [200, null, false]);
});

test("a read fails unless its response is 200 with JSON", async () => {
  respond('{"result":1}');
  assert.deepEqual((await get("/")).body, { result: 1 });
  respond(PORTAL);
  await assert.rejects(get("/"), { status: 200 });
  respond('{"message":"no"}', { status: 404 });
  await assert.rejects(get("/"), { status: 404 });
});

test("a request ends by its timeout, its own signal, or the network", async () => {
  // The timer of such a signal alone does not keep node running.
  const running = setInterval(() => {}, 1_000);
  globalThis.fetch = (_, { signal }) => new Promise((_, failed) => signal.addEventListener("abort", () => failed(signal.reason)));
  await assert.rejects(request("/", { timeout: 5 }), { name: "TimeoutError" });
  clearInterval(running);
  const end = new AbortController();
  const asking = request("/", { signal: end.signal });
  end.abort();
  await assert.rejects(asking, { name: "AbortError" });
  const { timeout } = AbortSignal;
  AbortSignal.timeout = undefined;
  respond("{}");
  assert.equal((await request("/", { timeout: 5 })).status, 200, "of an older browser");
  AbortSignal.timeout = timeout;
});

test("a resource loaded once is loaded again only after a failure", async () => {
  let loads = 0;
  const load = async () => {
    loads += 1;
    if (loads === 1) throw new Error("no network");
    return loads;
  };
  await assert.rejects(once("a", load), /no network/);
  assert.deepEqual(await Promise.all([once("a", load), once("a", load)]), [2, 2]);
});
