// The orders of this browser that the service does not have yet: they are held for some seconds, sent, repeated while the network is
// away, and kept when the page is closed. What the service has is shown elsewhere; nothing here pretends to be stored.
import { settings } from "../map/words.js";

const HOLD = 5_000; // How long an order can be taken back before it is sent.
const RETRY = 5_000;
const OLD = 900_000; // Older decisions are sent only after the officer has confirmed them.
const TIMEOUT = 20_000;

const PREFIX = `siaga desk ${settings.subject} `;
const thisTab = crypto.randomUUID();
const lockOf = (id) => `siaga desk tab ${id}`;
navigator.locks?.request(lockOf(thisTab), () => new Promise(() => {})); // Held until the page is closed.

/**
 * Sends a request of the desk. Returns the status and the body; throws if there is no response, or only that of a portal or a proxy, which
 * lacks the mark of the service.
 */
export const send = async (method, path, body, key) => {
  const headers = { "Content-Type": "application/json", "X-Desk-Token": settings.token };
  if (key) headers["Idempotency-Key"] = key;
  const signal = AbortSignal.timeout(TIMEOUT);
  const response = await fetch(path, { method, headers, body: body && JSON.stringify(body), redirect: "manual", signal });
  if (!response.headers.has("Siaga-Version")) throw new Error(`${path}: not a response of the service`);
  return [response.status, await response.json()];
};

/**
 * Makes the outbox. `show(orders)` is called when something has changed, `done(order, result)` when the service has stored an order,
 * `refused(order, text)` when it never will.
 *
 * An order has `id` (a new one for each body that is sent), `decided` (milliseconds), `changes` with `area_id`, `state` and `after`, `note`
 * and `status`: "held" until it is `due`, "sending", "lost" (there was no response), "ended" (the login has ended), "found" (a closed page
 * left it, or it has become old: it is sent when the officer confirms it), "conflict" (with `conflicts`). One that undoes a batch has its
 * number as `undo`; its `changes` have the areas alone.
 */
