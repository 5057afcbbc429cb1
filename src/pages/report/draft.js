// Keeps an unfinished report in this tab: when the language changes, when the person goes back, and when the phone is short of memory.

import { field } from "./parts.js";

// One for each form.
const DRAFT = `siaga-draft ${location.pathname}`;
// How long a draft is kept, in milliseconds.
const DRAFT_FOR = 3_600_000;
// In units of 11 m, as the form rounds places.
const placeNow = () => ["lat", "lng"].map((name) => field(name).value && Math.round(field(name).value * 1e4)).join();
// The place that the address of the page has filled in.
const given = placeNow();

/** Returns whether the form has the place of the page's address. */
export const isGiven = () => placeNow() === given;

/** Returns a photo as text. */
export const photoText = (photo) =>
  new Promise((done, failed) => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result);
    reader.onerror = () => failed(reader.error);
    reader.readAsDataURL(photo);
  });
const photoOf = (text) => new Blob([Uint8Array.from(atob(text.split(",")[1]), (char) => char.charCodeAt(0))], { type: "image/jpeg" });

/** Keeps a draft `{ fields: [[name, text]], photo: text | null, step, target | null }`, or none. */
export function keepDraft(draft) {
  const put = (of) => sessionStorage.setItem(DRAFT, JSON.stringify({ ...of, given, at: Date.now() }));
  try {
    if (!draft) return sessionStorage.removeItem(DRAFT);
    try {
      put(draft);
    } catch {
      // There is not enough room for the photo.
      put({ ...draft, photo: null });
    }
  } catch {
    // Storage may be unavailable in private mode.
  }
}

/** Returns the draft of this form, with its photo; `null` if there is none, or it has another place than the address: then it is another report. */
export function keptDraft() {
  try {
    const { at, given: before, photo, ...more } = JSON.parse(sessionStorage.getItem(DRAFT));
    const isPlaced = more.fields.some(([name]) => name === "lat");
    if (Date.now() - at > DRAFT_FOR || (isPlaced && given !== "," && given !== before)) return null;
    return { ...more, photo: photo && photoOf(photo) };
  } catch {
    return null;
  }
}
