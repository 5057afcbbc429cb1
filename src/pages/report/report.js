// Shows the form in steps. Without this script, the page is a single form that works as well.

import { Unusable, shrunk } from "./photo.js";
import { flush, isWaiting, keep, newToken, post, reports } from "./waiting.js";
import { field, filled, form, id, settings, texts } from "./parts.js";
import { showKept } from "./kept.js";
import { isGiven, keepDraft, keptDraft, photoText } from "./draft.js";
import { askOutside, choose, forgetPlace, openMap, place } from "./place.js";
import { words } from "./depth.js";

// The report in the form: a new one, or a stored one that is being corrected.
let target = { key: settings.card ?? field("token").value, token: field("token").value, address: form.action };
let photo = null;
// The photo as text, for the draft.
let written = null;
let isShrunk = Promise.resolve();

// ---------------------------------------------------------------- steps

const steps = [...form.querySelectorAll("fieldset[data-step]")];
let current = 0;

const disaster = () => new FormData(form).get("disaster");

function show(step, isMoved = true) {
  current = Math.max(0, Math.min(step, steps.length - 1));
  steps.forEach((part, index) => part.classList.toggle("current", index === current));
  id("progress").textContent = filled(texts.progress, { step: current + 1, steps: steps.length });
  id("previous").disabled = current === 0;
  id("next").hidden = current === steps.length - 1;
  if (steps[current].dataset.step === "check") summarise();
  if (steps[current].dataset.step === "place") openMap();
  if (isMoved) {
    const legend = steps[current].querySelector("legend");
    legend.tabIndex = -1;
    legend.focus({ preventScroll: true });
    window.scrollTo({ top: 0 });
  }
}

// Each step is an entry of the history, so that the phone's Back goes to the step before it.
function go(step) {
  history.pushState({ step, from: current, depth: (history.state?.depth ?? 0) + 1 }, "");
  show(step);
}

let isLeaving = false;
// An entry without a step is that of the link to the content.
addEventListener("popstate", ({ state }) => isLeaving || (state && show(state.step)));

/** Goes back to the first entry of the form, without showing its step. */
async function rewind() {
  const depth = history.state?.depth ?? 0;
  if (!depth) return;
  isLeaving = true;
  history.go(-depth);
  await Promise.race([new Promise((done) => addEventListener("popstate", done, { once: true })), new Promise((done) => setTimeout(done, 1_000))]);
  isLeaving = false;
}

/** Opens another page in place of the form. Back then leads to the page before the form. */
async function leave(address) {
  target.isOver = true;
  keepDraft(null);
  await rewind();
  location.replace(address);
}

// Another language is the same form, so it takes the place of this page.
for (const link of document.querySelectorAll("a.language")) link.addEventListener("click", async (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  saveDraft();
  await rewind();
  location.replace(link.href);
});

/** Returns what is missing or wrong in a step: texts by the name of the field. */
function faultsOf(step) {
  const shown = [...step.querySelectorAll("input[name]")].filter(({ offsetParent }) => offsetParent);
  const names = shown.filter(({ validity }) => !validity.valid).map(({ name }) => name);
  if (step.dataset.step === "place" && !place) names.push("place");
  return Object.fromEntries(names.map((name) => [name, settings.faults[name]]));
}

function showDetails() {
  const now = disaster();
  const type = new FormData(form).get(`${now}.report_type`);
  for (const part of form.querySelectorAll(".of")) {
    part.classList.toggle("current", part.dataset.of === now);
    for (const asked of part.querySelectorAll("[data-types]")) asked.classList.toggle("current", asked.dataset.types.split(" ").includes(type));
  }
}

form.classList.add("steps");
id("steps").hidden = false;
id("progress").hidden = false;
id("by-script").hidden = false;
id("previous").addEventListener("click", () => (history.state?.from === current - 1 ? history.back() : go(current - 1)));
id("next").addEventListener("click", () => {
  const faults = faultsOf(steps[current]);
  tell(faults, steps[current]);
  if (!Object.keys(faults).length) go(current + 1);
});
form.addEventListener("change", showDetails);
for (const choice of form.querySelectorAll('[name="disaster"]')) {
  // A tap on a choice also continues to the next step; with the keyboard, choosing and continuing are separate.
  choice.addEventListener("click", (event) => { if (event.detail > 0) go(1); });
}

