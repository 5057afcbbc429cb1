// The subscription of this browser to messages: what the browser and the service store. Shared by the pages and the service worker.

/**
 * What this browser stores: the number and secret of its subscription, and its areas or larger area with their names.
 * @typedef {{ id?: number, secret?: string, language: string, renewed?: number, endpoint?: string, areas: { id: string, name: string }[], parent?: { parent_name: string, city_name: string, name: string } }} Own
 */

const database = () => new Promise((resolve, reject) => {
  const opening = indexedDB.open("push", 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore("own");
  opening.onsuccess = () => resolve(opening.result);
  opening.onerror = () => reject(opening.error);
});
/** Uses what this browser stores in a transaction. Returns the result of the request when the transaction is committed. */
export const stored = async (mode, use) => {
  const opened = await database();
  return new Promise((resolve, reject) => {
    const transaction = opened.transaction("own", mode);
    const done = use(transaction.objectStore("own"));
    transaction.oncomplete = () => resolve(done.result);
    transaction.onabort = () => reject(transaction.error);
  }).finally(() => opened.close());
};
/** @returns {Promise<Own | undefined>} */
export const readOwn = () => stored("readonly", (own) => own.get("own"));
/**
 * Changes the subscription by `act`, which gets what this browser stores. All pages and the worker make one change at a time, so that none
 * restores what another has just ended.
 *
 * @param {(own: Own | undefined) => any} act
 */
export const inTurn = (act) => navigator.locks.request("push", async () => act(await readOwn()));

/** Returns the body of a request that stores a subscription. @param {Own} own @param {PushSubscription} subscription */
const bodyOf = ({ areas, parent, language }, subscription) => {
  const { endpoint, keys } = subscription.toJSON();
  return JSON.stringify({ endpoint, keys, language, ...(parent ? { parent: { parent_name: parent.parent_name, city_name: parent.city_name } } : { areas: areas.map(({ id }) => id) }) });
};
/** Throws an error with the key of a text, or the invalid field of a request. */
export const fail = (key) => {
  throw Object.assign(new Error(key), { key });
};
/** Limits the time of a promise of the browser, because others wait for their turn. */
export const inTime = (promise) => Promise.race([promise, new Promise((_, reject) => setTimeout(reject, 30_000, new Error("The browser does not respond.")))]);
// The service waits for the push service up to 15 seconds. Older browsers do not have this signal.
const limited = () => ({ signal: AbortSignal.timeout?.(30_000) });
/** Sends a request about subscriptions. */
export const call = (base, path, method, secret, body) =>
  fetch(`${base}/push/subscriptions${path}`, { ...limited(), method, body, headers: { "Content-Type": "application/json", ...(secret ? { Authorization: `Bearer ${secret}` } : {}) } });
/** Returns the options with which a browser subscribes at its push service: the key of the service. */
export const optionsOf = async (base) => {
  const response = await fetch(`${base}/push/key`, { ...limited(), cache: "no-store" });
  return { userVisibleOnly: true, applicationServerKey: (await response.json()).result.publicKey };
};
/** Returns the result of a response of the service. */
export const resultOf = async (response) => {
  const body = await response.json().catch(() => null);
  if (response.status === 200 && body) return body.result;
  const isLong = Number(response.headers.get("Retry-After")) > 120;
  return fail(body?.validation?.keys?.[0] ?? (response.status === 409 ? "full" : isLong ? "limited" : "failed"));
};
/**
 * Stores a choice at the service, and in this browser without areas that do not exist any more. Returns what is stored, and whether the
 * service did not know the subscription before.
 *
 * @param {Own} own
 * @param {PushSubscription} subscription
 */
export const store = async (base, own, subscription) => {
  const body = bodyOf(own, subscription);
  const replaced = own.id && (await call(base, `/${own.id}`, "PUT", own.secret, body));
  const isNew = !replaced || replaced.status === 404;
  const result = await resultOf(isNew ? await call(base, "", "POST", undefined, body) : replaced);
  const areas = own.areas.filter(({ id }) => result.areas.includes(id));
  const changed = { ...own, ...result, areas, endpoint: subscription.endpoint, renewed: Date.now() };
  await stored("readwrite", (all) => all.put(changed, "own"));
  return { areas, isNew };
};
