// How current the page is: the connection, the service's own data, and the sources of that data.
import { HOUR, age, askAgain, failed, fill, find, keptSince, load, make, moment, settings, t } from "./words.js";

// How often a page that is not current asks whether the service is there again.
const AGAIN = 10_000;

// The service worker has shown a kept page because the service was slow, and the service's own has come since.
addEventListener("newer", () => {
  if (find("newer")) return;
  const reload = make("button", { type: "button", className: "button" }, t.reload);
  reload.addEventListener("click", () => location.reload());
  find("summary").prepend(make("p", { id: "newer", className: "notice", role: "status" }, `${t.newer} `, reload));
});

/**
 * Shows how current everything is. `forget` is called when the data is too old to be shown, `hatch` with whether a source of floods is
 * silent. Returns what the stream tells: `connected(is)`, `stale(since)`, and `known()` when there are states.
 */
export const connection = ({ forget, hatch }) => {
  // When the service was last heard: a page that was kept for a reader without a network says when.
  const { kept } = document.body.dataset;
  let heard = Date.parse(kept) || Date.now();
  let isLost = Boolean(kept);
  // Since when the service itself cannot read its data.
  let stale = settings.stale;
  let isKnown = settings.known;
  let empty = settings.empty;

  const oldest = (...all) => all.filter(Boolean).sort()[0];
  const show = () => {
    // The states may be current while other data is not.
    const ofStates = oldest(isLost && new Date(heard).toISOString(), keptSince("/floods"), stale);
    const since = oldest(ofStates, keptSince());
    document.body.classList.toggle("old", Boolean(since));
    find("connection").className = since ? "lost" : "";
    find("connection").replaceChildren(...(since ? [`${isLost ? t.offline : t.behind} `, moment(since)] : [t.connected]));
    find("stale").hidden = !stale || isLost;
    if (stale) find("stale").replaceChildren(`${t.stale} `, moment(stale), ".");
    // Older data is not shown.
    const isOld = ofStates && Date.now() - Date.parse(ofStates) > HOUR;
    find("empty").textContent = isOld ? t.old : isKnown ? empty : t.away;
    if (isOld) forget();
  };
  const connected = (is) => {
    if (is) heard = Date.now();
    if (isLost === !is) return;
    isLost = !is;
    show();
    if (is) check();
  };
  /** Asks when the sources were heard, once a minute, because silence is no event. */
  const check = async () => {
    try {
      const sources = await load("/sources");
      connected(true);
      askAgain();
      const silent = sources.filter(({ status, covers }) => status === "silent" && covers.includes("floods"));
      hatch(silent.length > 0).catch(failed);
      empty = silent.length ? t.noneSilent : settings.empty;
      const [first] = silent;
      find("watch").hidden = sources.length > 0 && !first;
      find("watch").textContent = first ? fill(first.last_heard ? t.silentSince : t.silentAlways, { source: first.name, age: first.last_heard && age(first.last_heard) }) : t.unwatched;
      find("sources").hidden = !sources.length;
      find("sources").lastElementChild.replaceChildren(...sources.map((source) =>
        make("li", { className: source.status }, `${source.name}: ${t.source[source.status]}`, ...(source.last_heard ? [`, ${t.lastHeard} `, moment(source.last_heard)] : []))));
    } catch {
      if (!navigator.onLine || Date.now() - heard > 25_000) connected(false);
    }
    show();
  };
  show();
  check();
  setInterval(check, settings.check);
  setInterval(() => (isLost || keptSince()) && check(), AGAIN);
  addEventListener("kept", show);
  addEventListener("offline", () => connected(false));
  addEventListener("online", check);
  return {
    connected,
    stale: (since) => {
      stale = since;
      show();
    },
    known: () => {
      if (isKnown) return;
      isKnown = true;
      show();
    },
  };
};
