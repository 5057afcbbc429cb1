// The orders of the officer: previews, confirmation of large ones, a card for each until it is stored, and conflicts.
import { age, depths, fill, find, make, settings, t } from "../map/words.js";
import { placeOf } from "./places.js";
import { depthOf, hour, named, swatch } from "./rows.js";
import { waitingOrders } from "./waiting.js";

const MANY = 50; // More areas, or more areas in state 4, are typed as a number before they are set.
const MANY_DEEPEST = 10;
const MANY_OVER = 10; // So many areas that are over are asked about, and all that are flooded.
const MANY_OF_SENDER = 10; // More reports of one sender are asked about before they are hidden.
const STORED = 60_000; // So long what was stored last is shown with its undo.
const TOLD = 10_000; // So long the result of something else is shown.

const button = (text, act, className = "button") => {
  const element = make("button", { type: "button", className }, text);
  element.addEventListener("click", act);
  return element;
};

const said = {
  held: (order) => navigator.onLine === false ? t.lost : fill(t.held, { seconds: Math.max(1, Math.ceil((order.due - Date.now()) / 1_000)) }),
  sending: () => t.sending,
  lost: () => t.lost,
  ended: (order) => order.why ? fill(t.endedWhy, { why: order.why }) : t.ended,
  found: (order) => fill(t.found, { age: age(new Date(order.decided).toISOString()) }),
};

/** Asks for confirmation in a dialog. Returns whether it was given. */
export const askInDialog = (id, words) => {
  const dialog = find(id);
  find(`${id}-words`).replaceChildren(...words);
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((answer) => (dialog.onclose = () => answer(dialog.returnValue === "yes")));
};

/**
 * Creates the orders. `areaOf(id)` returns the data of an area, `flooded()` the number of flooded areas, `say` shows a message. Calls
 * `stored(result)` when the service has stored an order, and `returned(order)` when it was cancelled.
 */
