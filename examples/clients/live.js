// Keeps the flood states of a Siaga service current in all tabs of a browser by one stream. No dependencies.
//
//   import { live } from "./live.js";
//   const stop = live("https://flood.example/v1", { states: (states) => draw(states.values()) });
//
// One visible tab holds the stream, by a Web Lock, and passes the changes on to the others by a BroadcastChannel. A tab that is
// hidden gives the lock up, so there is no stream while all tabs are hidden. Without Web Locks (they need HTTPS or localhost)
// each visible tab has its own stream. While there is no stream, the tab that holds the lock polls.

const POLL = 60_000;
// How long to wait for a service that is away.
const AWAY = 10_000;
const RESOURCES = ["reports", "gauges", "infrastructure", "areas"];

/**
 * Follows a service until the returned function is called.
 *
 * @param base its base address, such as "https://flood.example/v1"
 * @param states is called with a Map from area_id to { area_id, state, last_updated, flooded_since, confirmed } whenever a state may
 *   have changed, and with a Map from area_id to the time when the flood there was over
 * @param start a cursor and the areas that it is about, as in /changes, if the page has them already
 * @param stale is called with the time until which the states are known to be current, when the service cannot read its data any
 *   more, and with null when they are current again
 * @param connected is called with whether this tab has a stream, if it is the one that holds it: with false after 10 seconds without
 * @param changed is called with the names of the other resources that may have changed: request them again
 * @param select `city`, `admin` and `minimum_state`, as for /floods
 */
export function live(base, { states: show, stale: doubt = (_) => {}, connected: tell = (_) => {}, changed: renew = (_) => {}, select = {}, start = { cursor: null, areas: [] } }) {
  const name = `siaga ${base}?${new URLSearchParams(select)}`;
  const channel = navigator.locks && new BroadcastChannel(name);
  const [known, over] = [new Map(), new Map()];
  const put = (area) => {
    const { area_id, state, over_since } = area;
    state ? known.set(area_id, area) : known.delete(area_id);
    !state && over_since ? over.set(area_id, over_since) : over.delete(area_id);
  };
  start.areas.forEach(put);
  let { cursor } = start; // null: nothing is known yet; "": the states come from polling.
  // Until when the states are known to be current, while the service cannot read its data.
  let since = null;
  let attempt, leading = false;

  const address = (path, more) => `${base}${path}?${new URLSearchParams({ ...select, ...more })}`;
  const everything = () => ({ since: cursor, cursor, full: true, areas: [...known.values(), ...[...over].map(([area_id, over_since]) => ({ area_id, state: null, over_since }))], changed: [], stale: since });

  const take = ({ cursor: next, full, areas, changed, stale = null }) => {
    if (full) for (const all of [known, over]) all.clear();
    areas.forEach(put);
    cursor = next;
    if (full || areas.length) show(known, over);
    if (stale !== since) doubt((since = stale));
    if (changed.length) renew(changed);
  };
  const pass = (delta) => {
    channel?.postMessage({ ...delta, since: cursor });
    take(delta);
  };
  const hear = ({ data }) => {
    if (leading || "asks" in data) {
      if (leading && "asks" in data && data.asks !== cursor) channel.postMessage(everything());
    } else if (data.since === cursor) {
      take(data);
    } else if (data.full) {
      take({ ...data, changed: RESOURCES });
    } else {
      // This tab has missed something, for example while it was frozen.
      channel.postMessage({ asks: cursor });
    }
  };

  const lead = (signal) =>
    new Promise((end) => {
      let source, timer, silence;
      const poll = async () => {
        let pause = POLL;
        try {
          const response = await fetch(address("/floods/states"), { cache: "no-cache", signal });
          if ([502, 504].includes(response.status)) pause = AWAY;
          const { result } = await response.json();
          const stale = response.headers.get("Siaga-Stale-Since");
          // Without a cursor the next stream begins with everything.
          if (response.ok && !signal.aborted) pass({ cursor: "", full: true, areas: result, changed: RESOURCES, stale });
        } catch (error) {
          // There was no response.
          if (error instanceof TypeError) pause = AWAY;
          if (!signal.aborted) console.warn(`${base}: ${error.message}`);
        }
        if (!signal.aborted) timer = setTimeout(open, pause * (0.9 + Math.random() / 5));
      };
      const open = () => {
        source = new EventSource(address("/changes/stream", cursor && { since: cursor }));
        source.addEventListener("areas", ({ data }) => pass({ ...JSON.parse(data), changed: [] }));
        source.addEventListener("stale", ({ data }) =>
          pass({ cursor, areas: [], changed: [], stale: JSON.parse(data).stale_since }));
        source.addEventListener("changed", ({ data, lastEventId }) =>
          pass({ cursor: lastEventId || cursor, areas: [], changed: JSON.parse(data) }));
        source.onopen = () => {
          clearTimeout(silence);
          silence = undefined;
          tell(true);
        };
        source.onerror = () => {
          silence ??= setTimeout(() => tell(false), 10_000);
          // The browser connects again by itself, except after 204, 429, 503 and other refusals.
          if (source.readyState === EventSource.CLOSED) poll();
        };
      };
      signal.addEventListener("abort", () => {
        leading = false;
        source.close();
        clearTimeout(timer);
        clearTimeout(silence);
        end();
      });
      leading = true;
      if (cursor !== null) channel?.postMessage(everything());
      open();
    });

  const begin = () => {
    attempt?.abort();
    attempt = new AbortController();
    const { signal } = attempt;
    if (document.hidden) return;
    if (!channel) return lead(signal);
    channel.postMessage({ asks: cursor });
    // A request that is aborted while it waits is no failure.
    navigator.locks.request(name, { signal }, () => signal.aborted || lead(signal)).catch(() => {});
  };
  channel?.addEventListener("message", hear);
  document.addEventListener("visibilitychange", begin);
  addEventListener("online", begin);
  begin();
  return () => {
    document.removeEventListener("visibilitychange", begin);
    removeEventListener("online", begin);
    attempt.abort();
    channel?.close();
  };
}
