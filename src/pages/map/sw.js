// Keeps the page and the last public data for an hour, so that the map opens without a network. The network always comes first.
const HOUR = 3_600_000;
// How many responses are kept.
const MOST = 120;
const KEPT = "Siaga-Kept";
const base = new URL(location).searchParams.get("base");
// Not the place of the reader, and nothing that says how current the data is.
const data = ["areas", "basemap", "floodgauges", "floods", "infrastructure/pumps", "infrastructure/floodgates", "reports"].map((name) => `${base}/${name}`);
const isKept = ({ origin, pathname }) => origin === location.origin && (pathname === "/map" || pathname.startsWith("/map/") || data.includes(pathname));
const opened = () => caches.open("map");
const keptAt = (response) => Number(response.headers.get(KEPT));

/** Keeps a response with the time. */
const keep = async (request, response) => {
  const headers = new Headers(response.headers);
  headers.set(KEPT, Date.now());
  // The body is decoded already.
  headers.delete("Content-Encoding");
  await (await opened()).put(request, new Response(await response.blob(), { headers }));
};
/** Forgets what is too old, and the oldest of what is too much. */
const tidy = async () => {
  const cache = await opened();
  const all = await Promise.all((await cache.keys()).map(async (request) => [request, keptAt(await cache.match(request, { ignoreVary: true }))]));
  all.sort(([, one], [, other]) => other - one);
  await Promise.all(all.filter(([, at], index) => index >= MOST || Date.now() - at > HOUR).map(([request]) => cache.delete(request)));
};
/** Returns a page that says since when it is kept. */
const dated = async (response) => {
  const text = (await response.text()).replace("<body ", `<body data-kept="${keptAt(response)}" `);
  return new Response(text, { headers: response.headers });
};

const fetched = async (event) => {
  const { request } = event;
  try {
    const response = await fetch(request);
    if (response.ok) event.waitUntil(keep(request, response.clone()).then(request.mode === "navigate" ? tidy : undefined));
    return response;
  } catch (error) {
    const kept = await (await opened()).match(request, { ignoreVary: true });
    if (!kept || Date.now() - keptAt(kept) > HOUR) throw error;
    return request.mode === "navigate" ? dated(kept) : kept;
  }
};

addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("fetch", (event) => {
  if (event.request.method === "GET" && isKept(new URL(event.request.url))) event.respondWith(fetched(event));
});
// What a page loaded before it had this worker.
addEventListener("message", (event) => {
  const load = async (address) => {
    const response = await fetch(address);
    if (response.ok) await keep(address, response);
  };
  event.waitUntil(Promise.allSettled(event.data.filter((address) => isKept(new URL(address))).map(load)));
});
