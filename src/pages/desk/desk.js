// The desk: areas that need attention, a selection of many areas, one bar for actions, and the changes of other officers.
// The page shows states only after the service has stored them.
import { nice } from "../names.js";
import { get } from "../request.js";
import { age, base, failed, fill, find, make, settings, t } from "../map/words.js";
import { live } from "../../../examples/clients/live.js";
import { chart } from "./chart.js";
import { meters } from "./gauges.js";
import { night } from "./night.js";
import { askInDialog, orders } from "./orders.js";
import { hasOwn, isMyArea, loadOwn, mayWrite } from "./own.js";
import { finder, whereOf } from "./places.js";
import { rows } from "./rows.js";
import { send } from "./waiting.js";

const MOST = 1_000; // An order may have so many areas.
const MANY_CHOSEN = 10; // More choices are not dropped without a question.
const AGAIN = 10_000; // So long the page waits before it tries again.
const AWAKE = 1_800_000; // So long after the last key or tap the officer counts as awake.

const areas = new Map(); // What is known of all areas, by id.
let states = new Map(); // The flooded areas.
let ended = new Map(); // When the floods of other areas ended.
let news = { attention: [], log: [], reports: [], hidden: [], muted: {} };
const attention = new Map();
const chosen = new Set();
let newest = new Map(); // The last change of each area, from the log.
let byArea = new Map(); // Reports by area.
let hasNames, hasNews; // Whether the names of all areas are known, and what needs attention; undefined at first.
let hasStates = false;
let entries = new Map(); // The log by area.

const areaOf = (id) => areas.get(`${id}`) ?? { area_id: `${id}` };
const say = (text) => {
  find("said").textContent = text;
};

// ---------------------------------------------------------------- the list

const field = { search: find("search"), larger: find("larger"), why: find("why") };
const others = find("others");
let tab = "attention";
let order = []; // What the list showed when it was last put in order.

let withoutStreets; // The search for which streets could not be read.
const search = finder(areas, settings.short, (street) => (sort(), follow(), say(street)), (is) => {
  withoutStreets = is ? undefined : field.search.value;
  count();
});
/** Returns whether an area is in the chosen parent, which is a city if it ends with the separator. */
const isWithin = ({ larger }, wanted) => (wanted.endsWith("\n") ? larger?.startsWith(wanted) : larger === wanted);
const hasReason = (id) => !field.why.value || attention.get(id)?.reasons.some(({ reason }) => reason === field.why.value);
/** Returns the areas to list, in order: one's own, and on request the others after them. */
const wanted = () => {
  const all = candidates();
  return [...all.filter(isMyArea), ...(others.checked ? all.filter((id) => !isMyArea(id)) : [])];
};
const candidates = () => {
  const found = search(field.search.value);
  const { value: larger } = field.larger;
  const fits = (id) => (!larger || isWithin(areaOf(id), larger)) && (!found || found.has(id));
  const needing = [...attention.keys()].filter(hasReason);
  const flooded = () => [...states.values()].sort((one, other) => Date.parse(one.last_updated) - Date.parse(other.last_updated)).map(({ area_id }) => `${area_id}`);
  if (tab === "chosen") return [...chosen].filter(fits);
  if (tab === "flooded") return flooded().filter(fits);
  // A search or a parent covers all areas, not only those that need attention.
  // An exact match of the number comes first.
  const typed = field.search.value.trim();
  const exact = areas.has(typed) ? [typed] : [];
  if (tab === "all" || found || larger) return [...new Set([...exact, ...needing, ...areas.keys()])].filter(fits);
  return needing;
};
/** Returns who set the state. Until the log has the entry of the state, that is not known. */
const byOf = (id) => (Date.parse(newest.get(id)?.at) === Date.parse(states.get(id)?.last_updated) ? newest.get(id).by : undefined);
const about = (id) => ({ mayWrite: mayWrite(id), area: areaOf(id), hasStates, flood: states.get(id), by: byOf(id), attention: attention.get(id) });

const gaugesPart = meters({ renew: () => renew(), say: (text) => desk.tell(text) });
const parts = night({
  figure: gaugesPart.figure, areaOf, renew: () => renew(), say: (text) => desk.tell(text), hide: (...of) => desk.hide(...of), undoButton: (...of) => desk.undoButton(...of),
});
const renewGauges = () => gaugesPart.load().then(() => list.draw());
const list = rows({
  element: find("rows"), more: find("more"), about, chosen,
  choose: (id, is) => mark([id], is),
  suggest: (id, state) => act(state, [id]),
  unfolded: () => renewGauges(),
  detail: (id) => parts.detail({ reports: byArea.get(id) ?? [], attention: attention.get(id), log: entries.get(id) ?? [] }),
});