// ---------------------------------------------------------------- photo and words

// Counts characters as the service does; `maxlength` counts most emoji twice.
field("text").removeAttribute("maxlength");
const count = () => {
  const characters = [...field("text").value];
  if (characters.length > settings.longest) field("text").value = characters.slice(0, settings.longest).join("");
  id("count").textContent = filled(texts.left, { count: Math.max(0, settings.longest - characters.length) });
};
field("text").addEventListener("input", count);

function usePhoto(taken) {
  photo = taken;
  written = null;
  if (photo) photoText(photo).then((text) => (written = photo === taken ? text : written), () => {});
  id("preview").hidden = !photo;
  id("photo-says").textContent = photo ? filled(texts.ready, { size: Math.ceil(photo.size / 1000) }) : "";
  URL.revokeObjectURL(id("preview").src);
  if (photo) id("preview").src = URL.createObjectURL(photo);
}

async function shrink(file) {
  const isChosen = () => id("photo").files[0] === file;
  try {
    const small = await shrunk(file);
    if (isChosen()) usePhoto(small);
  } catch (error) {
    if (!(error instanceof Unusable)) throw error;
    if (!isChosen()) return;
    id("photo").value = "";
    id("photo-says").textContent = texts[error.reason];
  }
}

id("photo").addEventListener("change", () => {
  const [file] = id("photo").files;
  usePhoto(null);
  if (!file) return;
  id("photo-says").textContent = texts.shrinking;
  isShrunk = shrink(file);
});

// ---------------------------------------------------------------- check and send

const chosenWords = (part) =>
  [...part.querySelectorAll("input:checked + span")].map((span) => span.textContent.trim());

/** Returns the fields about the hazard: the report type, then its attributes. */
function answers() {
  const part = form.querySelector(".of.current");
  if (!part) return "";
  const types = [...part.querySelectorAll(":scope > .choice input:checked + span")].map((span) => span.textContent.trim());
  const said = [...part.querySelectorAll(".asked")].filter((asked) => !asked.dataset.types || asked.classList.contains("current")).flatMap((asked) => {
    const number = asked.querySelector("[data-unit]");
    if (!number) return chosenWords(asked);
    if (!number.value) return [];
    const depth = number.closest(".depth") ? ` (${words(Number(number.value))})` : "";
    return [`${number.value} ${number.dataset.unit}${depth}`];
  });
  return [...types, ...said].join(", ");
}

function summarise() {
  const lines = {
    hazard: chosenWords(steps[0]).join(", "),
    place: place ? id("chosen").textContent : "",
    details: answers(),
    photo: [field("text").value.trim() || texts.noText, photo ? texts.photo : texts.noPhoto].join("; "),
  };
  id("summary").hidden = false;
  id("summary").replaceChildren(...steps.slice(0, -1).map((step, index) => {
    const item = document.createElement("li");
    const text = Object.assign(document.createElement("span"), { textContent: lines[step.dataset.step] || "–" });
    const button = Object.assign(document.createElement("button"), { type: "button", className: "button", textContent: texts.change });
    button.setAttribute("aria-label", `${texts.change}: ${step.querySelector("legend").textContent}`);
    button.addEventListener("click", () => go(index));
    item.append(text, button);
    return item;
  }));
}

const STEP_OF = { disaster: "hazard", place: "place", text: "photo", photo: "photo", token: "check", outside: "check" };

