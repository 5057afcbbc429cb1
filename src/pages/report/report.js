// The form in steps. Without this script it is one form that works as well.

import { Unusable, shrunk } from "./photo.js";
import { forget, keep, send, waiting } from "./outbox.js";

const settings = JSON.parse(document.body.dataset.settings);
const { texts, base, longest, openFor } = settings;
const form = document.querySelector("form");
const id = (name) => document.getElementById(name);
const field = (name) => form.elements[name];
const filled = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");

const created = Date.now();
let photo = null;

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
id("previous").addEventListener("click", () => show(current - 1));
id("next").addEventListener("click", () => show(current + 1));
form.addEventListener("change", showDetails);
for (const choice of form.querySelectorAll('[name="disaster"]')) {
  // A tap is enough; with the keyboard one chooses first and then goes on.
  choice.addEventListener("click", (event) => { if (event.detail > 0) show(1); });
}

// ---------------------------------------------------------------- place

let view = null;
let place = null;
let asking = null;

const rounded = (degrees) => Math.round(degrees * 1e4) / 1e4;

async function choose([lng, lat], name) {
  place = [rounded(lng), rounded(lat)];
  field("lng").value = place[0];
  field("lat").value = place[1];
  const values = { lat: place[1], lng: place[0] };
  id("chosen").textContent = name ? filled(texts.at, { place: name }) : filled(texts.nameless, values);
  if (name) return;
  asking?.abort();
  asking = new AbortController();
  try {
    const response = await fetch(`${base}/areas/at?lat=${values.lat}&lng=${values.lng}&geoformat=geojson`, { signal: asking.signal, cache: "no-store" });
    if (response.status === 404) id("chosen").textContent = filled(texts.outside, values);
    if (!response.ok) return;
    const area = (await response.json()).result.features[0].properties;
    const names = [area.area_name, area.parent_name, area.city_name].filter(Boolean).join(", ");
    id("chosen").textContent = filled(texts.at, { place: names });
  } catch {
    // Without a network the numbers stand there.
  }
}

async function openMap() {
  if (view || id("map").dataset.tried) return;
  id("map").dataset.tried = "yes";
  let module;
  try {
    module = await import("/map/module.js");
  } catch {
    return;
  }
  const { View, Shapes, Names, decode } = module;
  const style = document.createElement("link");
  style.rel = "stylesheet";
  style.href = "/map/view.css";
  document.head.append(style);
  id("map").hidden = false;
  view = new View(id("map"), { label: texts.mapLabel, zoomIn: texts.zoomIn, zoomOut: texts.zoomOut, fills: true });
  id("map").insertAdjacentHTML("beforeend", '<svg class="cross" viewBox="0 0 24 24" aria-hidden="true"><path d="M12 1a8 8 0 0 0-8 8c0 5.5 8 14 8 14s8-8.5 8-14a8 8 0 0 0-8-8zm0 5a3 3 0 1 1 0 6 3 3 0 0 1 0-6z"/></svg>');
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const shapes = new Shapes({ area: { fill: colour("--land") || colour("--raised"), line: colour("--line"), width: 1 } });
  const names = new Names();
  [names.colour, names.halo] = [colour("--ink"), colour("--ground")];
  view.layers.push(shapes, names);
  let isMoved = false;
  view.addEventListener("move", () => { isMoved = true; });
  view.addEventListener("rest", () => { if (isMoved) choose(view.centre); });
  if (place) view.go(place, 15, false);
  try {
    const response = await fetch(`${base}/areas?level=parent&geoformat=topojson`, { cache: "no-cache" });
    const features = decode((await response.json()).result);
    features.forEach((feature, index) => {
      shapes.set(index, feature, "area");
      const [left, top, right, bottom] = feature.box;
      names.names.push({ at: [(left + right) / 2, (top + bottom) / 2], text: feature.properties.parent_name, rank: 1, size: 12 });
    });
    if (!place && shapes.box) view.fit(shapes.box, { isAnimated: false });
    isMoved = false;
    view.redraw();
  } catch {
    // The map is there without outlines.
  }
}

