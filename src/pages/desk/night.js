// Reports of residents with hiding and showing, the curve of gauges, and the log of the night with undo.
import { failed, fill, find, load, make, photo, settings, t } from "../map/words.js";
import { askInDialog } from "./orders.js";
import { send } from "./outbox.js";
import { placeOf } from "./places.js";
import { depthOf, hour, swatch } from "./rows.js";

const MOST_LINES = 100; // So many lines of the log are drawn.
const MANY_OF_SENDER = 10; // More reports of one sender are asked about before they are hidden.
const HELD = 5_000; // So long an order to hide them can be taken back.

/** A request that may fail, with what to say then. */
const asked = async (say, method, path, body) => {
  try {
    const [status, answer] = await send(method, path, body, crypto.randomUUID());
    if (status === 200) return answer.result ?? answer;
    say(status === 403 ? t.endedShort : answer.message ?? `${status}`);
  } catch {
    say(t.noAnswer);
  }
  return null;
};

/** Makes the parts. `renew` loads the news again, `say` tells the officer something, `undoButton(batch, changed)` returns a button. */
export const night = ({ say, renew, areaOf, undoButton }) => {
  const setVisibility = async (id, hidden, reason) => {
    if (await asked(say, "PUT", `/desk/reports/${id}/visibility`, { hidden, reason })) {
      say(hidden ? t.hiddenNow : t.shownNow);
      renew();
    }
  };

  const held = new Map(); // The orders to hide all reports of a sender that can be taken back: timers, by sender.
  let drawn = null;
  const drawWaiting = (news) => {
    drawn = news;
    const list = find("waiting-list");
    find("waiting").hidden = !news.waiting && !news.crowded;
    find("waiting-title").textContent = fill(t.waiting, { count: news.waiting });
    find("crowded").hidden = !news.crowded;
    // A field that somebody types in stays.
    if (list.querySelector("input:focus")) return;
    const first = new Map();
    for (const of of news.reports.filter(({ waiting }) => waiting)) {
      const key = of.sender ?? `${of.id}`;
      if (!first.has(key)) first.set(key, of);
    }
    list.replaceChildren(...[...first.values()].map((of) => {
      const place = of.area_id == null ? t.outsideAll : placeOf([areaOf(of.area_id)]);
      return make("li", {}, make("b", {}, place), report(of), ...(of.of_sender > 1 ? [all(of)] : []));
    }));
  };
  const hideAll = async ({ sender, of_sender: count }, reason) => {
    if (count > MANY_OF_SENDER && !(await askInDialog("hide-all", [fill(t.hideAllSure, { count })]))) return;
    held.set(sender, setTimeout(async () => {
      held.delete(sender);
      const done = await asked(say, "POST", `/desk/reports/waiting/${sender}/hide`, { reason });
      if (done) say(fill(t.hiddenAll, { count: done.hidden.length }));
      renew();
    }, HELD));
    drawWaiting(drawn);
  };
  /** What a moderator can do about all waiting reports of a sender. */
  const all = (of) => {
    const words = make("p", { className: "soft" }, fill(t.ofSender, { count: of.of_sender }));
    if (!settings.mayModerate) return words;
    if (held.has(of.sender)) {
      const back = make("button", { type: "button", className: "button" }, t.takeBack);
      back.addEventListener("click", () => {
        clearTimeout(held.get(of.sender));
        held.delete(of.sender);
        drawWaiting(drawn);
      });
      words.append(" ", back);
      return words;
    }
    const reason = make("input", { maxLength: 200, required: true, placeholder: t.reason, ariaLabel: t.reason });
    const form = make("form", { className: "hide" }, words, reason, make("button", { className: "button" }, fill(t.hideAll, { count: of.of_sender })));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      reason.blur();
      hideAll(of, reason.value.trim());
    });
    return form;
  };

  /** A report with what a moderator can do. */
  const report = ({ id, at, title, text, depth, photo: address, waiting }) => {
    const parts = [make("p", { className: "soft" }, hour(at), depth == null ? "" : ` · ${Math.round(depth)} cm`, waiting ? " · " : "", waiting ? make("b", {}, t.waits) : "")];
    if (title || text) parts.push(make("p", {}, [title, text].filter(Boolean).join(": ")));
    parts.push(...photo(address));
    if (settings.mayModerate) {
      const reason = make("input", { maxLength: 200, required: true, placeholder: t.reason, ariaLabel: t.reason });
      const form = make("form", { className: "hide" }, reason, make("button", { className: "button" }, t.hide));
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        reason.blur();
        setVisibility(id, true, reason.value.trim());
      });
      if (waiting) {
        const show = make("button", { type: "button", className: "button" }, t.show);
        show.addEventListener("click", () => setVisibility(id, false, t.reviewed));
        form.append(show);
      }
      parts.push(form);
    }
    return make("article", { className: "report" }, ...parts);
  };

  const svg = (tag, attributes) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  };
  let readings = new Map(); // By gauge, as they were loaded last.
  let hasFailed = false;
  /** Loads the readings of gauges anew: officers decide by them. */
  const loadGauges = async () => {
    try {
      const { features } = await load("/floodgauges?geoformat=geojson");
      readings = new Map(features.map(({ properties }) => [properties.gaugeid, properties.observations]));
      hasFailed = false;
    } catch (error) {
      failed(error);
      hasFailed = true;
    }
  };
  const curve = (id, name) => {
    const caption = make("figcaption", { className: "soft" }, hasFailed ? `${name}: ${t.noAnswer}` : name);
    const figure = make("figure", {}, caption);
    const all = readings.get(id) ?? [];
    if (all.length < 2) return figure;
    const part = (value, of, size) => ((value - Math.min(...of)) / (Math.max(...of) - Math.min(...of) || 1)) * size;
    const [times, levels] = [all.map(({ f1 }) => Date.parse(f1)), all.map(({ f2 }) => f2)];
    const corners = all.map((_, at) => `${2 + part(times[at], times, 196)},${46 - part(levels[at], levels, 42)}`);
    const label = `${Math.min(...levels)}–${Math.max(...levels)} cm`;
    const picture = svg("svg", { viewBox: "0 0 200 48", role: "img", preserveAspectRatio: "none", "aria-label": label });
    picture.append(svg("polyline", { points: corners.join(" "), fill: "none", stroke: "currentColor", "stroke-width": 2 }));
    figure.prepend(picture);
    caption.append(` ${label}, ${hour(times.at(-1))}: ${levels.at(-1)} cm`);
    return figure;
  };

  return {
    loadGauges,
    /** What an unfolded row shows. */
    detail: ({ reports, attention, log }) => {
      const parts = reports.map(report);
      if (parts.length && !settings.mayModerate) parts.push(make("p", { className: "soft" }, t.mayNotHide));
      for (const { gaugeid, gaugenameid } of (attention?.reasons ?? []).filter(({ reason }) => reason === "gauge")) {
        parts.push(curve(gaugeid, gaugenameid));
      }
      const entries = log.map(({ at, state, by, note }) => make("li", {}, `${hour(at)} ${depthOf(state)} · ${by}${note ? ` · ${note}` : ""}`));
      if (entries.length) parts.push(make("h4", {}, t.logOfArea), make("ul", {}, ...entries));
      if (!parts.length) parts.push(make("p", { className: "soft" }, t.nothingMore));
      return parts;
    },
    /** Draws the log: one line for each batch, and the hidden reports. */
    draw: (news) => {
      drawWaiting(news);
      const { log, hidden, left_out: left = {} } = news;
      const groups = [];
      for (const entry of log) {
        const last = groups.at(-1);
        if (last && entry.batch && last.batch === entry.batch) last.all.push(entry);
        else groups.push({ ...entry, all: [entry] });
      }
      const all = groups.length > MOST_LINES ? { ...left, log: undefined, lines: MOST_LINES } : left;
      const words = Object.entries(all).filter(([, count]) => count).map(([kind, count]) => fill(t.leftOut[kind], { count }));
      find("left-out").textContent = words.join(" ");
      find("left-out").hidden = !words.length;
      const lines = groups.slice(0, MOST_LINES).map(({ at, by, batch, note, all }) => {
        const states = [...new Set(all.map(({ state }) => depthOf(state)))].join(" / ");
        const names = placeOf(all.map(({ area_id }) => areaOf(area_id)));
        const line = make("li", {}, make("p", {}, make("b", {}, hour(at)), ` ${by}: `, ...swatch(all[0].state), `${states} · ${names}`));
        if (note) line.append(make("p", { className: "soft" }, note));
        if (batch && settings.mayWrite) line.append(undoButton(batch, all));
        return line;
      });
      find("night-list").replaceChildren(...(lines.length ? lines : [make("li", {}, t.noChanges)]));
      find("hidden-list").replaceChildren(...hidden.map(({ id, at, by, reason }) => {
        const line = make("li", {}, make("p", {}, make("b", {}, hour(at)), ` ${by}: ${fill(t.hiddenReport, { id })} · ${reason}`));
        if (settings.mayModerate) {
          const show = make("button", { type: "button", className: "button" }, t.showAgain);
          show.addEventListener("click", () => setVisibility(id, false, t.reviewed));
          line.append(show);
        }
        return line;
      }));
      find("hidden-title").hidden = !hidden.length;
    },
  };
};
