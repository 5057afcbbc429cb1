// The desk with its script: what needs attention, a selection of many areas, one bar to act on it, and the news of other officers.
// The page shows what the service has, never what was clicked.
import { age, base, depths, failed, fill, find, load, make, nice, settings, t } from "/map/words.js";
import { live } from "/map/live.js";
import { chart } from "/desk/chart.js";
import { night } from "/desk/night.js";
import { outbox, send } from "/desk/outbox.js";
import { depthOf, hour, named, rows, swatch } from "/desk/rows.js";

const MANY = 50; // More areas, or more areas in state 4, are typed as a number before they are set.
const MANY_DEEPEST = 10;
const MOST = 1_000; // An order may have so many areas.
const AWAKE = 1_800_000; // So long after the last key or tap the officer counts as awake.
const STORED = 120_000; // So long what was stored last is shown with its undo.

document.body.classList.add("with-desk");
find("bare").remove();
find("desk").hidden = false;

const areas = new Map(); // What is known of all areas, by id.
let states = new Map(); // The flooded areas.
let news = { attention: [], log: [], reports: [], hidden: [] };
const attention = new Map();
const chosen = new Set();
let newest = new Map(); // The last change of each area, from the log.
let byArea = new Map(); // Reports by area.
let entries = new Map(); // The log by area.

const areaOf = (id) => areas.get(`${id}`) ?? { area_id: `${id}` };
const say = (text) => {
  find("said").textContent = text;
};

// ---------------------------------------------------------------- the list

const field = { search: find("search"), larger: find("larger"), why: find("why") };
let tab = "attention";
let order = []; // What the list showed when it was last put in order.

const words = () => field.search.value.toLowerCase().split(/\s+/).filter(Boolean);
const hay = (area) => (area.hay ??= `${area.area_name} ${area.parent_name} ${area.city_name} ${area.area_id}`.toLowerCase());
const hasReason = (id) => !field.why.value || attention.get(id)?.reasons.some(({ reason }) => reason === field.why.value);
/** The areas that the list should show now, in their order. */
const wanted = () => {
  const all = words();
  const { value: larger } = field.larger;
  const fits = (id) => {
    const area = areaOf(id);
    return (!larger || area.larger === larger) && all.every((word) => hay(area).includes(word));
  };
  const needing = [...attention.keys()].filter(hasReason);
  const flooded = () => [...states.values()].sort((one, other) => Date.parse(one.last_updated) - Date.parse(other.last_updated)).map(({ area_id }) => `${area_id}`);
  if (tab === "chosen") return [...chosen].filter(fits);
  if (tab === "flooded") return flooded().filter(fits);
  // A search and a larger area look at all areas: the telephone names them, whatever needs attention.
  // The area with the number that was typed comes first.
  const exact = areas.has(all[0]) ? [all[0]] : [];
  if (tab === "all" || all.length || larger) return [...new Set([...exact, ...needing, ...areas.keys()])].filter(fits);
  return needing;
};
const about = (id) => ({ area: areaOf(id), flood: states.get(id), by: newest.get(id)?.by, attention: attention.get(id) });

const parts = night({ say, renew: () => renew(), areaOf, stored: (result) => take(result) });
const list = rows({
  element: find("rows"), more: find("more"), about, chosen,
  choose: (id, is) => mark([id], is),
  suggest: (id, state) => act(state, [id]),
  detail: (id) => parts.detail({ reports: byArea.get(id) ?? [], attention: attention.get(id), log: entries.get(id) ?? [] }),
});