id("locate").addEventListener("click", () => {
  id("chosen").textContent = texts.locating;
  const failed = () => { id("chosen").textContent = texts.noPosition; };
  if (!navigator.geolocation) return failed();
  const found = ({ coords }) => {
    choose([coords.longitude, coords.latitude]);
    view?.go([coords.longitude, coords.latitude], 16, false);
  };
  navigator.geolocation.getCurrentPosition(found, failed, { enableHighAccuracy: true, timeout: 20000 });
});

let searching = 0;
id("search").addEventListener("input", () => {
  clearTimeout(searching);
  searching = setTimeout(search, 250);
});
id("search").addEventListener("keydown", (event) => {
  if (event.key === "Enter") {
    event.preventDefault();
    search();
  }
});

async function search() {
  const text = id("search").value.trim();
  const list = id("found");
  if (!text) return list.replaceChildren();
  let places;
  try {
    const response = await fetch(`/reporting/places?q=${encodeURIComponent(text)}`);
    places = (await response.json()).result;
  } catch {
    return;
  }
  if (text !== id("search").value.trim()) return;
  list.replaceChildren(...places.map(({ name, parent, city, lat, lng }) => {
    const names = [name, parent, city].filter(Boolean).join(", ");
    const button = Object.assign(document.createElement("button"), { type: "button", className: "button", textContent: names });
    button.addEventListener("click", () => {
      choose([lng, lat], names);
      view?.go([lng, lat], 16, false);
      list.replaceChildren();
    });
    const item = document.createElement("li");
    item.append(button);
    return item;
  }));
  if (!places.length) list.replaceChildren(Object.assign(document.createElement("li"), { textContent: texts.none }));
}

// ---------------------------------------------------------------- depth

const HIGHEST = 250;
// A person of 170 cm is 180 units high in the drawing, from 10 to 190.
const UNITS = 180 / 170;

function words(centimetres) {
  const level = [0, 5, 30, 70, 110, 150].findLastIndex((from) => centimetres >= from);
  return texts.depths[Math.max(0, level)];
}

for (const block of form.querySelectorAll(".depth")) {
  const [person, water, range, less, more, says] = ["person", "water", "range", "less", "more", "words"].map((name) => block.querySelector(`.${name}`));
  const depth = block.querySelector("[name]");
  const draw = () => {
    const value = Number(depth.value || 0);
    range.value = value;
    const height = depth.value ? Math.min(200, value * UNITS + 10) : 0;
    water.setAttribute("y", 200 - height);
    water.setAttribute("height", height);
    says.textContent = depth.value ? words(value) : "";
  };
  const set = (value) => {
    depth.value = Math.max(0, Math.min(HIGHEST, Math.round(value / 5) * 5));
    draw();
  };
  for (const part of [person, range, less, more]) part.hidden = false;
  depth.addEventListener("input", draw);
  range.addEventListener("input", () => set(Number(range.value)));
  less.addEventListener("click", () => set(Number(depth.value || 0) - 10));
  more.addEventListener("click", () => set(Number(depth.value || 0) + 10));
  const drawing = person.querySelector("svg");
  const drag = (event) => {
    const box = drawing.getBoundingClientRect();
    set((1 - (event.clientY - box.top) / box.height) * 200 / UNITS - 10 / UNITS);
  };
  drawing.addEventListener("pointerdown", (event) => {
    drawing.setPointerCapture(event.pointerId);
    drag(event);
  });
  drawing.addEventListener("pointermove", (event) => { if (event.buttons) drag(event); });
  draw();
}

// ---------------------------------------------------------------- photo and words

const count = () => { id("count").textContent = filled(texts.left, { count: longest - [...field("text").value].length }); };
field("text").addEventListener("input", count);

id("photo").addEventListener("change", async () => {
  const [file] = id("photo").files;
  photo = null;
  id("preview").hidden = true;
  id("photo-says").textContent = file ? texts.shrinking : "";
  if (!file) return;
  try {
    photo = await shrunk(file);
    URL.revokeObjectURL(id("preview").src);
    id("preview").src = URL.createObjectURL(photo);
    id("preview").hidden = false;
    id("photo-says").textContent = filled(texts.ready, { size: Math.ceil(photo.size / 1000) });
  } catch (error) {
    if (!(error instanceof Unusable)) throw error;
    id("photo").value = "";
    id("photo-says").textContent = texts[error.reason];
  }
});

