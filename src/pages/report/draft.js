// Keeps an unfinished report in this tab: when the language changes, when the person goes back, and when the phone is short of memory.

import { field } from "./parts.js";

const DRAFT = "siaga-draft";
// The place that the address of the page has filled in.
const given = `${field("lat").value},${field("lng").value}`;

/** Returns a photo as text. */
export const photoText = (photo) =>
  new Promise((done, failed) => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result);
    reader.onerror = () => failed(reader.error);
    reader.readAsDataURL(photo);
  });
const photoOf = (text) => new Blob([Uint8Array.from(atob(text.split(",")[1]), (char) => char.charCodeAt(0))], { type: "image/jpeg" });

/** Keeps a draft `{ fields: [[name, text]], photo: text | null, step, target }`, or none. */
export function keepDraft(draft) {
  const put = (of) => sessionStorage.setItem(DRAFT, JSON.stringify({ ...of, given, path: location.pathname }));
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

/** Returns the draft of this form, with its photo; `null` if there is none. A new place in the address replaces the place of the draft. */
export function keptDraft() {
  try {
    const { path, given: before, fields, photo, ...more } = JSON.parse(sessionStorage.getItem(DRAFT));
    if (path !== location.pathname) return null;
    const isMoved = given !== "," && given !== before;
    const isKept = ([name]) => !isMoved || !["lat", "lng", "outside"].includes(name);
    return { ...more, fields: fields.filter(isKept), photo: photo && photoOf(photo) };
  } catch {
    return null;
  }
}
