// Orders of this browser that the service has not stored yet. The page holds an order for some seconds, sends it, and retries while the
// network is down. Orders survive closing the page, and are never shown as stored.
import { outbox } from "../outbox.js";
import { isOwn, request } from "../request.js";
import { attempt, settings } from "../map/words.js";
import { decide, settle } from "./outcome.js";

const HOLD = 5_000; // How long an order can be taken back before it is sent.
const OLD = 900_000; // Older decisions are sent only after the officer has confirmed them.
const TIMEOUT = 20_000;

const ALL_ORDERS = "siaga desk ";
const PREFIX = `${ALL_ORDERS}${settings.subject} `;
const thisTab = crypto.randomUUID();
const lockOf = (id) => `siaga desk tab ${id}`;
navigator.locks?.request(lockOf(thisTab), () => new Promise(() => {})); // Held until the page is closed.

/** Sends a request of the desk. Throws if there is no response of the service itself (but of a portal or proxy). */
export const send = async (method, path, body = undefined, key = "") => {
  const headers = { "Content-Type": "application/json", "X-Desk-Token": settings.token, "X-Desk-Subject": new URLSearchParams({ s: settings.subject }).toString().slice(2), ...(key ? { "Idempotency-Key": key } : {}) };
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
 * Creates the queue of orders. Calls `show(orders)` after each change, `done(order, result)` when the service has stored an order, and
 * `refused(order, why)` when it never will.
 *
 * An order has `id` (a new one for each body that is sent), `decided` (milliseconds), `changes` with `area_id`, `state` and `after`, `note`
 * and `status`: "held" until it is `due`, "sending", "lost" (no response), "ended" (the login has expired), "found" (left by a closed page,
 * or old: the officer must confirm it), "conflict" (with `conflicts`). An undo has the number of the batch as `undo`, and only areas in its
 * `changes`. An order that hides the waiting reports of a sender has `hide` (the sender), `reason` and `count`, and no changes.
 */
export const waitingOrders = ({ show, done, refused }) => {
  const orders = new Map();
  const changed = () => show([...orders.values()]);

  // Storage may be blocked. Then closing the page loses its orders.
  const keep = (order) => {
    orders.set(order.id, order);
    attempt(() => localStorage.setItem(PREFIX + order.id, JSON.stringify({ ...order, tab: thisTab })));
  };
  /** Replaces an order by others. */
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

  /** Returns the stored orders of all subjects, each with its key. */
  const stored = () => (attempt(() => Object.keys(localStorage)) ?? []).filter((key) => key.startsWith(ALL_ORDERS)).flatMap((key) => {
    const order = attempt(() => JSON.parse(localStorage.getItem(key)));
    return order?.id && Array.isArray(order.changes) ? [{ key, order }] : [];
  });
  // The key must be exact, because a subject may begin with another subject.
  const isMine = ({ key, order }) => key === PREFIX + order.id;
  const kept = () => stored().filter(isMine).map(({ order }) => order);
  /** Adopts the orders of a closed page. */
  const adopt = (other) => {
    for (const order of kept()) if (order.tab === other) keep({ ...order, status: order.status === "conflict" ? "conflict" : "found" });
    changed();
  };
  const watched = new Set([thisTab]);
  /** Waits until other pages are closed, which releases their locks. */
  const watch = () => {
    for (const { tab: other } of kept()) {
      if (watched.has(other)) continue;
      watched.add(other);
      navigator.locks ? navigator.locks.request(lockOf(other), () => adopt(other)) : adopt(other);
    }
  };
  addEventListener("storage", watch);
  watch();
  /** Returns the orders that closed pages of other subjects have left. */
  const leftByOthers = async () => {
    const open = new Set(((await navigator.locks?.query())?.held ?? []).map(({ name }) => name));
    return stored().filter((of) => !isMine(of) && !open.has(lockOf(of.order.tab))).map(({ key, order }) => ({
      order,
      subject: key.slice(ALL_ORDERS.length, -order.id.length - 1),
      discard: () => attempt(() => localStorage.removeItem(key)),
    }));
  };

  return {
    /** The orders that other subjects have left in this browser, which are never sent from here: `order`, `subject` and `discard()`. */
    leftByOthers,
    /** Holds an order, and sends it unless it is cancelled. */
    add: (order) => {
      const held = { ...order, id: crypto.randomUUID(), decided: Date.now(), due: Date.now() + HOLD, status: "held" };
      replace(held, [held]);
      return held;
    },
    /** Cancels an order that is not being sent: this one, or the last one held. Returns the order, or `null`. */
    takeBack: (id) => {
      const order = orders.get(id) ?? [...orders.values()].filter(({ status }) => status === "held").at(-1);
      if (!order || order.status === "sending") return null;
      replace(order, []);
      return order;
    },
    /** Sends an order at once, decided now. */
    confirm: (id) => {
      const order = orders.get(id);
      if (!order || order.status === "sending") return;
      replace(order, [{ ...order, status: "held", due: 0, decided: Date.now() }]);
      flush();
    },
    /** Resolves a conflict about some areas: keeps the states of the other officer, or sets one's own. */
    decide: (id, ids, isMine) => {
      const order = orders.get(id);
      if (!order) return;
      replace(order, decide(order, ids, isMine, Date.now()));
      flush();
    },
    /** Returns the preview of an order. */
    preview: async (order) => {
      const { status, body } = await send("POST", "/desk/changes", { ...bodyOf(order), preview: true });
      return status === 200 ? body.result.alerts : null;
    },
  };
};
