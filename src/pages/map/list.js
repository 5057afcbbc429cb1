// The list of flooded areas. Rows are reused while their area is in the list, so they keep the keyboard's focus.
import { nice } from "../names.js";
import { depths, fill, find, language, make, moment, nameOf, t } from "./words.js";

const PAGE = 50;
// By area_id.
const rows = new Map();
const container = find("list");
const more = find("more");
let most = PAGE, byPlace = false, entries = [], onChoice;

// Floods in an hour of the past have no times.
const parts = (of) => [nice(of.city_name), of.flooded_since && moment(of.flooded_since)].filter(Boolean);

/** Returns the updated row of an area. */
const row = (of) => {
  const name = byPlace ? nice(of.area_name || of.area_id) : nameOf(of);
  const known = rows.get(of.area_id);
  const key = [name, of.state, of.flooded_since, of.isFaded].join();
  if (known?.key === key) return known.element;
  const element = known?.element ?? make("li", { id: `a${of.area_id}` }, make("a", { href: `?area=${of.area_id}` }), make("small"));
  const [link, small] = element.children;
  link.replaceChildren(make("i", { className: `swatch s${of.state}${of.isFaded ? " faded" : ""}` }), name);
  const [city, time] = parts(of);
  small.replaceChildren(...(time ? [city, " · ", time] : [city]), ...(of.isFaded ? [` · ${t.unconfirmed}`] : []));
  rows.set(of.area_id, { element, key });
  return element;
};

/** Sets the elements of a list, moving as few as possible. */
const arrange = (parent, elements) => {
  const focused = document.activeElement;
  let at = parent.firstElementChild;
  for (const element of elements) {
    if (element === at) at = at.nextElementSibling;
    else parent.insertBefore(element, at);
  }
  while (at) {
    const next = at.nextElementSibling;
    at.remove();
    at = next;
  }
  // Moving an element loses its focus.
  if (focused !== document.activeElement && focused?.isConnected) focused.focus({ preventScroll: true });
};

// By heading.
const groups = new Map();
const group = (name) => {
  if (!groups.has(name)) {
    const list = make("ul");
    const element = byPlace ? make("details", { open: false }, make("summary"), list) : make("div", {}, make("h3"), list);
    groups.set(name, { element, head: element.firstElementChild, list });
  }
  return groups.get(name);
};

const render = () => {
  const compare = byPlace
    ? (one, other) => one.place.localeCompare(other.place, language) || other.state - one.state || one.area_name.localeCompare(other.area_name, language)
    : (one, other) => other.state - one.state || (other.flooded_since ?? "").localeCompare(one.flooded_since ?? "") || one.area_id - other.area_id;
  const sorted = [...entries].sort(compare);
  const shown = byPlace ? sorted : sorted.slice(0, most);
  const byGroup = new Map();
  for (const of of shown) {
    const name = byPlace ? of.place : depths[of.state];
    byGroup.has(name) || byGroup.set(name, []);
    byGroup.get(name).push(of);
  }
  const elements = [...byGroup].map(([name, all]) => {
    const { element, head, list } = group(name);
    const title = byPlace ? `${name} (${all.length})` : name;
    if (head.textContent !== title) head.textContent = title;
    arrange(list, all.map(row));
    return element;
  });
  arrange(container, elements);
  const present = new Set(shown.map((of) => of.area_id));
  for (const id of rows.keys()) if (!present.has(id)) rows.delete(id);
  more.parentElement.hidden = sorted.length <= shown.length;
  more.textContent = fill(t.more, { count: sorted.length - shown.length });
};

/** Shows the flooded areas: each with `area_id`, its names, `state`, `flooded_since` and `isFaded`. */
export const list = (all) => {
  entries = all.map((of) => ({ ...of, place: [of.parent_name, of.city_name].filter(Boolean).map(nice).join(", ") }));
  render();
};

/** Shows when floods ended, of areas that are in the list already or whose geometry is loaded. */
export const showOver = (all, geometry) => {
  const list = find("over").lastElementChild;
  const items = all.sort(([, one], [, other]) => other.localeCompare(one)).slice(0, PAGE).flatMap(([id, at]) => {
    const known = find(`o${id}`);
    if (known?.querySelector("time").dateTime === at || (known && !geometry.has(id))) return [known];
    if (!geometry.has(id)) return [];
    const { properties } = geometry.get(id);
    return [make("li", { id: `o${id}` }, make("a", { href: `?area=${id}` }, nameOf(properties)), make("small", {}, `${nice(properties.city_name)} · `, moment(at)))];
  });
  arrange(list, items);
  find("over").hidden = !items.length;
};

/** Marks the selected area. */
export const mark = (id) => {
  for (const item of document.querySelectorAll("#list [aria-current]")) item.removeAttribute("aria-current");
  const item = find(`a${id}`);
  item?.setAttribute("aria-current", "true");
  item?.closest("details")?.setAttribute("open", "");
};

/** Calls `then` with the area_id of a tapped row. */
export const whenChosen = (then) => (onChoice = then);

for (const part of [container, find("over")]) part.addEventListener("click", (event) => {
  const link = event.target.closest("a");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  onChoice(new URL(link.href).searchParams.get("area"));
});
more.addEventListener("click", (event) => {
  event.preventDefault();
  most += 10 * PAGE;
  render();
});
document.querySelector(".sort").addEventListener("change", ({ target }) => {
  byPlace = target.value === "place";
  groups.clear();
  rows.clear();
  container.replaceChildren();
  render();
});
addEventListener("beforeprint", () => {
  most = Infinity;
  render();
});
