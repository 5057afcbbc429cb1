// Messages to this browser: choosing areas on the map, and the page that lists and ends them.
import { get } from "../request.js";
import { call, fail, inTime, inTurn, optionsOf, readOwn, resultOf, store, stored } from "./subscription.js";

/** @typedef {{ id?: string, name: string }} Place */

const MOST = 10;
// The browser renews its subscription after this time, in milliseconds.
const WEEK = 604_800_000;

const fill = (text, values) => text.replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);
const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};
const button = (text, act, isPrimary = false) => {
  const element = make("button", { type: "button", className: isPrimary ? "button primary" : "button" }, text);
  element.addEventListener("click", async () => {
    element.disabled = true;
    await act().finally(() => (element.disabled = false));
  });
  return element;
};

/** Notes for the map whether there is a subscription to renew. */
const note = (has) => {
  try {
    has ? localStorage.setItem("push", "on") : localStorage.removeItem("push");
  } catch {
    // The browser blocks it: the map does not renew the subscription, and the page of notifications does.
  }
};

// Browsers show messages of a secure page that is not in a frame of another site.
const isPossible = () => isSecureContext && top === self && Boolean(navigator.serviceWorker);
const isSupported = () => isPossible() && Boolean(self.PushManager && self.Notification);
// The user agent of an iPad is that of a Mac.
const isApple = () => /iPhone|iPad/.test(navigator.userAgent) || (/Macintosh/.test(navigator.userAgent) && navigator.maxTouchPoints > 1);
/** Returns the key of the text that says why this browser cannot show messages. */
const unsupported = () => (isApple() && isPossible() && !navigator["standalone"] ? "iphone" : "unsupported");
const isGranted = () => self.Notification?.permission === "granted";

/** Returns the browser's subscription at its push service, if there is one. */
const current = async () => (await navigator.serviceWorker.getRegistration("/map"))?.pushManager.getSubscription();
const unsubscribe = () => inTime(current().then((subscription) => subscription?.unsubscribe()));
/** Subscribes the browser at its push service. */
const subscribed = async (base) => {
  const registration = await navigator.serviceWorker.register(`/sw.js?base=${base}`, { scope: "/map" });
  await inTime(navigator.serviceWorker.ready);
  const options = await optionsOf(base);
  try {
    return await inTime(registration.pushManager.subscribe(options));
  } catch (error) {
    if (error.name === "AbortError") return fail("endpoint");
    // The browser has a subscription with another key, of an earlier installation.
    if (error.name !== "InvalidStateError") throw error;
    await unsubscribe();
    return inTime(registration.pushManager.subscribe(options));
  }
};
/** Subscribes the browser, and stores a choice as `store` does. @param {import("./subscription.js").Own} own */
const save = async (base, own, isSecond = false) => {
  const subscription = await subscribed(base);
  try {
    const saved = await store(base, own, subscription);
    note(true);
    return saved;
  } catch (error) {
    // If the service has stored a new subscription, but its response is lost, nobody could end it.
    if (error.key === "endpoint" || !own.id) await unsubscribe();
    // The push service has ended the browser's subscription.
    if (error.key === "endpoint" && !isSecond) return save(base, own, true);
    throw error;
  }
};
/** Ends all messages to this browser. @param {import("./subscription.js").Own} own */
const end = async (base, own) => {
  const { status } = await call(base, `/${own.id}`, "DELETE", own.secret);
  if (status !== 200 && status !== 404) fail("failed");
  await stored("readwrite", (all) => all.delete("own"));
  note(false);
  await unsubscribe();
};

/** Whether none of the chosen areas exists any more. */
const hasNoAreas = ({ key }) => key === "areas" || key === "parent";
/** Asks the service whether this browser gets messages, by renewing its subscription. Returns why it gets none, as a text; "" if it does. */
const check = (base, t) => inTurn(async (own) => {
  if (!isGranted()) return own && self.Notification?.permission === "denied" ? t.refused : fill(t.none, t);
  if (!own) return fill(t.none, t);
  try {
    await save(base, own);
    return "";
  } catch (error) {
    return hasNoAreas(error) ? fill(t.none, t) : t[["endpoint", "full"].includes(error.key) ? error.key : "unsure"];
  }
});

/** Renews the subscription of this browser: once a week, and if the browser has replaced it. */
export const renew = (base) => inTurn(async (own) => {
  if (!own || !isGranted()) return;
  const subscription = await inTime(current());
  if (subscription?.endpoint !== own.endpoint || Date.now() - (own.renewed ?? 0) > WEEK) await save(base, own);
});

/** Returns a line that says what has happened, hidden until then, and the function that says it. */
const speaker = () => {
  const said = make("p", { className: "notice", hidden: true });
  said.setAttribute("role", "status");
  const say = (text) => Object.assign(said, { hidden: false, textContent: text });
  return { said, say };
};

