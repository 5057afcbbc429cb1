// Determines the outcome of an order from its response, and from the officer's decision about a conflict.

const RETRY = 5_000;
const AT_ONCE = { status: "held", due: 0 };

/** Splits items about areas: those about some areas, and the rest. */
const divide = (all, ids) => [true, false].map((is) => all.filter(({ area_id }) => ids.includes(area_id) === is));
/** Returns a new order for some of the changes, with a new `id` because its body differs; none without changes. */
const part = (order, changes, more) => (changes.length ? [{ ...order, ...more, id: crypto.randomUUID(), changes }] : []);

/**
 * Returns the outcome of an order for a response, or for none: the orders `kept` in its place; the `result` if the service has stored it;
 * `refused` with an order that it will never store, and `why`.
 */
export const settle = (order, response, now) => {
  const { status, body } = response ?? {};
  if (!response || status === 408 || status === 429 || status >= 500) return { kept: [{ ...order, status: "lost", due: now + RETRY }] };
  if (status === 200) return { kept: [], result: body.result ?? body };
  // The areas outside of the limit of the credential are taken out. An undo needs all areas of its batch.
  if (status === 403 && body.outside) {
    const [changes, rest] = divide(order.changes, body.outside.map(String));
    return { kept: order.undo ? [] : part(order, rest, AT_ONCE), refused: { ...order, changes }, why: "outside" };
  }
  // A 403 has its reason: the right may come back, or servers of an older version mean the end of the login.
  if (status === 401 || status === 403) return { kept: [{ ...order, status: "ended", why: status === 403 ? body.message : undefined }] };
  // The service stores an order completely or not at all, so the valid part is sent again alone.
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
 * Returns the orders that replace one in conflict after a decision about some areas: keep the states of the other officer, or overwrite
 * them.
 */
export const decide = (order, ids, isMine, now) => {
  const [conflicts, open] = divide(order.conflicts, ids);
  const [changes, rest] = divide(order.changes, ids);
  const after = new Map(conflicts.map(({ area_id, state, since }) => [area_id, state ? since : null]));
  const mine = isMine ? changes.map((change) => ({ ...change, after: after.get(change.area_id) })) : [];
  return [...(rest.length ? [{ ...order, changes: rest, conflicts: open }] : []), ...part(order, mine, { ...AT_ONCE, decided: now, conflicts: undefined })];
};
