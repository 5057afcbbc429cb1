// The orders of the officer: what each will do, the question before a large one, its card until it is stored, and conflicts.
import { age, depths, fill, find, make, settings, t } from "../map/words.js";
import { outbox } from "./outbox.js";
import { placeOf } from "./places.js";
import { depthOf, hour, named, swatch } from "./rows.js";

const MANY = 50; // More areas, or more areas in state 4, are typed as a number before they are set.
const MANY_DEEPEST = 10;
const STORED = 60_000; // So long what was stored last is shown with its undo.
const TOLD = 10_000; // So long the result of something else is shown.

const button = (text, act, className = "button") => {
  const element = make("button", { type: "button", className }, text);
  element.addEventListener("click", act);
  return element;
};

const said = {
  held: (order) => fill(t.held, { seconds: Math.max(1, Math.ceil((order.due - Date.now()) / 1_000)) }),
  sending: () => t.sending,
  lost: () => t.lost,
  ended: () => t.ended,
  found: (order) => fill(t.found, { age: age(new Date(order.decided).toISOString()) }),
};

/**
 * Makes the orders. `areaOf(id)` says what is known of an area, `say` tells the officer something, `undoButton(batch)` returns a button,
 * and `stored(result)` is called when the service has stored an order.
 */
export const orders = ({ areaOf, say, undoButton, stored }) => {
  /** What an order does, in words. */
  const wordsOf = ({ changes }) => {
    const kinds = [...new Set(changes.map(({ state, same }) => (same ? t.same : state ? depths[state] : t.over)))];
    return `${placeOf(changes.map(({ area_id }) => areaOf(area_id)))} → ${kinds.join(" / ")}`;
  };
  /** Says which areas an order sets lower than they were when it was decided. */
  const lowered = ({ changes }) => {
    const lower = changes.filter(({ state, from }) => state && state < from).map(({ area_id }) => areaOf(area_id));
    return lower.length ? [make("p", { className: "lower" }, `▼ ${fill(t.lower, { areas: placeOf(lower) })}`)] : [];
  };

  /** Asks for the number of areas if there are many. */
  const confirmed = (changes) => {
    const deepest = changes.filter(({ state, same }) => state === 4 && !same).length;
    const needed = changes.length > MANY || deepest > MANY_DEEPEST;
    if (!needed) return Promise.resolve(true);
    const dialog = find("sure");
    const [input, form] = [find("sure-number"), dialog.querySelector("form")];
    const exercise = settings.exercise ? `${t.exercise}: ` : "";
    find("sure-words").replaceChildren(make("b", {}, `${exercise}${wordsOf({ changes })}.`), " ", ...lowered({ changes }), fill(t.typeNumber, { count: changes.length }));
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

  const previews = new Map();
  const preview = async (order) => {
    const alerts = await box.preview(order).catch(() => null);
    if (alerts) previews.set(order.decided, fill(t.alerts, { new: alerts.new, updates: alerts.updates, cancels: alerts.cancels }));
    draw();
  };
  let results = []; // What was stored or refused last, until when it is shown.
  let waiting = [];

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
  const card = (order) => {
    if (order.status === "conflict") return conflict(order);
    const actions = [];
    if (order.status === "held") actions.push(button(t.takeBack, () => box.takeBack(order.id), "button primary"));
    if (order.status === "found" || order.status === "ended") actions.push(button(t.sendNow, () => box.confirm(order.id), "button primary"));
    if (order.status === "ended") actions.push(make("a", { className: "button", href: "/desk", target: "_blank", rel: "noopener" }, t.logIn));
    if (["found", "ended", "lost"].includes(order.status)) actions.push(button(t.discard, () => box.takeBack(order.id)));
    const preview = previews.get(order.decided);
    return make("section", { className: `card ${order.status}` },
      make("p", {}, ...swatch(order.changes[0]?.state), make("b", {}, wordsOf(order)), preview ? `: ${preview}` : ""),
      make("p", { className: "soft" }, said[order.status](order)), make("p", { className: "actions" }, ...actions), ...lowered(order));
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
    results = results.filter(({ until }) => Date.now() < until);
    const kept = results.map((of) => of.element);
    const now = [...cards, ...kept];
    const element = find("cards");
    if (now.length !== element.children.length || now.some((of, place) => element.children[place] !== of)) element.replaceChildren(...now);
    const unsent = waiting.reduce((sum, { changes }) => sum + changes.length, 0);
    find("unsent").hidden = !unsent;
    find("unsent").textContent = fill(t.unsent, { count: unsent });
  };
  /** Shows a result for some time. What was not stored stays until it is closed. */
  const put = (text, time, batch) => {
    const result = { until: Date.now() + time, batch };
    const close = button(t.close, () => {
      result.until = 0;
      draw();
    });
    const actions = make("p", { className: "actions" }, ...(batch ? [undoButton(batch)] : []), close);
    result.element = make("section", { className: `card ${time === Infinity ? "refused" : "stored"}` }, make("p", {}, text), actions);
    results.push(result);
    say(text);
    draw();
  };
  const box = outbox({
    show: (orders) => {
      waiting = orders;
      draw();
    },
    done: (order, result) => {
      const text = fill(t.stored, { what: wordsOf(order), at: hour(result.changed_at) });
      // One is enough: the log has those before.
      results = results.filter(({ batch }) => !batch);
      put(text, STORED, result.batch);
      stored(result);
    },
    refused: (order, why) => {
      const names = order.changes.slice(0, 5).map(({ area_id }) => named(areaOf(area_id))).join("; ");
      const text = fill(why === "gone" ? t.gone : t.refused, { what: wordsOf(order), areas: names, why });
      put(text, Infinity);
    },
  });
  setInterval(draw, 5_000);

  return {
    /** Holds an order, once it is confirmed. Returns whether it is. */
    order: async (changes, note) => {
      if (!(await confirmed(changes))) return false;
      const order = box.add(changes, note);
      preview(order);
      return true;
    },
    /** Tells the officer what became of something. */
    tell: (text) => put(text, TOLD),
    /** Ends the offer to undo a batch. */
    undone: (number) => {
      results = results.filter(({ batch }) => batch !== number);
      draw();
    },
    /** Takes back the last order that was not sent; else leads to the undo of the last one. */
    takeBack: () => {
      if (box.takeBack()) return put(t.takenBack, TOLD);
      results.filter(({ batch }) => batch).at(-1)?.element.querySelector("button").focus();
    },
  };
};