/** Sorts the list: on request, or while nobody works in it. */
const sort = () => {
  order = wanted();
  list.list(order);
  count();
};
/** Updates rows in place, and shows how many new ones there are. */
const refresh = () => {
  const now = wanted();
  const isIdle = !chosen.size && !find("rows").contains(document.activeElement) && scrollY < 80;
  if (isIdle || !order.length || tab === "chosen") {
    sort();
  } else {
    const known = new Set(order);
    const added = now.filter((id) => !known.has(id));
    find("new").hidden = !added.length;
    find("new").textContent = fill(t.newRows, { count: added.length });
    list.draw();
  }
  count();
};
/** Explains why the list is empty. Data that failed to load does not mean that there are no areas. */
const emptyWords = () => {
  if (hasNames === false || hasNews === false) return t.noAnswer;
  if (!hasNames || !hasNews || !hasStates || !hasOwn()) return "";
  if (!areas.size) return t.noAreas;
  const ofOthers = others.checked ? 0 : candidates().length;
  if (ofOthers) return fill(t.ofOthers, { count: ofOthers });
  const text = field.search.value.trim();
  if (text || field.larger.value) return text && field.search.value === withoutStreets ? `${t.noneFound} ${t.streetsMissing}` : t.noneFound;
  if (tab === "attention") return field.why.value ? t.noneReason : t.nothing;
  return tab === "flooded" ? t.dry : settings.mayWrite ? t.chooseFirst : "";
};
const count = () => {
  const known = new Set(order);
  if (wanted().every((id) => known.has(id))) find("new").hidden = true;
  const listed = (ids) => `${others.checked ? ids.length : ids.filter(isMyArea).length}`;
  find("tab-attention").lastElementChild.textContent = listed([...attention.keys()]);
  find("tab-flooded").lastElementChild.textContent = hasStates ? listed([...states.keys()]) : "–";
  find("tab-chosen").lastElementChild.textContent = `${chosen.size}`;
  find("empty").hidden = list.order.length > 0;
  find("empty").textContent = emptyWords();
  const writable = list.order.filter(mayWrite).length;
  find("all-shown").textContent = writable === 1 ? t.chooseOne : fill(t.chooseAll, { count: Math.min(MOST, writable) });
  find("all-shown").hidden = !writable;
};
find("new").addEventListener("click", () => {
  sort();
  scrollTo({ top: 0 });
});
const openTab = (name) => {
  tab = name;
  follow();
  for (const of of document.querySelectorAll("[id^=tab-]")) of.setAttribute("aria-pressed", `${of.id === `tab-${name}`}`);
  sort();
};
for (const name of ["attention", "flooded", "all", "chosen"]) find(`tab-${name}`).addEventListener("click", () => openTab(name));
// A search covers all areas, so it resets the filters.
const leavesTab = () => tab === "chosen" || (tab === "flooded" && !wanted().length);
for (const of of Object.values(field)) of.addEventListener("input", () => {
  of.value.trim() && leavesTab() ? openTab("all") : sort();
  follow();
});
/** Shows on the map what the list shows, once the officer pauses. */
const follow = () => map.follow(() => {
  const isSearch = field.search.value.trim() || field.larger.value;
  return isSearch ? list.order : tab === "chosen" ? [...chosen] : [];
});
others.addEventListener("input", () => sort());
// Selects the old words when the field gets the focus, because the next phone call is about another place.
field.search.addEventListener("focus", () => field.search.select());

// ---------------------------------------------------------------- the selection

const mark = (ids, is) => {
  const allowed = is ? ids.filter(mayWrite) : ids;
  for (const id of allowed) is ? chosen.size < MOST && chosen.add(id) : chosen.delete(id);
  if (allowed.length < ids.length) desk.tell(fill(t.notOwn, { count: ids.length - allowed.length }));
  selected();
};
const selected = () => {
  list.draw();
  count();
  map.update({ states, attention, chosen });
  const place = whereOf([...chosen].map(areaOf));
  find("chosen-count").textContent = chosen.size ? fill(place ? t.chosenIn : t.chosenCount, { count: chosen.size, place }) : t.chooseFirst;
  find("bar").classList.toggle("active", chosen.size > 0);
  for (const button of document.querySelectorAll("#bar button")) button.disabled = !chosen.size;
};
const markAll = () => mark(list.order.filter(mayWrite).slice(0, MOST), true);
find("all-shown").addEventListener("click", markAll);
/** Clears the selection; a large one only after confirmation. */
const drop = async () => {
  if (chosen.size > MANY_CHOSEN && !(await askInDialog("drop", [fill(t.drop, { count: chosen.size, place: whereOf([...chosen].map(areaOf)) })]))) return;
  chosen.clear();
  selected();
};
find("none").addEventListener("click", drop);

