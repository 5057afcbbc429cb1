// How current the page is: the connection, the service's own data, and the sources of that data.
import { connectionSays, pageSays } from "./statements.js";
import { HOUR, age, askAgain, failed, fill, find, keptSince, load, make, moment, settings, stating, t } from "./words.js";

// The interval at which a stale page checks whether the service is available again.
const AGAIN = 10_000;

// The service worker has shown a cached page because the service was slow, and the current page has arrived later.
addEventListener("newer", () => {
  if (find("newer")) return;
  const reload = make("button", { type: "button", className: "button" }, t.reload);
  reload.addEventListener("click", () => location.reload());
  find("summary").prepend(make("p", { id: "newer", className: "notice", role: "status" }, `${t.newer} `, reload));
});

/**
 * Shows how current everything is. Calls `forget` when the data is too old to be shown, `hatch` with whether a source of floods is silent,
 * and `changed` when sentences may change. Returns the functions for the stream: `connected(is)`, `stale(since)`, and `known()` when there
 * are states; and `situation()`, the part of the page's situation that follows.
 */
export const connection = ({ forget, hatch, changed }) => {
  // When the service last responded; for a cached page, when it was cached.
  const { kept } = document.body.dataset;
  let heard = Date.parse(kept) || Date.now();
  let isLost = Boolean(kept);
  // Whether the service has responded to this page since it was loaded.
  let isConnected = false;
  // The time since which the service itself cannot read its data.
  let stale = settings.stale;
  let isKnown = settings.known;
  let { watch, silent } = settings;

  const oldest = (...all) => all.filter(Boolean).sort()[0];
  // States may be current while other data is stale.
  const statesSince = () => oldest(isLost && new Date(heard).toISOString(), keptSince("/floods"), stale);
  const situation = () => {
    const since = statesSince();
    const isKept = isLost || Boolean(keptSince("/floods"));
    return {
      floods: !isKnown ? "unread" : isKept ? "lost" : stale ? "stale" : "now",
      since: since && Date.parse(since),
      now: Date.now(), watch,
    };
  };
  const show = () => {
    const now = situation();
    const since = oldest(statesSince(), keptSince());
    const key = connectionSays(isLost ? "lost" : since ? "stale" : "now", isConnected);
    document.body.classList.toggle("old", Boolean(since));
    find("connection").className = since ? "lost" : "";
    stating(find("connection"), key, ...(since ? [`${t[key]} `, moment(since)] : key ? [t[key]] : []));
    const says = pageSays(now, settings);
    find("stale").hidden = !says.includes("stale");
    if (stale) find("stale").replaceChildren(`${t.stale} `, moment(stale), ".");
    const doubt = ["silentSince", "silentAlways", "unwatched"].find((key) => says.includes(key));
    find("watch").hidden = !doubt;
    stating(find("watch"), doubt, doubt ? fill(t[doubt], { source: silent?.name, age: silent?.last_heard && age(silent.last_heard) }) : "");
    // Hide data that is too old.
    if (now.since && now.now - now.since > HOUR) forget();
    changed();
  };
  const connected = (is) => {
    if (is) heard = Date.now();
    if (isLost === !is && isConnected === is) return;
    isLost = !is;
    isConnected = is;
    show();
    if (is) check();
  };
  /** Polls the sources once a minute: silence causes no event. */
  const check = async () => {
    try {
      const sources = await load("/sources");
      connected(true);
      askAgain();
      const ofFloods = sources.filter(({ covers }) => covers.includes("floods"));
      silent = ofFloods.find(({ status }) => status === "silent");
      watch = silent ? (silent.last_heard ? "silent" : "never") : ofFloods.length ? "heard" : "none";
      hatch(Boolean(silent)).catch(failed);
      find("sources").hidden = !sources.length;
      find("sources").lastElementChild.replaceChildren(...sources.map((source) =>
        make("li", { className: source.status }, `${source.name}: ${t.source[source.status]}`, ...(source.last_heard ? [`, ${t.lastHeard} `, moment(source.last_heard)] : []))));
    } catch {
      if (!navigator.onLine || Date.now() - heard > 25_000) connected(false);
    }
    show();
  };
  setInterval(() => (isLost || keptSince()) && check(), AGAIN);
  addEventListener("kept", show);
  addEventListener("offline", () => connected(false));
  addEventListener("online", check);
  return {
    situation,
    /** Starts the checks. */
    begin: () => {
      show();
      check();
      setInterval(check, settings.check);
    },
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