// ---------------------------------------------------------------- check and send

const chosenWords = (part) =>
  [...part.querySelectorAll("input:checked + span")].map((span) => span.textContent.trim());

/** Returns what was answered about the hazard: the type of the report, then the answers about it. */
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
    button.addEventListener("click", () => show(index));
    item.append(text, button);
    return item;
  }));
}

const STEP_OF = { disaster: "hazard", place: "place", text: "photo", photo: "photo", token: "check" };

function tell(faults) {
  for (const old of form.querySelectorAll(".fault")) old.remove();
  for (const old of form.querySelectorAll("[aria-invalid]")) old.removeAttribute("aria-invalid");
  for (const [name, text] of Object.entries(faults)) {
    const step = steps.find((part) => part.dataset.step === (STEP_OF[name] ?? "details"));
    const says = Object.assign(document.createElement("p"), { className: "fault", textContent: text, id: `fault-${name}` });
    const input = step.querySelector(`[name="${name}"]`);
    step.querySelector("legend").after(says);
    input?.setAttribute("aria-invalid", "true");
    input?.setAttribute("aria-describedby", says.id);
  }
  const first = steps.findIndex((part) => part.querySelector(":scope > .fault"));
  if (first >= 0) show(first);
}

function report() {
  // Answers about another hazard, which was chosen before, are left out.
  const isOther = (name) => name.includes(".") && !name.startsWith(`${disaster()}.`);
  const values = [...new FormData(form)].filter(([name, value]) => name !== "photo" && value !== "" && !isOther(name));
  return {
    key: settings.card ?? field("token").value,
    address: form.action,
    fields: values,
    photo,
    created,
    until: created + openFor * 1000,
  };
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const sent = report();
  id("send").disabled = true;
  id("sending").textContent = texts.sending;
  try {
    // Kept first: a phone that is switched off while it sends loses nothing.
    await keep(sent).catch(() => {});
    const { status, body } = await send(sent);
    await forget(sent.key).catch(() => {});
    if (status === 200) return location.replace(body.thanks);
    id("sending").textContent = "";
    if (body.faults) tell(body.faults);
    else id("sending").textContent = filled(texts.failed, { reason: body.message ?? status });
  } catch {
    id("sending").textContent = filled(texts.notSent, { hours: Math.round(openFor / 3600) });
  } finally {
    id("send").disabled = false;
  }
});

// ---------------------------------------------------------------- reports that wait on this phone

let isSending = false;

async function sendWaiting() {
  if (isSending) return;
  isSending = true;
  try {
    let wasSent = false;
    let refused = "";
    for (const kept of await waiting()) {
      try {
        const { status, body } = await send(kept);
        await forget(kept.key);
        wasSent ||= status === 200;
        if (status !== 200) refused = body.message ?? Object.values(body.faults ?? {}).join(" ");
        if (status === 200 && kept.key === report().key) return location.replace(body.thanks);
      } catch {
        break;
      }
    }
    const left = (await waiting()).length;
    const says = [left && filled(texts.keptOnes, { count: left }), wasSent && texts.sentNow, refused && filled(texts.failed, { reason: refused })];
    id("kept").textContent = says.filter(Boolean).join(" ");
    id("kept").hidden = !id("kept").textContent;
  } catch {
    // A browser in private mode may keep nothing.
  } finally {
    isSending = false;
  }
}

addEventListener("online", sendWaiting);
setInterval(async () => { if (navigator.onLine && (await waiting().catch(() => [])).length) sendWaiting(); }, 30000);

count();
showDetails();
if (field("lat").value) choose([Number(field("lng").value), Number(field("lat").value)]);
const faulty = steps.findIndex((part) => part.querySelector(".fault"));
show(Math.max(0, faulty), false);
sendWaiting();