/** Puts the list in its order: at the officer's wish, or while nobody works in it. */
const sort = () => {
  order = wanted();
  list.list(order);
  count();
};
/** Shows what has changed in the rows, and says how many are new; the rows stay where they are. */
const refresh = () => {
  const now = wanted();
  const isIdle = !chosen.size && !find("rows").contains(document.activeElement) && scrollY < 80;
  if (isIdle || !order.length || tab !== "attention") {
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
const count = () => {
  if (tab !== "attention" || wanted().every((id) => order.includes(id))) find("new").hidden = true;
  find("tab-attention").lastElementChild.textContent = attention.size;
  find("tab-flooded").lastElementChild.textContent = states.size;
  find("tab-chosen").lastElementChild.textContent = chosen.size;
  find("empty").hidden = list.order.length > 0;
  find("empty").textContent = areas.size ? (tab === "attention" && !words().length ? t.nothing : t.noneFound) : t.noAreas;
  find("all-shown").textContent = fill(t.chooseAll, { count: Math.min(MOST, list.order.length) });
  find("all-shown").hidden = !settings.mayWrite || list.order.length < 2;
};
find("new").addEventListener("click", () => {
  sort();
  scrollTo({ top: 0 });
});
for (const name of ["attention", "flooded", "all", "chosen"]) {
  find(`tab-${name}`).addEventListener("click", () => {
    tab = name;
    for (const of of document.querySelectorAll("[id^=tab-]")) of.setAttribute("aria-pressed", `${of.id === `tab-${name}`}`);
    sort();
  });
}
for (const of of Object.values(field)) of.addEventListener("input", sort);

// ---------------------------------------------------------------- the selection

const mark = (ids, is) => {
  for (const id of ids) is ? chosen.size < MOST && chosen.add(id) : chosen.delete(id);
  selected();
};
const selected = () => {
  list.draw();
  count();
  map.update({ states, attention, chosen });
  const larger = [...new Set([...chosen].map((id) => nice(areaOf(id).parent_name ?? "")))];
  const where = larger.length === 1 && larger[0] ? fill(t.chosenIn, { count: chosen.size, place: larger[0] }) : fill(t.chosenCount, { count: chosen.size });
  find("chosen-count").textContent = chosen.size ? where : t.chooseFirst;
  find("bar").classList.toggle("active", chosen.size > 0);
  for (const button of document.querySelectorAll("#bar button")) button.disabled = !chosen.size;
};
find("all-shown").addEventListener("click", () => mark(list.order.slice(0, MOST), true));
find("none").addEventListener("click", () => {
  chosen.clear();
  selected();
});

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

/** What an order does, in words. */
const words_of = ({ changes }) => {
  const kinds = [...new Set(changes.map(({ state, same }) => (same ? t.same : state ? depths[state] : t.over)))];
  const place = changes.length === 1 ? named(areaOf(changes[0].area_id)) : fill(t.areas, { count: changes.length });
  return `${place} → ${kinds.join(" / ")}`;
};

/** Asks for the number of areas if there are many. */
const confirmed = (changes) => {
  const deepest = changes.filter(({ state, same }) => state === 4 && !same).length;
  const needed = changes.length > MANY || deepest > MANY_DEEPEST;
  if (!needed) return Promise.resolve(true);
  const dialog = find("sure");
  const [input, form] = [find("sure-number"), dialog.querySelector("form")];
  find("sure-words").textContent = `${settings.exercise ? `${t.exercise}: ` : ""}${words_of({ changes })}. ${fill(t.typeNumber, { count: changes.length })}`;
  input.value = "";
  dialog.returnValue = "";
  dialog.showModal();
  input.focus();
  return new Promise((answer) => {
    form.onsubmit = (event) => {
      if (event.submitter?.value !== "yes" || input.value.trim() === `${changes.length}`) return;
      event.preventDefault();
      input.select();
    };
    dialog.onclose = () => answer(dialog.returnValue === "yes");
  });
};

/** Orders a state for areas: 1 to 4, null for over, "same" for still so. */
const act = async (what, ids = [...chosen]) => {
  if (!settings.mayWrite || !ids.length) return;
  const changes = ids.map((id) => {
    const flood = states.get(id);
    const state = what === "same" ? flood?.state ?? null : what;
    return { area_id: id, state, after: flood?.last_updated ?? null, ...(what === "same" ? { same: true } : {}) };
  });
  if (!(await confirmed(changes))) return;
  const order = box.add(changes, find("note").value.trim());
  find("note").value = "";
  for (const id of ids) chosen.delete(id);
  selected();
  const alerts = await box.preview(order).catch(() => null);
  if (alerts) previews.set(order.decided, fill(t.alerts, { new: alerts.new, updates: alerts.updates, cancels: alerts.cancels }));
  draw();
};

const previews = new Map();
const stored = []; // What was stored last.
let waiting = [];

/** Takes what the service has stored. The stream says the same a moment later. */
const take = ({ changed = [] }) => {
  for (const { area_id, state, last_updated } of changed) state ? states.set(`${area_id}`, { area_id: `${area_id}`, state, last_updated }) : states.delete(`${area_id}`);
  refresh();
};

const button = (text, act, className = "button") => {
  const element = make("button", { type: "button", className }, text);
  element.addEventListener("click", act);
  return element;
};

/** One line for each area of a conflict: theirs and mine. */
const conflict = (order) => {
  const mine = new Map(order.changes.map((change) => [change.area_id, change]));
  const lines = order.conflicts.map((theirs) => {
    const { area_id, state, since, username, by } = theirs;
    const chose = mine.get(area_id);
    const who = username ?? by ?? "–";
    const text = make("div", { className: "sides" },
      make("p", {}, fill(t.theirs, { who, at: since ? hour(since) : "–" }), " ", ...swatch(state), depthOf(state)),
      make("p", {}, `${t.mine} `, ...swatch(chose?.state), chose?.state ? depths[chose.state] : t.over));
    return make("li", {}, make("b", {}, named({ ...areaOf(area_id), ...theirs })), text, make("p", { className: "actions" },
      button(fill(t.keepTheirs, { who }), () => box.settle(order.id, [area_id], false)),
      button(t.setMine, () => box.settle(order.id, [area_id], true), "button primary")));
  });
  const ids = order.conflicts.map(({ area_id }) => area_id);
  const all = ids.length > 1 ? [make("p", { className: "actions" }, button(t.keepAll, () => box.settle(order.id, ids, false)), button(t.setAll, () => box.settle(order.id, ids, true)))] : [];
  return make("section", { className: "card conflict" }, make("h3", {}, fill(t.conflict, { count: ids.length })), make("ul", {}, ...lines), ...all);
};
const said = {
  held: (order) => fill(t.held, { seconds: Math.max(1, Math.ceil((order.due - Date.now()) / 1_000)) }),
  sending: () => t.sending,
  lost: () => t.lost,
  ended: () => t.ended,
  found: (order) => fill(t.found, { age: age(new Date(order.decided).toISOString()) }),
};
const card = (order) => {
  if (order.status === "conflict") return conflict(order);
  const actions = [];
  if (order.status === "held") actions.push(button(t.takeBack, () => box.takeBack(order.id), "button primary"));
  if (order.status === "found" || order.status === "ended") actions.push(button(t.sendNow, () => box.confirm(order.id), "button primary"));
  if (order.status === "ended") actions.push(make("a", { className: "button", href: "/desk", target: "_blank", rel: "noopener" }, t.logIn));
  if (["found", "ended", "lost"].includes(order.status)) actions.push(button(t.discard, () => box.takeBack(order.id)));
  const preview = previews.get(order.decided);
  return make("section", { className: `card ${order.status}` },
    make("p", {}, ...swatch(order.changes[0]?.state), make("b", {}, words_of(order)), preview ? `: ${preview}` : ""),
    make("p", { className: "soft" }, said[order.status](order)), make("p", { className: "actions" }, ...actions));
};
const drawn = new Map(); // Cards by order, so that a button stays under the finger while seconds pass.
const draw = () => {
  const cards = waiting.map((order) => {
    const key = JSON.stringify([order.status, order.conflicts?.length, previews.get(order.decided)]);
    const before = drawn.get(order.id);
    if (before?.key === key) {
      if (order.status !== "conflict") before.element.children[1].textContent = said[order.status](order);
      return before.element;
    }
    const element = card(order);
    drawn.set(order.id, { key, element });
    return element;
  });
  for (const id of drawn.keys()) if (!waiting.some((order) => order.id === id)) drawn.delete(id);
  while (stored.length && Date.now() - stored[0].at > STORED) stored.shift();
  const kept = stored.map((of) => of.element);
  const now = [...cards, ...kept];
  const element = find("cards");
  if (now.length !== element.children.length || now.some((of, place) => element.children[place] !== of)) element.replaceChildren(...now);
  const unsent = waiting.reduce((sum, { changes }) => sum + changes.length, 0);
  find("unsent").hidden = !unsent;
  find("unsent").textContent = fill(t.unsent, { count: unsent });
};
const box = outbox({
  show: (orders) => {
    waiting = orders;
    draw();
  },
  done: (order, result) => {
    take(result);
    const text = fill(t.stored, { what: words_of(order), at: hour(result.changed_at) });
    const element = make("section", { className: "card stored" }, make("p", {}, text), make("p", { className: "actions" }, parts.undoButton(result.batch)));
    stored.push({ at: Date.now(), element, batch: result.batch });
    if (stored.length > 3) stored.shift();
    say(text);
    draw();
    renew();
  },
  refused: (order, why) => {
    const names = order.changes.slice(0, 5).map(({ area_id }) => named(areaOf(area_id))).join("; ");
    const text = fill(why === "gone" ? t.gone : t.refused, { what: words_of(order), areas: names, why });
    stored.push({ at: Date.now(), element: make("section", { className: "card refused" }, make("p", {}, text)) });
    say(text);
    draw();
  },
});
setInterval(draw, 10_000);

for (const [id, what] of [["set-1", 1], ["set-2", 2], ["set-3", 3], ["set-4", 4], ["still", "same"], ["over", null]]) find(id).addEventListener("click", () => act(what));
for (const form of document.querySelectorAll("#bar, .filters")) form.addEventListener("submit", (event) => event.preventDefault());

// ---------------------------------------------------------------- keys

const help = find("help");
find("help-button").addEventListener("click", () => help.showModal());
const takeBack = () => {
  if (box.takeBack()) return say(t.takenBack);
  const last = stored.filter(({ batch }) => batch).at(-1);
  if (last) last.element.querySelector("button").focus();
};
const keys = {
  j: () => list.step(1),
  k: () => list.step(-1),
  x: () => list.current && settings.mayWrite && mark([list.current], !chosen.has(list.current)),
  a: () => settings.mayWrite && mark(list.order.slice(0, MOST), true),
  o: () => list.current && list.unfold(list.current),
  m: () => list.current && map.fit(list.current),
  1: () => act(1), 2: () => act(2), 3: () => act(3), 4: () => act(4),
  c: () => act("same"),
  0: () => act(null),
  u: takeBack,
  n: () => find("note").focus(),
  "/": () => field.search.focus(),
  "?": () => help.showModal(),
};
addEventListener("keydown", (event) => {
  const { target, key } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const isText = target.matches?.("input:not([type=checkbox]), textarea, select");
  if (key === "Escape") {
    if (isText) return target.blur();
    chosen.clear();
    return selected();
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
const renew = async () => {
  const number = ++asking;
  let answer;
  try {
    const response = await fetch("/desk/news", { signal: AbortSignal.timeout(20_000) });
    if (response.status === 403) find("login-ended").hidden = false;
    if (!response.ok) return;
    find("login-ended").hidden = true;
    answer = (await response.json()).result;
  } catch (error) {
    return failed(error);
  }
  if (number !== asking) return;
  news = answer;
  attention.clear();
  for (const listed of news.attention) attention.set(`${listed.area_id}`, listed);
  for (const { area_id, area_name, parent_name, city_name } of news.attention) if (!areas.has(`${area_id}`)) areas.set(`${area_id}`, { area_id: `${area_id}`, area_name, parent_name, city_name });
  entries = Map.groupBy ? Map.groupBy(news.log, ({ area_id }) => `${area_id}`) : group(news.log);
  newest = new Map([...entries].map(([id, [first]]) => [id, first]));
  byArea = group(news.reports);
  parts.draw(news);
  refresh();
  map.update({ states, attention, chosen });
};
const group = (all) => {
  const groups = new Map();
  for (const of of all) {
    const id = `${of.area_id}`;
    groups.has(id) ? groups.get(id).push(of) : groups.set(id, [of]);
  }
  return groups;
};
let soon;
const renewSoon = () => {
  clearTimeout(soon);
  soon = setTimeout(renew, 200);
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
  states: (all) => {
    states = new Map([...all].map(([id, flood]) => [`${id}`, flood]));
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

// The officer works: the service counts that as a sign of life, but not of a tab that nobody looks at.
let touched = Date.now();
for (const kind of ["keydown", "pointerdown"]) addEventListener(kind, () => (touched = Date.now()), { capture: true, passive: true });
const beat = () => Date.now() - touched < AWAKE && send("POST", "/desk/alive").catch(failed);
beat();
setInterval(beat, 60_000);
setInterval(renew, 60_000); // Time alone is a reason, too.

const names = async () => {
  const { cities } = await (await fetch("/map/names")).json();
  const options = [];
  for (const [city, parents] of cities) {
    for (const [parent, of] of parents) {
      const larger = `${city}\n${parent}`;
      for (const [id, name] of of) areas.set(`${id}`, { area_id: `${id}`, area_name: name, parent_name: parent, city_name: city, larger });
      if (parent) options.push(make("option", { value: larger }, `${nice(parent)} (${of.length})`));
    }
  }
  field.larger.append(...options);
};
selected();
Promise.all([names(), renew()]).then(() => {
  sort();
  parts.draw(news);
  performance.mark("desk ready");
}, failed);