export const orders = ({ areaOf, flooded, say, stored, returned }) => {
  const placesOf = (changes) => placeOf(changes.map(({ area_id }) => areaOf(area_id)));
  /** Describes an order in words. */
  const wordsOf = ({ changes, undo = 0, hide = "", count = 0 }) => {
    if (hide) return fill(t.hideAll, { count });
    if (undo) return fill(t.undoing, { what: placesOf(changes) });
    const kinds = [...new Set(changes.map(({ state, same }) => (same ? t.same : state ? depths[state] : t.over)))];
    return `${placesOf(changes)} → ${kinds.join(" / ")}`;
  };
  /** Describes the result of an undo in words. */
  const undone = ({ changed, left = [] }) => {
    const states = [...new Set(changed.map(({ state }) => state))].sort();
    const now = states.map((state) => `${placesOf(changed.filter((of) => of.state === state))}: ${depthOf(state)}`);
    return [...now, ...(left.length ? [fill(t.undoLeft, { areas: placesOf(left.map((area_id) => ({ area_id }))) })] : [])].join("; ");
  };
  /** Names the areas that an order lowers compared with the time of the decision. */
  const lowered = ({ changes }) => {
    const lower = changes.filter(({ state, from }) => state && state < from);
    return lower.length ? [make("p", { className: "lower" }, `▼ ${fill(t.lower, { areas: placesOf(lower) })}`)] : [];
  };

  /** Asks for confirmation by number if there are many areas, or if no flood would remain. */
  const confirmed = (changes) => {
    const deepest = changes.filter(({ state, same }) => state === 4 && !same).length;
    const over = changes.filter(({ state, same }) => state === null && !same);
    const isAll = over.length > 0 && over.filter(({ from }) => from).length === flooded();
    const needed = changes.length > MANY || deepest > MANY_DEEPEST || over.length >= MANY_OVER || isAll;
    if (!needed) return Promise.resolve(true);
    const input = find("sure-number");
    input.value = "";
    input.form.onsubmit = (event) => {
      if (event.submitter?.value !== "yes" || input.value.trim() === `${changes.length}`) return;
      event.preventDefault();
      input.select();
    };
    const exercise = settings.exercise ? `${t.exercise}: ` : "";
    const all = isAll ? [make("b", {}, t.allFlooded), " "] : [];
    const answer = askInDialog("sure", [make("b", {}, `${exercise}${wordsOf({ changes })}.`), " ", ...all, ...lowered({ changes }), fill(t.typeNumber, { count: changes.length })]);
    input.focus();
    return answer;
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
        button(fill(t.keepTheirs, { who }), () => box.decide(order.id, [area_id], false)),
        button(t.setMine, () => box.decide(order.id, [area_id], true), "button primary")));
    });
    const ids = order.conflicts.map(({ area_id }) => area_id);
    const all = ids.length > 1 ? [make("p", { className: "actions" }, button(t.keepAll, () => box.decide(order.id, ids, false)), button(t.setAll, () => box.decide(order.id, ids, true)))] : [];
    return make("section", { className: "card conflict" }, make("h3", {}, fill(t.conflict, { count: ids.length })), make("ul", {}, ...lines), ...all);
  };
  const card = (order) => {
    if (order.status === "conflict") return conflict(order);
    const actions = [];
    if (order.status === "held") actions.push(button(t.takeBack, () => takeBack(order.id), "button primary"));
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
    const element = find("cards");
    // Nothing moves under the pointer: a result stays while it is there, and the newest order is always at the bottom.
    const isHeld = element.matches(":hover");
    results = results.filter(({ until }) => Date.now() < until || (until && isHeld));
    const kept = results.map((of) => of.element);
    const now = [...kept, ...cards];
    if (now.length !== element.children.length || now.some((of, place) => element.children[place] !== of)) element.replaceChildren(...now);
    const unsent = waiting.reduce((sum, { changes, status }) => sum + (status === "lost" ? changes.length : 0), 0);
    find("unsent").hidden = !unsent;
    find("unsent").textContent = fill(t.unsent, { count: unsent });
  };
  /** Shows a result for some time. Failures stay until they are closed. */
  const put = (text, time, batch) => {
    const result = { until: Date.now() + time, batch };
    const close = button(t.close, () => {
      result.until = 0;
      draw();
    });
    const actions = make("p", { className: "actions" }, ...(batch ? [undoButton(...batch)] : []), close);
    result.element = make("section", { className: `card ${time === Infinity ? "refused" : "stored"}` }, make("p", {}, text), actions);
    results.push(result);
    say(text);
    draw();
  };
  const box = waitingOrders({
    show: (orders) => {
      waiting = orders;
      draw();
    },
    done: (order, result) => {
      // Shows only the newest undo, because the log offers the earlier ones.
      if (!order.hide) results = results.filter(({ batch }) => !batch);
      if (order.hide) {
        // A repeated order hides no more reports, and the page does not know how many the first attempt hid.
        const left = result.left ? ` ${fill(t.hiddenLeft, { count: result.left })}` : "";
        if (result.hidden.length || left) put(fill(t.hiddenAll, { count: result.hidden.length }) + left, TOLD);
      } else if (order.undo) put(fill(result.changed.length ? t.undone : t.notUndone, { what: undone(result) }), STORED);
      else put(fill(t.stored, { what: wordsOf(order), at: hour(result.changed_at) }), STORED, [result.batch, result.changed]);
      stored(result);
    },
    refused: (order, why) => {
      const rest = order.changes.length - 5;
      const names = order.changes.slice(0, 5).map(({ area_id }) => named(areaOf(area_id))).join("; ") + (rest > 0 ? ` ${fill(t.andMore, { count: rest })}` : "");
      const text = fill({ gone: t.gone, outside: t.outside }[why] ?? t.refused, { what: wordsOf(order), areas: names, why });
      put(text, Infinity);
    },
  });
  setInterval(draw, 5_000);
  /** Cancels an order that was not sent. Returns whether there was one. */
  const takeBack = (id) => {
    const order = box.takeBack(id);
    if (!order) return false;
    returned(order);
    put(t.takenBack, TOLD);
    return true;
  };
  /** A button that undoes a batch, after the time for cancelling that. */
  const undoButton = (batch, changed) => button(t.undo, () => {
    if (!waiting.some(({ undo }) => undo === batch)) box.add({ undo: batch, changes: changed.map(({ area_id }) => ({ area_id })) });
  });

  /** Shows the orders that others have left in this browser. */
  const showLeft = async () => {
    for (const { order, subject, discard } of await box.leftByOthers()) {
      const element = make("section", { className: "card found" }, make("p", {}, fill(t.ofSubject, { subject, what: wordsOf(order), age: age(new Date(order.decided).toISOString()) })));
      const result = { until: Infinity, batch: undefined, element };
      element.append(make("p", { className: "actions" }, button(t.discard, () => {
        discard();
        result.until = 0;
        draw();
      })));
      results.push(result);
    }
    draw();
  };

  return {
    showLeft,
    /** Returns the number of changes that are not stored yet. */
    waiting: () => waiting.reduce((sum, { changes }) => sum + (changes.length || 1), 0),
    /** Holds an order after confirmation. Returns whether it was confirmed. */
    order: async (order) => {
      if (!(await confirmed(order.changes))) return false;
      preview(box.add(order));
      return true;
    },
    undoButton,
    /** Holds an order to hide all waiting reports of a sender, after confirmation. */
    hide: async ({ sender, of_sender: count }, reason) => {
      if (count > MANY_OF_SENDER && !(await askInDialog("hide-all", [fill(t.hideAllSure, { count })]))) return;
      if (!waiting.some(({ hide }) => hide === sender)) box.add({ hide: sender, reason, count, changes: [] });
    },
    /** Shows an outcome to the officer. */
    tell: (text) => put(text, TOLD),
    /** Cancels the last order that was not sent; otherwise focuses the undo of the last one. */
    takeBack: () => takeBack() || results.filter(({ batch }) => batch).at(-1)?.element.querySelector("button").focus(),
  };
};
