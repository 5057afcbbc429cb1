// Gauges: their curves, those without current data, and switching off a broken one.
import { nice } from "../names.js";
import { age, curve, failed, fill, find, loadGauges, make, moment, settings, t } from "../map/words.js";
import { hour, reasonForm, redraw } from "./rows.js";
import { send } from "./waiting.js";

/** Creates the part. `renew` reloads the news, `say` shows a message. */
export const meters = ({ renew, say }) => {
  let all = new Map(); // The properties of gauges, as they were loaded last.
  let hasFailed = false;
  let reasons = {}; // Why gauges are switched off, by identifier.
  /** Reloads the gauges: officers decide by them. */
  const loadAll = async () => {
    try {
      const { features } = await loadGauges("&geoformat=geojson");
      all = new Map(features.map(({ properties }) => [properties.gaugeid, properties]));
      hasFailed = false;
    } catch (error) {
      failed(error);
      hasFailed = true;
    }
    drawOff();
  };

  const setMute = async (id, reason) => {
    const path = `/desk/gauges/${encodeURIComponent(id)}/mute`;
    const response = await (reason ? send("PUT", path, { reason }) : send("DELETE", path)).catch(() => null);
    if (!response) return say(t.noAnswer);
    const { status, body } = response;
    if (status !== 200) return say(status === 401 || status === 403 ? t.endedShort : body.message ?? `${status}`);
    say(reason ? t.mutedNow : t.unmutedNow);
    if (reason) reasons = { ...reasons, [id]: reason };
    renew();
    await loadAll();
  };
  /** The action that a gauge allows: to switch it off, or on again. */
  const action = ({ gaugeid, status }) => {
    if (!settings.mayMute) return [];
    if (status === "muted") {
      const button = make("button", { type: "button", className: "button" }, t.unmute);
      button.addEventListener("click", () => setMute(gaugeid));
      return [button];
    }
    return [reasonForm(`gauge ${gaugeid}`, t.muteWhy, t.mute, (reason) => setMute(gaugeid, reason))];
  };
  const condition = ({ gaugeid, status, muted_until, last, observations }) => {
    if (status === "muted") return fill(t.mutedUntil, { at: moment(muted_until).textContent, reason: reasons[gaugeid] ?? "" });
    const newest = observations.at(-1) ?? last;
    return newest ? fill(t.silent, { at: `${hour(newest.f1)} (${age(newest.f1)})` }) : t.neverRead;
  };
  const drawOff = () => {
    const off = [...all.values()].filter(({ status }) => ["muted", "silent", "never"].includes(status));
    find("gauges").hidden = !off.length;
    find("gauges-title").textContent = fill(t.gauges, { count: off.length }) + (hasFailed ? ` · ${t.noAnswer}` : "");
    const list = find("gauges-list");
    redraw(list, off.slice(0, 100).map((gauge) =>
      make("li", {}, make("p", {}, make("b", {}, nice(gauge.gaugenameid)), ` · ${condition(gauge)}`), ...action(gauge))));
  };

  return {
    load: loadAll,
    /** Takes the reasons why gauges are switched off. */
    draw: ({ muted = {} }) => {
      reasons = muted;
      drawOff();
    },
    /** The curve of a gauge that is a reason, and the form that switches it off. */
    figure: (id, name) => {
      const caption = make("figcaption", { className: "soft" }, hasFailed ? `${name}: ${t.noAnswer}` : name);
      const gauge = all.get(id);
      const { observations = [], thresholds } = gauge ?? {};
      const parts = gauge ? [caption, ...action(gauge)] : [caption];
      if (observations.length < 2) return make("figure", {}, ...parts);
      const picture = curve(observations, "cm", thresholds);
      const { f1, f2 } = observations.at(-1);
      caption.append(` ${picture.getAttribute("aria-label")}, ${hour(f1)}: ${Math.round(f2)} cm`);
      return make("figure", {}, picture, ...parts);
    },
  };
};
