// "Is my street flooded?": the search for a name, and the reader's own place.
import { get, once } from "../request.js";
import { find, make, query, settings, t } from "./words.js";

const MOST = 12;
const input = find("query");
const found = find("found");
let hits = [], active = -1;

/** Returns the index of names, requested once. */
export const index = () => once("names", async () => (await get(settings.names)).body);

/** Returns the search, loaded once: functions that return the entries that a text means, `areas` of the names, and `streets`. */
export const names = () => once("search", async () => {
  const [{ fromIndex, match, streetsOf }, body] = await Promise.all([import("/map/name_search.js"), index()]);
  // A page about a city follows only the floods of that city.
  const entries = fromIndex(body).filter(({ ids, city }) => !ids || !settings.city || city === settings.cityName);
  const areas = (text) => match(entries, text, body.short).slice(0, MOST).map(({ entry }) => entry);
  return { areas, streets: (text, isWanted) => streetsOf(text, isWanted, Object.fromEntries(query())) };
});

const close = () => {
  found.hidden = true;
  input.setAttribute("aria-expanded", "false");
  input.removeAttribute("aria-activedescendant");
};

/** Clears the search, which would name another place than the one shown. */
export const emptySearch = () => (input.value = "");

/**
 * Starts the search: calls `choose` with the entry of a name, and `locate` with a place and its accuracy in metres. `say` shows a sentence.
 */
export const search = ({ choose, locate, say }) => {
  const take = (entry) => {
    close();
    input.blur();
    choose(entry);
    input.value = entry.name;
  };
  /** Lists what the text means. Returns whether the list is that of the present text. */
  const show = async () => {
    const text = input.value;
    if (!text.trim()) return close();
    const by = await names().catch(() => null);
    let entries = by?.areas(text) ?? [];
    let none = by ? t.searchNone : t.noAnswer;
    if (by && !entries.length) {
      // The list of an earlier text would be chosen by mistake.
      hits = [];
      close();
      entries = await by.streets(text, () => text === input.value).catch(() => ((none = t.streetsMissing), []));
    }
    if (text !== input.value) return;
    hits = entries;
    active = -1;
    found.replaceChildren(...hits.map((entry, at) => {
      const item = make("li", { id: `found-${at}` }, entry.name, make("small", {}, entry.place ? t.place : entry.more));
      item.setAttribute("role", "option");
      item.addEventListener("click", () => take(entry));
      return item;
    }));
    if (!hits.length) {
      const nothing = make("li", {}, none);
      nothing.setAttribute("role", "option");
      nothing.setAttribute("aria-disabled", "true");
      found.append(nothing);
    }
    found.hidden = false;
    input.setAttribute("aria-expanded", "true");
    return true;
  };
  input.addEventListener("focus", () => names().catch(() => {}));
  input.addEventListener("input", show);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") return close();
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !hits.length || found.hidden) return;
    event.preventDefault();
    found.children[active]?.removeAttribute("aria-selected");
    active = (active + step + hits.length) % hits.length;
    found.children[active].setAttribute("aria-selected", "true");
    found.children[active].scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", `found-${active}`);
  });
  input.addEventListener("blur", () => setTimeout(close, 200));
  find("search").addEventListener("submit", async (event) => {
    event.preventDefault();
    if (active >= 0 && !found.hidden) return take(hits[active]);
    if ((await show()) && hits.length) take(hits[0]);
  });
  find("locate").addEventListener("click", () => {
    emptySearch();
    if (!navigator.geolocation) return say(t.locateFailed);
    say(t.locating);
    // Determines a new position for each request.
    const options = { enableHighAccuracy: true, timeout: 20_000, maximumAge: 0 };
    // Four decimals (11 m) suffice; more would reveal the reader's place too exactly.
    const round = (of) => Math.round(of * 10_000) / 10_000;
    navigator.geolocation.getCurrentPosition(
      ({ coords }) => locate([round(coords.longitude), round(coords.latitude)], coords.accuracy),
      () => say(t.locateFailed),
      options,
    );
  });
};