/** Shows faults in place of the earlier ones, of the form or of one step. @param {Element} within */
function tell(faults, within = form) {
  for (const old of within.querySelectorAll(".fault")) old.remove();
  for (const old of within.querySelectorAll("[aria-invalid]")) old.removeAttribute("aria-invalid");
  for (const [name, text] of Object.entries(faults)) {
    const step = steps.find((part) => part.dataset.step === (STEP_OF[name] ?? "details"));
    const says = Object.assign(document.createElement("p"), { className: "fault", textContent: text, id: `fault-${name}`, role: "alert" });
    const input = step.querySelector(`[name="${name}"]`);
    step.querySelector("legend").after(says);
    input?.setAttribute("aria-invalid", "true");
    input?.setAttribute("aria-describedby", says.id);
  }
  if (faults.outside) askOutside(true);
  if (!Object.keys(faults).length) return;
  const first = within === form ? steps.findIndex((part) => part.querySelector(":scope > .fault")) : current;
  if (first === current) show(first);
  else if (first >= 0) go(first);
}

function report() {
  // Leaves out the fields of a hazard that the person had chosen before.
  const isOther = (name) => name.includes(".") && !name.startsWith(`${disaster()}.`);
  const isText = ([name, value]) => !["photo", "token"].includes(name) && value !== "" && !isOther(name);
  const values = [...new FormData(form)].filter(isText);
  return {
    key: target.key,
    address: target.address,
    fields: [...values, ["token", target.token]],
    photo,
    created: target.pressed ?? Date.now(),
  };
}

/** What the person has filled in, to compare. */
const contentOf = ({ fields, photo }) => JSON.stringify([fields.filter(([name]) => name !== "token"), photo?.size]);

/** Empties the form. */
function clear() {
  form.reset();
  forgetPlace();
  askOutside(false);
  usePhoto(null);
}

function drawDepths() {
  for (const depth of form.querySelectorAll(".depth [name]")) depth.dispatchEvent(new Event("input"));
}

/** Fills in the form. */
function showFilled(faults = {}) {
  drawDepths();
  count();
  showDetails();
  history.replaceState({ ...history.state, step: 0 }, "");
  show(0);
  tell(faults);
}

/** Starts another report. A link is good for one, so its form stays. */
function begin() {
  if (settings.card) return;
  const token = newToken();
  clear();
  target = { key: token, token, address: form.action };
  keepDraft(null);
  rewind().then(() => showFilled());
}

const isUntouched = () => !disaster() && !field("text").value && !photo && (!place || isGiven());

/** Opens a refused report for correction. */
function open(kept) {
  if (!isUntouched() && kept.key !== target.key && !confirm(texts.sureOpen)) return;
  clear();
  const token = new Map(kept.fields).get("token") ?? "";
  target = { key: kept.key, token, address: kept.address, pressed: kept.created };
  fillIn(kept);
  showFilled(kept.faults);
}

function fillIn({ fields, photo }) {
  for (const [name, value] of fields.filter(([name]) => name !== "token")) {
    for (const input of form.querySelectorAll(`[name="${CSS.escape(name)}"]`)) {
      if (input.type === "radio" || input.type === "checkbox") input.checked ||= input.value === value;
      else input.value = value;
    }
  }
  usePhoto(photo);
  const values = new Map(fields);
  if (values.has("lat")) choose([Number(values.get("lng")), Number(values.get("lat"))]);
}

addEventListener("pagehide", saveDraft);
document.addEventListener("visibilitychange", saveDraft);
function saveDraft() {
  if (target.isOver) return;
  const fields = [...new FormData(form)].filter(([name, value]) => typeof value === "string" && value !== "" && !["token", "website"].includes(name));
  keepDraft(isUntouched() ? null : { fields, photo: written, step: current, target: target.pressed ? target : null });
}

/** Fills in the draft of this form. Returns its step. */
async function restore() {
  const draft = keptDraft();
  if (!draft) return 0;
  const { step, target: before } = draft;
  if (before) {
    // A stored report that is gone has arrived or was discarded.
    if (before.isKept && !(await reports().catch(() => [])).some(({ key }) => key === before.key)) return 0;
    target = before;
  }
  fillIn(draft);
  drawDepths();
  return step;
}

