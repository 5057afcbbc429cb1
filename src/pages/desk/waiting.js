// The orders of this browser that the service does not have yet: they are held for some seconds, sent, repeated while the network is
// away, and kept when the page is closed. What the service has is shown elsewhere; nothing here pretends to be stored.
import { outbox } from "../outbox.js";
import { isOwn, request } from "../request.js";
import { attempt, settings } from "../map/words.js";
import { decide, settle } from "./outcome.js";

const HOLD = 5_000; // How long an order can be taken back before it is sent.
const OLD = 900_000; // Older decisions are sent only after the officer has confirmed them.
const TIMEOUT = 20_000;

const PREFIX = `siaga desk ${settings.subject} `;
const thisTab = crypto.randomUUID();
const lockOf = (id) => `siaga desk tab ${id}`;
navigator.locks?.request(lockOf(thisTab), () => new Promise(() => {})); // Held until the page is closed.

/** Sends a request of the desk. Throws if there is no response, or only that of a portal or a proxy. */
export const send = async (method, path, body = undefined, key = "") => {
  const headers = { "Content-Type": "application/json", "X-Desk-Token": settings.token, ...(key ? { "Idempotency-Key": key } : {}) };
  const response = await request(path, { method, headers, body: body && JSON.stringify(body), redirect: "manual", timeout: TIMEOUT });
  if (!isOwn(response) || !response.body) throw new Error(`${path}: not a response of the service`);
  return response;
};

const bodyOf = ({ changes, note }) => ({ changes: changes.map(({ area_id, state, after }) => ({ area_id, state, after })), ...(note ? { note } : {}) });
const sendOrder = (order) => {
  if (order.undo) return send("POST", `/desk/changes/${order.undo}/undo`, undefined, order.id);
  if (order.hide) return send("POST", `/desk/reports/waiting/${order.hide}/hide`, { reason: order.reason });
  return send("POST", "/desk/changes", bodyOf(order), order.id);
};
const isWaiting = ({ status }) => status === "held" || status === "lost";
const isOld = ({ decided }, now) => now - decided > OLD;

/**
 * Makes what holds the orders. `show(orders)` is called when something has changed, `done(order, result)` when the service has stored an
 * order, `refused(order, why)` when it never will.
 *
 * An order has `id` (a new one for each body that is sent), `decided` (milliseconds), `changes` with `area_id`, `state` and `after`, `note`
 * and `status`: "held" until it is `due`, "sending", "lost" (there was no response), "ended" (the login has ended), "found" (a closed page
 * left it, or it has become old: it is sent when the officer confirms it), "conflict" (with `conflicts`). One that undoes a batch has its
 * number as `undo`; its `changes` have the areas alone. One that hides the waiting reports of a sender has that as `hide`, a `reason` and
 * the `count` of reports, and no changes.
 */
export const waitingOrders = ({ show, done, refused }) => {
  const orders = new Map();
  const changed = () => show([...orders.values()]);

  // The browser may forbid it: then an order lives as long as the page.
  const keep = (order) => {
    orders.set(order.id, order);
    attempt(() => localStorage.setItem(PREFIX + order.id, JSON.stringify({ ...order, tab: thisTab })));
  };
  /** Puts others in the place of an order. */
  const replace = ({ id }, others) => {
    if (!others.some((other) => other.id === id)) {
      orders.delete(id);
      attempt(() => localStorage.removeItem(PREFIX + id));
    }
    others.forEach(keep);
    changed();
  };
  const { flush } = outbox({
    key: "id",
    all: () => [...orders.values()],
    isDue: (order, now, isForced) => isWaiting(order) && !isOld(order, now) && (order.due <= now || (isForced && order.status === "lost")),
    send: (order) => {
      replace(order, [{ ...order, status: "sending" }]);
      return sendOrder(order);
    },
    settle,
    take: (order, { kept, result, refused: lost, why }) => {
      replace(order, kept);
      if (result) done(order, result);
      if (lost) refused(lost, why);
    },
  });

  const tick = () => {
    const now = Date.now();
    for (const order of orders.values()) if (isWaiting(order) && isOld(order, now)) replace(order, [{ ...order, status: "found" }]);
    flush();
    if ([...orders.values()].some(({ status }) => status === "held")) changed();
  };
  setInterval(tick, 250);
  addEventListener("online", () => flush(true));
  addEventListener("beforeunload", (event) => {
    if (orders.size) event.preventDefault();
  });

  const kept = () =>
    attempt(() => Object.keys(localStorage).filter((key) => key.startsWith(PREFIX)).map((key) => JSON.parse(localStorage.getItem(key)))) ?? [];
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
    add: (order) => {
      const held = { ...order, id: crypto.randomUUID(), decided: Date.now(), due: Date.now() + HOLD, status: "held" };
      replace(held, [held]);
      return held;
    },
    /** Forgets an order that is not being sent: this one, or the last that is held. Returns the order, or `null` if there is none. */
    takeBack: (id) => {
      const order = orders.get(id) ?? [...orders.values()].filter(({ status }) => status === "held").at(-1);
      if (!order || order.status === "sending") return null;
      replace(order, []);
      return order;
    },
    /** Sends an order at once, as a decision of now. */
    confirm: (id) => {
      const order = orders.get(id);
      if (!order || order.status === "sending") return;
      replace(order, [{ ...order, status: "held", due: 0, decided: Date.now() }]);
      flush();
    },
    /** Ends the conflict about some areas: the states of the other officer stay, or one's own are set. */
    decide: (id, ids, isMine) => {
      const order = orders.get(id);
      if (!order) return;
      replace(order, decide(order, ids, isMine, Date.now()));
      flush();
    },
    /** Returns what an order would do. */
    preview: async (order) => {
      const { status, body } = await send("POST", "/desk/changes", { ...bodyOf(order), preview: true });
      return status === 200 ? body.result.alerts : null;
    },
  };
};
