// Keeps reports on the phone until they are sent. The service takes each exactly once: by its card, or by the token of its form.

const NAME = "siaga-reports";
const STORE = "waiting";

const asked = (request) =>
  new Promise((done, failed) => {
    request.onsuccess = () => done(request.result);
    request.onerror = () => failed(request.error);
  });

async function store(mode) {
  const opening = indexedDB.open(NAME, 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE, { keyPath: "key" });
  const database = await asked(opening);
  return database.transaction(STORE, mode).objectStore(STORE);
}

/** Keeps a report: `{ key, address, fields: [[name, text]], photo: Blob | null, created: milliseconds, until: milliseconds }`. */
export async function keep(report) {
  await asked((await store("readwrite")).put(report));
}

export async function forget(key) {
  await asked((await store("readwrite")).delete(key));
}

/** Returns the reports that wait, without those whose time is over. */
export async function waiting() {
  const all = await asked((await store("readonly")).getAll());
  const over = all.filter((report) => report.until <= Date.now());
  for (const report of over) await forget(report.key);
  return all.filter((report) => report.until > Date.now());
}

/** Sends a report. Returns the response's JSON and status; throws if there is no network or the service is away. */
export async function send(report) {
  const form = new FormData();
  for (const [name, text] of report.fields) form.append(name, text);
  form.append("created_at", new Date(report.created).toISOString());
  form.append("sent_at", new Date().toISOString());
  // The photo is the last part: the service checks the others before it reads it.
  if (report.photo) form.append("photo", report.photo, "photo.jpg");
  const response = await fetch(report.address, {
    method: "POST",
    body: form,
    headers: { Accept: "application/json" },
    credentials: "omit",
  });
  if (response.status >= 500 || response.status === 408 || response.status === 429) throw new Error(String(response.status));
  const body = await response.json().catch(() => ({}));
  return { status: response.status, body };
}