const map = chart({
  toggle: (id) => settings.mayWrite && mark([id], !chosen.has(id)),
  choose: (ids) => {
    if (settings.mayWrite) mark(ids, true);
    say(fill(t.inBox, { count: ids.length }));
  },
});
find("map-shown").addEventListener("click", ({ target }) => {
  const isShown = document.body.classList.toggle("map-shown");
  target.setAttribute("aria-pressed", `${isShown}`);
  map.resize();
});

// ---------------------------------------------------------------- orders

/** Applies a stored result at once. The stream sends the same, with more times, a moment later; or it has sent it, or something newer. */
const take = ({ changed = [], changed_at }) => {
  for (const flood of changed) {
    const id = `${flood.area_id}`;
    const at = Date.parse(flood.last_updated ?? changed_at);
    const isOld = [states.get(id)?.last_updated, ended.get(id)].some((time) => Date.parse(time) >= at);
    if (isOld) continue;
    flood.state ? states.set(id, { ...flood, area_id: id }) : states.delete(id);
  }
  refresh();
};

const desk = orders({
  areaOf, say, flooded: () => states.size,
  stored: (result) => {
    take(result);
    renew();
  },
  returned: ({ wasChosen = [], note = "" }) => {
    mark(wasChosen, true);
    find("note").value ||= note;
  },
});
/** Orders a state for areas: 1 to 4, null for ended, "same" to confirm. */
const act = async (what, ids = [...chosen]) => {
  if (!settings.mayWrite || !ids.length) return;
  const changes = ids.map((id) => {
    const flood = states.get(id);
    const state = what === "same" ? flood?.state ?? null : what;
    return { area_id: id, state, from: flood?.state ?? null, after: flood?.last_updated ?? null, ...(what === "same" ? { same: true } : {}) };
  });
  const wasChosen = ids.filter((id) => chosen.has(id));
  if (!(await desk.order({ changes, note: find("note").value.trim(), wasChosen }))) return;
  find("note").value = "";
  for (const id of ids) chosen.delete(id);
  selected();
};

for (const [id, what] of [["set-1", 1], ["set-2", 2], ["set-3", 3], ["set-4", 4], ["still", "same"], ["over", null]]) find(id).addEventListener("click", () => act(what));
for (const form of document.querySelectorAll("#bar, .filters")) form.addEventListener("submit", (event) => event.preventDefault());

// ---------------------------------------------------------------- keys

// Asks before the logout, because the next officer needs the situation report, which cannot be printed after it.
const warn = (text) => {
  const open = desk.waiting() ? fill(t.logOutOpen, { count: desk.waiting() }) : "";
  find("leave-warnings").textContent = `${open} ${text}`.trim();
};
find("log-out").addEventListener("submit", async (event) => {
  const { submitter, target } = event;
  event.preventDefault();
  if (submitter?.value !== "yes") {
    warn("");
    return find("leave").showModal();
  }
  // Without a connection, the service would not end the login.
  submitter.disabled = true;
  const status = await send("POST", "/desk/alive").then((response) => response.status, () => 0);
  submitter.disabled = false;
  if (!find("leave").open) return;
  if (status === 200) target.submit();
  else if (status === 401) location.assign("/desk");
  else warn(status ? t.noAnswer : t.logOutOffline);
});
const help = find("help");
find("help-button").addEventListener("click", () => help.showModal());
const keys = {
  j: () => list.step(1),
  k: () => list.step(-1),
  x: () => list.current && settings.mayWrite && mark([list.current], !chosen.has(list.current)),
  a: markAll,
  o: () => list.current && list.unfold(list.current),
  m: () => list.current && map.fit([list.current]),
  1: () => act(1), 2: () => act(2), 3: () => act(3), 4: () => act(4),
  c: () => act("same"),
  0: () => act(null),
  u: desk.takeBack,
  n: () => find("note").focus(),
  "/": () => field.search.focus(),
  "?": () => help.showModal(),
};
addEventListener("keydown", (event) => {
  const { target, key } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const isText = target.matches?.("input:not([type=checkbox]), textarea, select");
  if (key === "Escape") {
    event.preventDefault(); // The same key would close the question.
    return isText ? target.blur() : drop();
  }
  if (isText) {
    if (key === "Enter" && target === field.search) {
      event.preventDefault();
      list.step(1);
    }
    return;
  }
  if (target.closest?.("#map") && "+-=".includes(key)) return;
  if (!Object.hasOwn(keys, key)) return;
  event.preventDefault();
  keys[key]();
});

