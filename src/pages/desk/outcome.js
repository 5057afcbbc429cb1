// What becomes of an order: by the response to it, and by the decision of the officer about a conflict.

const RETRY = 5_000;
const AT_ONCE = { status: "held", due: 0 };

/** Divides what is about areas: the part about some of them, and the rest. */
const divide = (all, ids) => [true, false].map((is) => all.filter(({ area_id }) => ids.includes(area_id) === is));
/** Returns the order for some of its changes. It is another one, because its body differs. Without changes there is none. */
const part = (order, changes, more) => (changes.length ? [{ ...order, ...more, id: crypto.randomUUID(), changes }] : []);

/**
 * Returns what becomes of an order by the response of the service, or by none: the orders that are `kept` in its place; the `result`, if
 * the service has stored it; `refused` with an order that it will never store, and `why`.
 */
export const settle = (order, response, now) => {
  const { status, body } = response ?? {};
  if (!response || status === 408 || status === 429 || status >= 500) return { kept: [{ ...order, status: "lost", due: now + RETRY }] };
  if (status === 200) return { kept: [], result: body.result ?? body };
  if (status === 401 || status === 403) return { kept: [{ ...order, status: "ended" }] };
  // The service stores all of an order or nothing: what it can store is sent again alone.
  if (status === 409 && body.conflicts) {
    const [changes, rest] = divide(order.changes, body.conflicts.map(({ area_id }) => area_id));
    return { kept: [...part(order, rest, AT_ONCE), ...part(order, changes, { status: "conflict", conflicts: body.conflicts })] };
  }
  if (status === 404 && body.unknown) {
    const [changes, rest] = divide(order.changes, body.unknown);
    return { kept: part(order, rest, AT_ONCE), refused: { ...order, changes }, why: "gone" };
  }
  return { kept: [], refused: order, why: body.message ?? `${status}` };
};

/**
 * Returns the orders in place of one in conflict when the officer has decided about some areas: the states of the other officer stay, or
 * one's own are set although the others are known.
 */
export const decide = (order, ids, isMine, now) => {
  const [conflicts, open] = divide(order.conflicts, ids);
  const [changes, rest] = divide(order.changes, ids);
  const after = new Map(conflicts.map(({ area_id, state, since }) => [area_id, state ? since : null]));
  const mine = isMine ? changes.map((change) => ({ ...change, after: after.get(change.area_id) })) : [];
  return [...(rest.length ? [{ ...order, changes: rest, conflicts: open }] : []), ...part(order, mine, { ...AT_ONCE, decided: now, conflicts: undefined })];
};
