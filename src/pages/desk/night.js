// Residents' reports with moderation, and the log of the night with undo.
import { fill, find, make, photo, settings, t } from "../map/words.js";
import { mayModerate, mayWrite } from "./own.js";
import { placeOf } from "./places.js";
import { depthOf, hour, reasonForm, redraw, swatch } from "./rows.js";
import { send } from "./waiting.js";

const MOST_LINES = 100; // So many lines of the log are drawn.

/**
 * Creates the parts. `renew` reloads the news, `say` shows a message, `hide(report, reason)` orders to hide all waiting reports of its
 * sender, `undoButton(batch, changed)` returns a button, `figure(id, name)` the curve of a gauge.
 */
export const night = ({ areaOf, renew, say, hide, undoButton, figure }) => {
  const setVisibility = async (id, hidden, reason) => {
    const response = await send("PUT", `/desk/reports/${id}/visibility`, { hidden, reason }).catch(() => null);
    if (!response) return say(t.noAnswer);
    const { status, body } = response;
    if (status === 403 && body.outside) return say(t.outsideReport);
    if (status !== 200) return say(status === 401 || status === 403 ? t.endedShort : body.message ?? `${status}`);
    say(hidden ? t.hiddenNow : t.shownNow);
    renew();
  };

  const drawWaiting = (news) => {
    const list = find("waiting-list");
    find("waiting").hidden = !news.waiting && !news.crowded;
    find("waiting-title").textContent = fill(t.waiting, { count: news.waiting });
    find("crowded").hidden = !news.crowded;
    const first = new Map();
    for (const of of news.reports.filter(({ waiting }) => waiting)) {
      const key = of.sender ?? `${of.id}`;
      if (!first.has(key)) first.set(key, of);
    }
    redraw(list, [...first.values()].map((of) => {
      const place = of.area_id == null ? t.outsideAll : placeOf([areaOf(of.area_id)]);
      return make("li", {}, make("b", {}, place), report(of), ...(of.of_sender > 1 ? [all(of)] : []));
    }));
  };
  /** The actions for all waiting reports of a sender. */
  const all = (of) => {
    const words = make("p", { className: "soft" }, fill(t.ofSender, { count: of.of_sender }));
    if (!settings.mayModerate) return words;
    return reasonForm(`of ${of.sender}`, t.reason, fill(t.hideAll, { count: of.of_sender }), (reason) => hide(of, reason), words);
  };

  /** A report with its moderation actions. */
  const report = ({ id, area_id, at, title, text, depth, photo: address, waiting }) => {
    const parts = [make("p", { className: "soft" }, hour(at), depth == null ? "" : ` · ${Math.round(depth)} cm`, waiting ? " · " : "", waiting ? make("b", {}, t.waits) : "")];
    if (title || text) parts.push(make("p", {}, [title, text].filter(Boolean).join(": ")));
    parts.push(...photo(address));
    if (mayModerate(area_id)) {
      const form = reasonForm(id, t.reason, t.hide, (reason) => setVisibility(id, true, reason));
      if (waiting) {
        const show = make("button", { type: "button", className: "button" }, t.show);
        show.addEventListener("click", () => setVisibility(id, false, t.reviewed));
        form.append(show);
      }
      parts.push(form);
    } else if (settings.mayModerate) parts.push(make("p", { className: "soft" }, t.ofOther));
    return make("article", { className: "report" }, ...parts);
  };

  return {
    /** The content of an unfolded row. */
    detail: ({ reports, attention, log }) => {
      const parts = reports.map(report);
      if (parts.length && !settings.mayModerate) parts.push(make("p", { className: "soft" }, t.mayNotHide));
      for (const { gaugeid, gaugenameid } of (attention?.reasons ?? []).filter(({ reason }) => reason === "gauge")) {
        parts.push(figure(gaugeid, gaugenameid));
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
      const placesOf = (all) => placeOf(all.map(({ area_id }) => areaOf(area_id)));
      const newest = new Map(log.map((entry) => [entry.area_id, entry.batch]).reverse());
      const lines = groups.slice(0, MOST_LINES).map(({ at, by, batch, note, undoes, all }) => {
        const states = [...new Set(all.map(({ state }) => depthOf(state)))].join(" / ");
        const names = placesOf(all);
        const line = make("li", {}, make("p", {}, make("b", {}, hour(at)), ` ${by}: `, ...swatch(all[0].state), undoes ? fill(t.undoing, { what: `${states} · ${names}` }) : `${states} · ${names}`));
        if (note) line.append(make("p", { className: "soft" }, note));
        const isPast = batch && all.every((entry) => newest.get(entry.area_id) !== batch);
        const kinds = [[t.wasUndone, all.filter(({ undone }) => undone)], [t.setAgain, all.filter(({ undone }) => !undone)]].filter(([, of]) => of.length);
        const past = kinds.map(([text, of]) => (kinds.length > 1 ? `${placesOf(of)}: ${text}` : text));
        if (isPast) line.append(make("p", { className: "soft" }, past.join(" ")));
        else if (batch && all.every(({ area_id }) => mayWrite(area_id))) line.append(undoButton(batch, all));
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
