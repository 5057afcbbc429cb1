// Caches the page and the last public data for an hour, so that the map opens offline. Requests go to the network first. The worker uses a
// cached response if the network fails, does not respond for some seconds, or returns a response that is not from the service.
import { inTime, inTurn, optionsOf, store } from "./subscription.js";

const HOUR = 3_600_000;
// The time that a request waits for the service if there is a cached response.
const SILENCE = 5_000;
// The time that further requests wait while the service does not respond. It is short, because a page needs several requests.
const LEAST = 500;
// The time limit of a late response, because browsers have few connections.
const LATE = 60_000;
// The maximum number of cached responses.
const MOST = 120;
const KEPT = "Siaga-Kept";
const base = new URL(location.href).searchParams.get("base");
// The cached data. It never includes the reader's location, data about freshness, and reports, which may be hidden.
const data = ["areas", "basemap", "floodgauges", "floods", "infrastructure/pumps", "infrastructure/floodgates"].map((name) => `${base}/${name}`);
const isKept = ({ origin, pathname }) => origin === location.origin && (pathname === "/map" || pathname.startsWith("/map/") || data.includes(pathname));
const opened = () => caches.open("map");
const keptAt = ({ headers }) => Date.parse(headers.get(KEPT)) || 0;
/** Whether the service has sent a response, not a proxy or the login page of a network. */
const isOurs = ({ headers }) => headers.has("Siaga-Version");
const isUsable = (response) => isOurs(response) && response.status < 500 && response.status !== 429;
const mayKeep = (response) => isOurs(response) && response.status === 200 && !/no-store/i.test(response.headers.get("Cache-Control"));

/** Caches a response with the time at which it was current. */
const keep = async (request, response) => {
  const headers = new Headers(response.headers);
  headers.set(KEPT, headers.get("Siaga-Stale-Since") ?? new Date().toISOString());
  // Removes the header, because the body is already decoded.
  headers.delete("Content-Encoding");
  await (await opened()).put(request, new Response(await response.blob(), { headers }));
};
/** Returns the cached response to a request, if it is not too old. */
const keptFor = async (request) => {
  const kept = await (await opened()).match(request, { ignoreVary: true });
  return kept && isOurs(kept) && Date.now() - keptAt(kept) < HOUR ? kept : undefined;
};
/** Evicts responses that are too old or not the service's, then the oldest beyond the limit. */
const tidy = async () => {
  const cache = await opened();
  const ageOf = async (request) => {
    const kept = await cache.match(request, { ignoreVary: true });
    return [request, kept && isOurs(kept) ? keptAt(kept) : 0];
  };
  const all = await Promise.all((await cache.keys()).map(ageOf));
  all.sort(([, one], [, other]) => other - one);
  await Promise.all(all.filter(([, at], index) => index >= MOST || Date.now() - at > HOUR).map(([request]) => cache.delete(request)));
};
/** Returns a page that shows since when it is cached. */
const dated = async (response) => {
  const text = (await response.text()).replace("<body ", `<body data-kept="${response.headers.get(KEPT)}" `);
  return new Response(text, { headers: response.headers });
};

// When each pending request was sent, and when the network last responded.
const waiting = new Map();
let heard = 0;
const hear = ({ headers }) => {
  // Ignores responses that the browser may have in its own cache.
  if (!/max-age=[1-9]/.test(headers.get("Cache-Control"))) heard = Date.now();
};
const respond = async (event) => {
  const { request, clientId, resultingClientId } = event;
  const isPage = request.mode === "navigate";
  waiting.set(event, Date.now());
  const end = new AbortController();
  const timer = setTimeout(() => end.abort(), LATE);
  request.signal.addEventListener("abort", () => end.abort());
  const network = isPage ? fetch(request) : fetch(request, { signal: end.signal });
  network.then(hear, () => {}).finally(() => {
    clearTimeout(timer);
    waiting.delete(event);
  });
  const own = network.then((response) => {
    if (mayKeep(response)) event.waitUntil(keep(request, response.clone()).then(isPage ? tidy : undefined));
    return isUsable(response) ? response : undefined;
  }, () => undefined);
  // The browser may block storage.
  const kept = await keptFor(request).catch(() => undefined);
  if (!kept) return network;
  const since = Math.max(heard, Math.min(Date.now(), ...waiting.values()));
  const pause = new Promise((resolve) => setTimeout(resolve, Math.max(LEAST, since + SILENCE - Date.now())));
  const first = await Promise.race([own, pause]);
  if (first) return first;
  // Sends a late response to the page, which applies late data, and notifies the reader of a late page.
  const tell = async (response) => {
    if (!response?.ok || !(isPage || data.includes(new URL(request.url).pathname))) return;
    const page = await clients.get(resultingClientId || clientId);
    page?.postMessage({ address: request.url, body: isPage ? null : await response.json() });
  };
  event.waitUntil(own.then(tell));
  return isPage ? dated(kept) : kept;
};

addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("fetch", (event) => {
  if (event.request.method === "GET" && isKept(new URL(event.request.url))) event.respondWith(respond(event));
});
// Messages of the service. A message that says the same as the shown one does not ring again.
const LATE_AFTER = 1_800_000;
addEventListener("push", (event) => {
  const { title, body, at, late, url, tag } = event.data.json();
  const text = Date.now() - Date.parse(at) > LATE_AFTER ? `${body}\n${late}` : body;
  const show = async () => {
    const [shown] = await self.registration.getNotifications({ tag });
    const renotify = shown?.title !== title || shown.body !== text;
    await self.registration.showNotification(title, { body: text, tag, renotify, timestamp: Date.parse(at), data: { url }, icon: "/map/icon-192.png", badge: "/map/icon-192.png" });
  };
  event.waitUntil(show());
});
addEventListener("notificationclick", (event) => {
  event.notification.close();
  const address = new URL(event.notification.data.url, location.origin);
  const open = async () => {
    const all = await clients.matchAll({ type: "window" });
    const page = all.find(({ url }) => new URL(url).pathname === "/map");
    if (!page) return clients.openWindow(address);
    await page.focus().catch(() => {});
    return page.navigate(address);
  };
  event.waitUntil(open());
});
// The browser has replaced the subscription: the service needs the new one. If this fails, the page does it when it is opened.
addEventListener("pushsubscriptionchange", (event) => {
  const replace = async (own) => {
    if (!own) return;
    await store(base, own, event.newSubscription ?? await inTime(self.registration.pushManager.subscribe(await optionsOf(base))));
  };
  event.waitUntil(inTurn(replace));
});
// Caches resources that a page loaded before this worker was active.
addEventListener("message", (event) => {
  const load = async (address) => {
    const response = await fetch(address);
    if (mayKeep(response)) await keep(address, response);
  };
  event.waitUntil(Promise.allSettled(event.data.filter((address) => isKept(new URL(address))).map(load)));
});
