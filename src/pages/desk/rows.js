// The list of areas. Rows keep their place while the officer works: new rows appear only after a tap.
import { nice } from "../names.js";
import { age, depths, fill, make, settings, t } from "../map/words.js";

const AT_FIRST = 100; // How many rows are drawn at first.

export const depthOf = (state) => (state ? depths[state] : t.dry);
export const swatch = (state) => (state ? [make("i", { className: `swatch s${state}` })] : []);

/** The name of an area, followed by its parent. */
export const named = ({ area_name, parent_name, area_id }) => [nice(area_name || "") || area_id, nice(parent_name || "")].filter(Boolean).join(", ");

const hours = new Intl.DateTimeFormat(settings.language, { timeZone: settings.timeZone, hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
export const hour = (at) => hours.format(new Date(at));

const span = (first, last) => (hour(first) === hour(last) ? hour(last) : `${hour(first)}–${hour(last)}`);
const heights = (all) => (all.length ? `: ${all.slice(0, 12).map(Math.round).join(", ")} cm` : "");

/** A reason in words. */
const reasonOf = (reason) => {
  if (reason.reason === "unconfirmed") {
    const hasLapsed = Date.parse(reason.lapses) < Date.now();
    return fill(hasLapsed ? t.lapsed : t.unconfirmed, { age: age(reason.since), lapses: hour(reason.lapses) });
  }
  if (reason.reason === "gauge") return fill(t.gauge, { gauge: reason.gaugenameid, label: reason.label, at: hour(reason.at) }) + [reason.suspect && t.suspect, reason.last_heard && fill(t.lastHeard, { at: hour(reason.last_heard) })].filter(Boolean).map((text) => ` (${text})`).join("");
  const waiting = reason.waiting_ids.length ? ` (${fill(t.waitingCount, { count: reason.waiting_ids.length })})` : "";
  return fill(t.reports, { count: reason.report_ids.length, span: span(reason.first, reason.at) }) + heights(reason.depths) + waiting;
};
const evidenceOf = ({ report_ids, first, last, depths: all, gauges }) =>
  [fill(t.reports, { count: report_ids.length, span: span(first, last) }) + heights(all), ...gauges].join("; ");

/** A form that asks for a reason and calls `act` with it. `key` is unique in its list. */
export const reasonForm = (key, words, label, act, ...before) => {
  const reason = make("input", { maxLength: 200, required: true, placeholder: words, ariaLabel: words });
  reason.dataset.key = key;
  const form = make("form", { className: "hide" }, ...before, reason, make("button", { className: "button" }, label));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const field = form.querySelector("input");
    // The keys of the desk work again.
    field.blur();
    act(field.value.trim());
  });
  return form;
};
/**
 * Replaces the content of an element, except the fields of reasons that are still there, with what is typed in them. Returns whether it did:
 * not while something in it is pressed.
 */
export const redraw = (element, parts) => {
  if (element.querySelector(":active")) return false;
  const fields = () => [...element.querySelectorAll("input[data-key]")];
  const before = new Map(fields().map((field) => [field.dataset.key, field]));
  const focused = document.activeElement;
  element.replaceChildren(...parts);
  for (const field of fields()) field.replaceWith(before.get(field.dataset.key) ?? field);
  if (before.get(focused.dataset?.key) === focused) focused.focus({ preventScroll: true });
  return true;
};

/**
 * Draws the list into `element`. `about(id)` returns the data of an area: `mayWrite`, `area`, `hasStates`, `flood`,
 * `by`, `attention`. Calls `choose(id, is)` and
 * `suggest(id, state)` for taps, and `unfolded()` when a row is unfolded; `detail(id)` returns the elements that it shows then.
 */