export const outbox = ({ show, done, refused }) => {
  const orders = new Map();

  const keep = (order) => {
    orders.set(order.id, order);
    try {
      localStorage.setItem(PREFIX + order.id, JSON.stringify({ ...order, tab: thisTab }));
    } catch {} // The browser may forbid it: then the order lives as long as the page.
  };
  const forget = (id) => {
    orders.delete(id);
    try {
      localStorage.removeItem(PREFIX + id);
    } catch {}
  };
  const changed = () => show([...orders.values()]);
  const bodyOf = ({ changes, note }) => ({ changes: changes.map(({ area_id, state, after }) => ({ area_id, state, after })), ...(note ? { note } : {}) });

  const put = (order) => {
    keep(order);
    changed();
    return order;
  };
  /** Splits an order into what can be sent at once and the rest, because the service stores all of an order or nothing. */
  const split = (order, isLeft) => {
    forget(order.id);
    const [left, rest] = [order.changes.filter(isLeft), order.changes.filter((of) => !isLeft(of))];
    if (rest.length) dispatch({ ...order, id: crypto.randomUUID(), changes: rest });
    return left;
  };

  const dispatch = async (order) => {
    put({ ...order, status: "sending" });
    let response;
    try {
      response = order.undo
        ? await send("POST", `/desk/changes/${order.undo}/undo`, undefined, order.id)
        : await send("POST", "/desk/changes", bodyOf(order), order.id);
    } catch {
      put({ ...order, status: "lost", due: Date.now() + RETRY });
      return;
    }
    const [status, body] = response;
    if (status === 200) {
      forget(order.id);
      done(order, body.result);
    } else if (status === 409 && body.conflicts) {
      const theirs = new Map(body.conflicts.map((conflict) => [conflict.area_id, conflict]));
      const changes = split(order, ({ area_id }) => theirs.has(area_id));
      put({ ...order, id: crypto.randomUUID(), changes, status: "conflict", conflicts: [...theirs.values()] });
    } else if (status === 404 && body.unknown) {
      const gone = split(order, ({ area_id }) => body.unknown.includes(area_id));
      refused({ ...order, changes: gone }, "gone");
    } else if (status === 403 || status === 401) {
      put({ ...order, status: "ended" });
    } else if (status === 408 || status === 429 || status >= 500) {
      put({ ...order, status: "lost", due: Date.now() + RETRY });
    } else {
      forget(order.id);
      refused(order, body.message ?? `${status}`);
    }
    changed();
  };

  const tick = () => {
    const now = Date.now();
    for (const order of orders.values()) {
      if (order.status === "lost" && now - order.decided > OLD) put({ ...order, status: "found" });
      else if (["held", "lost"].includes(order.status) && order.due <= now) dispatch(order);
    }
    if ([...orders.values()].some(({ status }) => status === "held")) changed();
  };
  setInterval(tick, 250);
  addEventListener("online", () => {
    for (const order of orders.values()) if (order.status === "lost") put({ ...order, due: Date.now() });
  });
  addEventListener("beforeunload", (event) => {
    if (orders.size) event.preventDefault();
  });

  const kept = () => {
    try {
      return Object.keys(localStorage).filter((key) => key.startsWith(PREFIX)).map((key) => JSON.parse(localStorage.getItem(key)));
    } catch {
      return [];
    }
  };
  /** Takes over the orders of a page that is closed. */
  const adopt = (other) => {
    for (const order of kept()) if (order.tab === other) keep({ ...order, status: order.status === "conflict" ? "conflict" : "found" });
    changed();
  };
  const watched = new Set([thisTab]);
  /** Waits until other pages are closed: then their locks are free. */
  const watch = () => {
    for (const { tab: other } of kept()) {
      if (watched.has(other)) continue;
      watched.add(other);
      navigator.locks ? navigator.locks.request(lockOf(other), () => adopt(other)) : adopt(other);
    }
  };
  addEventListener("storage", watch);
  watch();

  return {
    /** Holds an order, and sends it when it was not taken back. */
    add: (order) => put({ ...order, id: crypto.randomUUID(), decided: Date.now(), due: Date.now() + HOLD, status: "held" }),
    /** Forgets an order that is not being sent: this one, or the last that is held. Returns the order, or `null` if there is none. */
    takeBack: (id) => {
      const order = orders.get(id) ?? [...orders.values()].filter(({ status }) => status === "held").at(-1);
      if (!order || order.status === "sending") return null;
      forget(order.id);
      changed();
      return order;
    },
    /** Sends an order at once, as a decision of now. */
    confirm: (id) => {
      const order = orders.get(id);
      if (order && order.status !== "sending") dispatch({ ...order, decided: Date.now() });
    },
    /** Ends the conflict about some areas: the other officer's states stay, or one's own are set although the others are known. */
    settle: (id, ids, isMine) => {
      const order = orders.get(id);
      if (!order) return;
      const left = order.conflicts.filter(({ area_id }) => !ids.includes(area_id));
      const mine = order.conflicts.filter(({ area_id }) => isMine && ids.includes(area_id));
      const seen = new Map(mine.map(({ area_id, state, since }) => [area_id, state ? since : null]));
      const changes = order.changes.filter(({ area_id }) => seen.has(area_id)).map((of) => ({ ...of, after: seen.get(of.area_id) }));
      const rest = order.changes.filter(({ area_id }) => left.some((of) => of.area_id === area_id));
      if (rest.length) keep({ ...order, changes: rest, conflicts: left });
      else forget(id);
      if (changes.length) dispatch({ ...order, id: crypto.randomUUID(), changes, conflicts: undefined, decided: Date.now() });
      changed();
    },
    /** Returns what an order would do. */
    preview: async (order) => {
      const [status, body] = await send("POST", "/desk/changes", { ...bodyOf(order), preview: true });
      return status === 200 ? body.result.alerts : null;
    },
    get size() {
      return orders.size;
    },
  };
};
