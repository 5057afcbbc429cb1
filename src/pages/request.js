// Requests of all pages to the service.

/**
 * Sends a request. Returns the response with its body, which is `null` if it is not JSON (from a portal or a proxy). Throws if there is no
 * response within `timeout` milliseconds.
 *
 * @param {string} address
 * @param {RequestInit & { timeout?: number }} options
 */
export const request = async (address, { timeout, ...options } = {}) => {
  // Older browsers do not have this signal. In these, only the network limits the time.
  const signal = timeout ? AbortSignal.timeout?.(timeout) : undefined;
  const response = await fetch(address, { signal, ...options });
  return { status: response.status, headers: response.headers, body: await response.json().catch(() => null) };
};

/** Sends a GET request. Throws an error with the `status` unless that is 200 and the body is JSON. */
export const get = async (address, options = {}) => {
  const response = await request(address, options);
  if (response.status !== 200 || response.body === null) throw Object.assign(new Error(`${address}: ${response.status}`), { status: response.status });
  return response;
};

/** Whether a response is from the service itself, not from a portal or a proxy. */
export const isOwn = ({ headers }) => headers.has("Siaga-Version");

const loads = {};
/** Loads immutable data: calls `load` once for each name, and again after a failure. */
export const once = (name, load) => (loads[name] ??= load().catch((error) => {
  delete loads[name];
  throw error;
}));