// ---------------------------------------------------------------- news

let asking = 0;
let soon;
let renewed = 0;
const renew = async () => {
  clearTimeout(soon);
  soon = undefined;
  renewed = Date.now();
  const number = ++asking;
  let answer;
  try {
    answer = (await get("/desk/news", { timeout: 20_000 })).body.result;
  } catch (error) {
    if (error.status === 401 || error.status === 403) find("login-ended").hidden = false;
    hasNews ??= false;
    return failed(error);
  }
  find("login-ended").hidden = true;
  if (number !== asking) return;
  news = answer;
  hasNews = true;
  attention.clear();
  for (const listed of news.attention) attention.set(`${listed.area_id}`, listed);
  for (const { area_id, area_name, parent_name, city_name } of news.attention) if (!areas.has(`${area_id}`)) areas.set(`${area_id}`, { area_id: `${area_id}`, area_name, parent_name, city_name });
  entries = group(news.log);
  newest = new Map([...entries].map(([id, [first]]) => [id, first]));
  byArea = group(news.reports);
  parts.draw(news);
  gaugesPart.draw(news);
  refresh();
  map.update({ states, attention, chosen });
  if (find("rows").querySelector("figure")) renewGauges();
};
const group = (all) => {
  const groups = new Map();
  for (const of of all) {
    const id = `${of.area_id}`;
    groups.has(id) ? groups.get(id).push(of) : groups.set(id, [of]);
  }
  return groups;
};
/** Loads the news after a change: at once, but at most every three seconds. */
const renewSoon = () => {
  soon ??= setTimeout(renew, Math.max(200, renewed + 3_000 - Date.now()));
};

const link = (is) => {
  document.body.classList.toggle("offline", !is);
  find("connection").textContent = is ? t.connected : t.offline;
};
addEventListener("offline", () => link(false));
addEventListener("online", () => {
  link(true);
  renew();
});
live(base, {
  states: (all, over) => {
    states = new Map([...all].map(([id, flood]) => [`${id}`, flood]));
    ended = new Map([...over].map(([id, at]) => [`${id}`, at]));
    hasStates = true;
    refresh();
    map.update({ states, attention, chosen });
    renewSoon();
  },
  connected: link,
  stale: (since) => {
    find("stale").hidden = !since;
    if (since) find("stale").textContent = fill(t.stale, { age: age(since) });
  },
  changed: renewSoon,
});

// Sends heartbeats while the officer works, but not from a tab that nobody looks at.
let touched = Date.now();
for (const kind of ["keydown", "pointerdown"]) addEventListener(kind, () => (touched = Date.now()), { capture: true, passive: true });
const beat = () => Date.now() - touched < AWAKE && send("POST", "/desk/alive").catch(failed);
beat();
setInterval(beat, 60_000);
setInterval(renew, 60_000); // Time alone is a reason, too.
setInterval(() => gaugesPart.load(), 60_000);

/** Loads the names of all areas; retries until it succeeds. */
const names = async () => {
  let cities;
  try {
    ({ cities } = (await get("/map/names")).body);
    hasNames = true;
  } catch (error) {
    hasNames = false;
    setTimeout(() => names().then(sort), AGAIN);
    return failed(error);
  }
  for (const [city, parents] of cities) {
    const options = [];
    let count = 0;
    for (const [parent, of] of parents) {
      count += of.length;
      const larger = `${city}\n${parent}`;
      for (const [id, name] of of) areas.set(`${id}`, { area_id: `${id}`, area_name: name, parent_name: parent, city_name: city, larger });
      if (parent) options.push(make("option", { value: larger }, `${nice(parent)} (${of.length})`));
    }
    const whole = make("option", { value: `${city}\n` }, `${nice(city)} (${count})`);
    field.larger.append(...(city ? [make("optgroup", { label: nice(city) }, whole, ...options)] : options));
  }
};
selected();
// Without this, the page shows after some seconds that the desk has not started.
document.body.classList.add("with-desk");
find("desk").hidden = false;
map.resize();
find("not-started").remove();
Promise.all([loadOwn(AGAIN, () => refresh()), names(), renew()]).then(() => {
  sort();
  desk.showLeft();
  parts.draw(news);
  gaugesPart.draw(news);
  gaugesPart.load();
  performance.mark("desk ready");
}, failed);