const keptActions = {
  get key() { return target.key; },
  name: ({ fields, created }) => {
    const values = new Map(fields);
    const hazard = [...form.querySelectorAll('[name="disaster"]')].find(({ value }) => value === values.get("disaster"));
    const time = new Date(created).toLocaleString(settings.language, { dateStyle: "medium", timeStyle: "short" });
    return [hazard?.parentElement.textContent.trim(), time, values.get("text")].filter(Boolean).join(", ");
  },
  open: (kept) => {
    open(kept);
    return showAll();
  },
  send: () => sendWaiting(true),
  discarded: ({ key }) => {
    if (key === target.key) begin();
    return showAll();
  },
};

async function showAll(...notes) {
  // Storage may be unavailable in private mode.
  const all = await reports().catch(() => []);
  showKept(all, notes, keptActions);
  return all;
}

let isSending = false;
// The reports that this page has stored.
const own = new Set();

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  // Enter in a field presses the first button of the form, which nobody sees.
  if (id("send").disabled) return;
  if (event.submitter?.id === "enter" && current < steps.length - 1) return id("next").click();
  target.pressed ??= Date.now();
  id("send").disabled = true;
  id("sending").textContent = texts.sending;
  await isShrunk.catch(() => {});
  const sent = { ...report(), ...(target.replaces ? { replaces: true } : {}) };
  target.content = contentOf(sent);
  isSending = true;
  try {
    const before = (await reports().catch(() => [])).find(({ key }) => key === sent.key);
    if (before && before.state !== "refused") {
      if (!confirm(texts.sureReplace)) return;
      // The service may have received the earlier version of the report.
      sent.replaces = true;
    }
    // Stores the report before sending it, so that it is not lost if the phone is switched off while sending.
    const isKept = await keep(sent).then(() => true, () => false);
    target.isKept = isKept;
    const { kept: [left], thanks } = await post(sent);
    if (thanks) return leave(thanks);
    id("sending").textContent = isKept ? "" : texts.notKept;
    if (left.state === "refused") tell(left.faults);
    if (!isKept) return;
    own.add(sent.key);
    if (isWaiting(left)) {
      target.pressed = undefined;
      begin();
    }
    await showAll(...(isWaiting(left) ? [texts.notSent] : []));
    if (left.state !== "refused") id("kept").scrollIntoView();
  } finally {
    isSending = false;
    if (target.isOver) return;
    id("send").disabled = false;
    if (id("sending").textContent === texts.sending) id("sending").textContent = "";
  }
});

// ---------------------------------------------------------------- reports that wait on this phone

/** Sends waiting reports: all, or those whose pause is over. */
async function sendWaiting(isForced = false) {
  if (isSending) return;
  isSending = true;
  try {
    const sent = (await flush(isForced)).filter(({ thanks }) => thanks).at(-1);
    const left = await reports();
    const isChanged = target.content && !isUntouched() && target.content !== contentOf(report());
    // What the person has changed since stays in the form, and replaces what was sent.
    target.replaces ||= sent?.key === target.key && isChanged;
    const isHere = sent && ((sent.key === target.key && !isChanged) || (own.has(sent.key) && !left.length && isUntouched()));
    if (isHere) return leave(sent.thanks);
    const [refused] = left.filter(({ state }) => state === "refused");
    if (refused && isUntouched()) open(refused);
    await showAll(...(sent ? [texts.sentNow, Object.assign(document.createElement("a"), { href: sent.thanks, textContent: texts.sentThanks })] : []));
  } catch {
    // Storage may be unavailable in private mode.
  } finally {
    isSending = false;
  }
}

addEventListener("online", () => sendWaiting(true));
setInterval(() => { if (navigator.onLine) sendWaiting(); }, 15_000);

const faulty = steps.findIndex((part) => part.querySelector(".fault"));
if (field("lat").value) choose([Number(field("lng").value), Number(field("lat").value)]);
const step = faulty < 0 ? await restore() : faulty;
count();
showDetails();
const [arrival] = /** @type {any[]} */ (performance.getEntriesByType("navigation"));
// Only a reload is at the entry of a step.
history.replaceState({ depth: 0, ...(arrival?.type === "reload" ? history.state : {}), step }, "");
show(step, false);
sendWaiting(true);
