// Stores reports on the phone until the service has confirmed them. The service accepts each report exactly once: it recognises the report
// by its card, or by the token of its form.
//
// A report without `state` is waiting, also a report that an earlier version has stored. Responses change the state:
//
//   200 with the body of the service                  sent      deleted from the outbox
//   the same, for an earlier version of the report    used      the person sends it without the link, or discards it
//   400 with the faults of the service                refused   the person corrects it, and it waits again, or discards it
//   404 of the service: the link has expired          expired   as used
//   any other one (of the service, a portal or a proxy), a redirect, or none: it waits, and is retried with backoff
//
// After a week, a report is sent only if the person confirms it. Nothing else deletes a report.

import { outbox } from "../outbox.js";
import { request } from "../request.js";

const NAME = "siaga-reports";
const STORE = "waiting";
const SHORTEST = 30_000;
const LONGEST = 600_000;
const PATIENCE = 120_000;
export const WEEK = 7 * 24 * 3_600_000;

/** Returns the outcome: the report `kept` in its place, or the address of the `thanks` page. */
export function settle(report, response, now) {
  const { status, body, headers } = response ?? {};
  if (status === 200 && typeof body?.cardId === "string" && /^\/report\//.test(body.thanks)) {
    if (report.replaces && body.created === false) return { kept: [{ ...report, state: "used" }] };
    if (!report.photo || body.photo !== "none") return { kept: [], key: report.key, thanks: body.thanks };
    // The report was accepted without its photo, so send the report again with the photo.
    report = { ...report, replaces: false };
  }
  if (status === 400 && body?.statusCode === 400 && body.faults) return { kept: [{ ...report, state: "refused", faults: body.faults }] };
  if (status === 404 && body?.expired === true) return { kept: [{ ...report, state: "expired" }] };
  const tries = (report.tries ?? 0) + 1;
  const wanted = (Number(headers?.get("Retry-After")) || 0) * 1_000;
  const pause = Math.min(LONGEST, Math.max(SHORTEST * 2 ** (tries - 1), wanted));
  return { kept: [{ ...report, tries, next: now + pause }] };
}

export const isWaiting = (report) => !report.state;

/** Returns whether the person must confirm the report before it is sent. */
export const isOld = (report, now) => isWaiting(report) && now >= Math.max(report.created + WEEK, report.until ?? 0);

/** Returns the report without its link, with the token of a new form. */
export const withoutLink = ({ address, fields, photo, created }, token) => {
  const { origin, search } = new URL(address);
  const others = fields.filter(([name]) => name !== "token");
  return { key: token, address: `${origin}/report${search}`, fields: [...others, ["token", token]], photo, created };
};

/** Returns an unguessable token for a form. */
export const newToken = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

const asked = (request) =>
  new Promise((done, failed) => {
    request.onsuccess = () => done(request.result);
    request.onerror = () => failed(request.error);
  });

async function store(mode) {
  const opening = indexedDB.open(NAME, 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE, { keyPath: "key" });
  const database = await asked(opening);
  const transaction = database.transaction(STORE, mode);
  transaction.oncomplete = transaction.onabort = () => database.close();
  return transaction.objectStore(STORE);
}

/** Stores a report `{ key, address, fields: [[name, text]], photo: Blob | null, created: milliseconds }`, replacing the one with this key. */
export async function keep(report) {
  report.saved = newToken();
  await asked((await store("readwrite")).put(report));
}

/** Replaces a report by others, or by none, unless the person has replaced it in the meantime. */
export async function exchange(report, others) {
  const all = await store("readwrite");
  const kept = await asked(all.get(report.key));
  if (!kept || kept.saved !== report.saved) return;
  await Promise.all([all.delete(report.key), ...others.map((other) => all.put(other))].map(asked));
}

/** Returns all reports, oldest first. */
export async function reports() {
  const all = await asked((await store("readonly")).getAll());
  return all.sort((one, other) => one.created - other.created);
}

async function send(report) {
  const form = new FormData();
  for (const [name, text] of report.fields) form.append(name, text);
  form.append("created_at", new Date(report.created).toISOString());
  form.append("sent_at", new Date().toISOString());
  // The photo is the last part, because the service validates the other parts before it reads the photo.
  if (report.photo) form.append("photo", report.photo, "photo.jpg");
  const headers = { Accept: "application/json" };
  return request(report.address, { method: "POST", headers, body: form, credentials: "omit", redirect: "manual", timeout: PATIENCE });
}

export const { post, flush } = outbox({
  key: "key",
  all: reports,
  isDue: (report, now, isForced) => isWaiting(report) && !isOld(report, now) && (isForced || !(report.next > now)),
  send,
  settle,
  // Storage may be unavailable in private mode.
  take: (report, { kept }) => exchange(report, kept).catch(() => {}),
});