/** Opens a dialog in which the reader subscribes to an area, or to all of its larger area. */
export const tell = async ({ language, area, parent }) => {
  const { base, texts: t, isActual, feed } = (await get(`/map/push?lang=${language}`)).body;
  let own = await readOwn().catch(() => undefined);
  // It was pressed twice.
  if (document.querySelector("dialog")) return;
  const dialog = make("dialog");
  // The style sheet of the map stays small.
  dialog.style.cssText = "max-width: 30rem; margin: auto; padding: 1rem 1.2rem; border: 1px solid var(--line); border-radius: 12px; background: var(--raised); color: var(--ink)";
  dialog.setAttribute("aria-label", t.tell);
  const { said, say } = speaker();
  const canReceive = isSupported();
  const about = make("p", canReceive && isActual ? {} : { className: "notice" }, !canReceive ? fill(t[unsupported()], t) : isActual ? t.explain : t.test);
  const larger = make("input", { type: "checkbox" });
  const instead = make("p");
  const choice = make("div", {}, ...(parent ? [make("label", { className: "tick" }, larger, ` ${fill(t.tell_larger, { place: parent.name })}`)] : []), instead);
  const isOwnParent = () => own?.parent?.parent_name === parent?.parent_name && own?.parent?.city_name === parent?.city_name;
  const showReplaced = () => {
    const replaced = [...(larger.checked ? (own?.areas ?? []) : []), ...(own?.parent && !(larger.checked && isOwnParent()) ? [own.parent] : [])];
    instead.textContent = replaced.length ? fill(t.replaces, { places: replaced.map(({ name }) => name).join("; ") }) : "";
  };
  larger.addEventListener("change", showReplaced);
  showReplaced();
  const choose = async () => {
    const permission = await Notification.requestPermission();
    if (permission !== "granted") return say(permission === "denied" ? t.refused : fill(t.undecided, t));
    const isLarger = larger.checked;
    try {
      const { areas, isNew } = await inTurn((own) => {
        const others = (own?.areas ?? []).filter(({ id }) => id !== area.id);
        if (!isLarger && others.length >= MOST) fail("too_many");
        return save(base, { ...own, language, ...(isLarger ? { areas: [], parent } : { areas: [...others, area], parent: undefined }) });
      });
      if (!isLarger && !areas.some(({ id }) => id === area.id)) return say(t.areas);
      say(isActual ? fill(t.done, { place: (isLarger ? parent : area).name }) : isNew ? t.trial_sent : t.test);
      allow.remove();
      choice.remove();
    } catch (error) {
      say(t[error.key] ?? t.failed);
    }
  };
  const allow = button(t.allow, choose, true);
  const close = button("×", async () => dialog.close());
  close.className = "close";
  close.style.cssText = "top: .2rem; right: .2rem";
  close.ariaLabel = t.close;
  const title = make("h2", {}, t.tell);
  title.style.cssText = "margin: 0 2.5rem .5rem 0";
  dialog.append(close, title, about, ...(canReceive ? [make("p", {}, t.stores), choice] : []), said,
    make("p", { className: "actions" }, ...(canReceive ? [allow] : []), make("a", { className: "button", href: `/map/notifications?lang=${language}` }, t.mine)), make("p", {}, make("a", { href: feed }, t.feed)));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  if (!own) return;
  const trouble = await check(base, t);
  own = await readOwn();
  showReplaced();
  if (trouble) say(trouble);
  else if (isActual && own?.areas.some(({ id }) => id === area.id)) about.textContent = fill(t.known, { place: area.name });
};

/** Shows the areas of this browser, with buttons that end messages and send a trial. */
const list = async (root, { base, texts: t, isActual }) => {
  const { said, say } = speaker();
  const trying = (act) => async () => {
    try {
      await act();
    } catch (error) {
      say(hasNoAreas(error) ? fill(t.none, t) : (t[error.key] ?? t.failed));
    }
  };
  const leave = (/** @type {Place} */ { id, name }) => trying(async () => {
    await inTurn(async (own) => {
      if (!own || !(id ? own.areas.some((area) => area.id === id) : own.parent)) return;
      const areas = own.areas.filter((area) => area.id !== id);
      try {
        await (areas.length ? save(base, { ...own, areas }) : end(base, own));
      } catch (error) {
        if (hasNoAreas(error)) return end(base, own);
        // No message can come, and the next renewal sends the other areas to the service.
        if (areas.length && (!isGranted() || error.key === "endpoint")) return stored("readwrite", (all) => all.put({ ...own, areas }, "own"));
        throw error;
      }
    });
    await draw();
    say(fill(t.ended, { place: name }));
  });
  const trial = trying(() => inTurn(async (own) => {
    if (!own) return say(fill(t.none, t));
    const response = await call(base, `/${own.id}/trial`, "POST", own.secret);
    // The push service has ended the browser's subscription: a new one begins with a message.
    await (response.status === 404 ? save(base, own) : resultOf(response));
    say(t.trial_sent);
  }));
  const row = (/** @type {Place} */ place) => make("li", {}, `${place.name} `, Object.assign(button(t.end, leave(place)), { ariaLabel: `${t.end}: ${place.name}` }));
  /** Shows the rows. Returns whether there are any. */
  const draw = async (canTry = true) => {
    const own = await readOwn();
    const rows = (own?.parent ? [own.parent] : (own?.areas ?? [])).map(row);
    const shown = rows.length ? [make("ul", {}, ...rows), ...(canTry ? [button(t.send_trial, trial)] : [])] : [make("p", {}, fill(t.none, t))];
    root.replaceChildren(...(isActual ? [] : [make("p", { className: "notice" }, t.test)]), ...shown, said);
    return rows.length > 0;
  };
  if (!isSupported()) return root.replaceChildren(make("p", {}, fill(t[unsupported()], t)));
  // Without rows, this ends a subscription whose number and secret the browser has lost.
  if (!(await draw())) return inTurn((own) => own ?? unsubscribe());
  const trouble = await check(base, t);
  await draw(!trouble);
  if (trouble) say(trouble);
};
const root = document.getElementById("notifications");
if (root) {
  const settings = JSON.parse(document.body.dataset.push);
  // The browser may block its storage.
  list(root, settings).catch(() => root.replaceChildren(make("p", {}, settings.texts.failed)));
}