export const rows = ({ element, more, about, chosen, choose, suggest, unfolded, detail }) => {
  const all = new Map(); // Elements by id.
  const open = new Set();
  let order = [];
  let most = AT_FIRST;

  const make_row = (id) => {
    const box = make("input", { type: "checkbox", id: `pick${id}` });
    const title = make("label", { htmlFor: `pick${id}` });
    const unfold = make("button", { type: "button", className: "unfold", textContent: "▾" });
    const body = make("div", { className: "about" });
    const below = make("div", { className: "below", hidden: true });
    const row = make("li", { className: "row" }, box, make("div", { className: "what" }, title, body), unfold, below);
    row.dataset.area = id;
    box.addEventListener("change", () => choose(id, box.checked));
    unfold.addEventListener("click", () => {
      open.has(id) ? open.delete(id) : open.add(id);
      fillRow(id);
      if (open.has(id)) unfolded();
    });
    all.set(id, { row, box, title, body, below, unfold });
    return row;
  };

  const fillRow = (id) => {
    const parts = all.get(id);
    if (!parts) return;
    const { area, hasStates, flood, by, attention, mayWrite } = about(id);
    parts.box.disabled = !mayWrite;
    parts.box.checked = chosen.has(id);
    parts.row.classList.toggle("chosen", chosen.has(id));
    const isOpen = open.has(id);
    parts.unfold.setAttribute("aria-expanded", isOpen);
    parts.unfold.ariaLabel = `${t.details}: ${named(area)}`;
    const key = JSON.stringify([area, hasStates, flood, by, attention, mayWrite, Math.floor(Date.now() / 60_000)]);
    if (parts.key !== key) {
      parts.key = key;
      parts.title.replaceChildren(make("b", {}, nice(area.area_name || "") || `${id}`), " ", make("span", { className: "soft" }, [area.parent_name, area.city_name].filter(Boolean).map(nice).join(" · ")));
      const state = make("p", { className: "state" }, ...swatch(flood?.state), hasStates ? depthOf(flood?.state) : "–");
      if (flood) state.append(" ", make("span", { className: "soft" }, [flood.flooded_since && `${t.since} ${age(flood.flooded_since)}`, flood.confirmed && `${t.confirmed} ${age(flood.confirmed)}`, by].filter(Boolean).join(" · ")));
      const reasons = (attention?.reasons ?? []).map((reason) => make("li", { className: reason.reason }, reasonOf(reason)));
      const content = [state];
      if (reasons.length) content.push(make("ul", {}, ...reasons));
      if (settings.mayWrite && !mayWrite) content.push(make("p", { className: "soft" }, t.ofOther));
      if (attention?.suggested && mayWrite) {
        const { state: code, evidence } = attention.suggested;
        const button = make("button", { type: "button", className: "suggest" }, `${t.suggested} `, ...swatch(code), depths[code]);
        button.title = evidenceOf(evidence);
        button.addEventListener("click", () => suggest(id, code));
        content.push(button);
      }
      parts.body.replaceChildren(...content);
    }
    parts.below.hidden = !isOpen;
    if (isOpen) {
      const inner = detail(id);
      const text = inner.map((of) => of.outerHTML).join();
      if (text !== parts.text && redraw(parts.below, inner)) parts.text = text;
    }
  };

  const draw = () => {
    const wanted = order.slice(0, most);
    const keep = new Set(wanted);
    for (const [id, { row }] of all) {
      if (keep.has(id)) continue;
      row.remove();
      all.delete(id);
    }
    wanted.forEach((id, place) => {
      const row = all.get(id)?.row ?? make_row(id);
      if (element.children[place] !== row) element.insertBefore(row, element.children[place] ?? null);
      fillRow(id);
    });
    more.hidden = order.length <= most;
    more.textContent = fill(t.more, { count: order.length - most });
  };
  more.addEventListener("click", () => {
    most += 4 * AT_FIRST;
    draw();
  });

  /** The row with the keyboard's focus. */
  const place = () => order.indexOf(document.activeElement?.closest(".row")?.dataset.area);
  return {
    /** Shows other areas, or the same in another order. */
    list: (ids) => {
      if (`${ids}` !== `${order}`) most = AT_FIRST;
      order = ids;
      draw();
    },
    draw,
    step: (by) => {
      const next = Math.max(0, Math.min(order.length - 1, place() < 0 ? (by > 0 ? 0 : order.length - 1) : place() + by));
      if (next >= most) {
        most = next + AT_FIRST;
        draw();
      }
      const parts = all.get(order[next]);
      parts?.box.focus({ preventScroll: true });
      parts?.row.scrollIntoView({ block: "nearest" });
    },
    get current() {
      return order[place()];
    },
    unfold: (id) => all.get(id)?.unfold.click(),
    get order() {
      return order;
    },
  };
};
