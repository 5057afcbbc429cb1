// Reports of residents with hiding and showing, the curve of gauges, and the log of the night with undo.
import { failed, fill, find, load, make, photo, settings, t } from "../map/words.js";
import { send } from "./outbox.js";
import { placeOf } from "./places.js";
import { depthOf, hour, swatch } from "./rows.js";

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

/** Makes the parts. `renew` loads the news again, `say` tells the officer something. */
export const night = ({ say, renew, areaOf, stored }) => {
  const setVisibility = async (id, hidden, reason) => {
    if (await asked(say, "PUT", `/desk/reports/${id}/visibility`, { hidden, reason })) {
      say(hidden ? t.hiddenNow : t.shownNow);
      renew();
    }
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
  let gauges; // The readings by gauge, loaded when a row needs them.
  const curve = (id, name) => {
    const figure = make("figure", {}, make("figcaption", { className: "soft" }, name));
    gauges ??= load(`/floodgauges?geoformat=geojson`).then(({ features }) => new Map(features.map(({ properties }) => [properties.gaugeid, properties.observations])));
    gauges.then((all) => {
      const readings = all.get(id) ?? [];
      if (readings.length < 2) return;
      const part = (value, of, size) => ((value - Math.min(...of)) / (Math.max(...of) - Math.min(...of) || 1)) * size;
      const [times, levels] = [readings.map(({ f1 }) => Date.parse(f1)), readings.map(({ f2 }) => f2)];
      const corners = readings.map((_, at) => `${2 + part(times[at], times, 196)},${46 - part(levels[at], levels, 42)}`);
      const label = `${Math.min(...levels)}–${Math.max(...levels)} cm`;
      const picture = svg("svg", { viewBox: "0 0 200 48", role: "img", preserveAspectRatio: "none", "aria-label": label });
      picture.append(svg("polyline", { points: corners.join(" "), fill: "none", stroke: "currentColor", "stroke-width": 2 }));
      figure.prepend(picture);
      figure.lastElementChild.append(` ${label}`);
    }, failed);
    return figure;
  };
  const curves = new Map();

  const undo = async (batch) => {
    const result = await asked(say, "POST", `/desk/changes/${batch}/undo`);
    if (!result) return;
    const left = result.left?.length ? ` ${fill(t.undoLeft, { count: result.left.length })}` : "";
    say(fill(t.undone, { count: result.changed.length }) + left);
    stored(result, batch);
    renew();
  };
  const undoButton = (batch) => {
    const button = make("button", { type: "button", className: "button" }, t.undo);
    button.addEventListener("click", () => undo(batch));
    return button;
  };

  return {
    undo,
    undoButton,
    /** What an unfolded row shows. */
    detail: ({ reports, attention, log }) => {
      const parts = reports.map(report);
      if (parts.length && !settings.mayModerate) parts.push(make("p", { className: "soft" }, t.mayNotHide));
      for (const { gaugeid, gaugenameid } of (attention?.reasons ?? []).filter(({ reason }) => reason === "gauge")) {
        if (!curves.has(gaugeid)) curves.set(gaugeid, curve(gaugeid, gaugenameid));
        parts.push(curves.get(gaugeid).cloneNode(true));
      }
      const entries = log.map(({ at, state, by, note }) => make("li", {}, `${hour(at)} ${depthOf(state)} · ${by}${note ? ` · ${note}` : ""}`));
      if (entries.length) parts.push(make("h4", {}, t.logOfArea), make("ul", {}, ...entries));
      if (!parts.length) parts.push(make("p", { className: "soft" }, t.nothingMore));
      return parts;
    },
    /** Draws the log: one line for each batch, and the hidden reports. */
    draw: ({ log, hidden }) => {
      const groups = [];
      for (const entry of log) {
        const last = groups.at(-1);
        if (last && entry.batch && last.batch === entry.batch) last.all.push(entry);
        else groups.push({ ...entry, all: [entry] });
      }
      const lines = groups.slice(0, 100).map(({ at, by, batch, note, all }) => {
        const states = [...new Set(all.map(({ state }) => depthOf(state)))].join(" / ");
        const names = placeOf(all.map(({ area_id }) => areaOf(area_id)));
        const line = make("li", {}, make("p", {}, make("b", {}, hour(at)), ` ${by}: `, ...swatch(all[0].state), `${states} · ${names}`));
        if (note) line.append(make("p", { className: "soft" }, note));
        if (batch && settings.mayWrite) line.append(undoButton(batch));
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
