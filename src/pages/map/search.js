// "Is my street flooded?": the search for a name, and the reader's own place.
import { nice } from "../names.js";
import { get, once } from "../request.js";
import { find, make, settings, t } from "./words.js";

const MOST = 12;
const input = find("query");
const found = find("found");
let hits = [], active = -1;

// Numbers match without leading zeros: "rw 3" finds "RW 03".
const words = (text) => text.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "").match(/[\p{L}\d]+/gu)?.map((word) => word.replace(/^0+(?=\d)/, "")) ?? [];

/** Returns the names of all areas, requested once: { id, name, more, words }, and larger areas with the `ids` of their parts. */
export const names = () => once("names", async () => {
  const all = [];
  const { cities, places } = (await get(settings.names)).body;
  for (const [city, parents] of cities) {
    for (const [parent, areas] of parents) {
      const place = nice(parent);
      const more = nice(city);
      // A page about a city follows only the floods of that city.
      const isFollowed = !settings.city || city === settings.cityName;
      if (parent && areas.length > 1 && isFollowed) all.push({ name: place, more, words: words(`${parent} ${city}`), ids: areas.map(([id]) => id), parent });
      for (const [id, name] of areas) {
        all.push({ id, name: [place, nice(name || id)].filter(Boolean).join(", "), more, words: words(`${parent} ${name} ${city}`) });
      }
    }
  }
  for (const [name, ...place] of places) all.push({ name, more: t.place, words: words(name), place });
  return all;
});

const match = (all, text) => {
  const wanted = words(text);
  if (!wanted.length) return [];
  const fits = (entry) => wanted.every((want) => entry.words.some((word) => (/^\d+$/.test(want) ? word === want : word.startsWith(want))));
  const score = (entry) => (entry.ids ? 0 : 1) + (entry.words[0].startsWith(wanted[0]) ? 0 : 2);
  return all.filter(fits).sort((one, other) => score(one) - score(other)).slice(0, MOST);
};

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
  const show = async () => {
    const text = input.value;
    if (!text.trim()) return close();
    const all = await names().catch(() => []);
    if (text !== input.value) return;
    hits = match(all, text);
    active = -1;
    found.replaceChildren(...hits.map((entry, at) => {
      const item = make("li", { id: `found-${at}` }, entry.name, make("small", {}, entry.more ?? ""));
      item.setAttribute("role", "option");
      item.addEventListener("click", () => take(entry));
      return item;
    }));
    if (!hits.length) {
      const none = make("li", {}, t.searchNone);
      none.setAttribute("role", "option");
      none.setAttribute("aria-disabled", "true");
      found.append(none);
    }
    found.hidden = false;
    input.setAttribute("aria-expanded", "true");
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
    await show();
    const entry = hits[Math.max(0, active)];
    if (entry) take(entry);
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
