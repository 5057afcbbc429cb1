// The rules for which sentences the page shows, as in src/data/statements, but by the reader's clock and connection. The rows of its
// table.json test both.
//
// A situation has: floods ("now", "stale": the service cannot read its data, "lost": the page has no connection, "unread", "hour":
// those of an hour of the past), since (when "stale" or "lost" began), now, watch ("heard", "silent", "never", "none"), hasAreas,
// isPart, flooded (a number) and newest. Times are in milliseconds. The limits have shownFor, overFor and confirmedFor.

const isOld = ({ floods, now, since }, { shownFor }) => ["stale", "lost"].includes(floods) && now - since > shownFor;
const isSilent = ({ watch }) => watch === "silent" || watch === "never";

/** Returns the sentences about all areas. */
export const pageSays = (of, limits) => {
  const { floods, watch, hasAreas, isPart, flooded, newest } = of;
  const is = {
    away: floods === "unread", old: isOld(of, limits), flooded: flooded > 0, dryThen: floods === "hour", noAreas: !hasAreas,
    noneSilent: isSilent(of), noneThen: floods !== "now", noneHere: isPart, none: true,
  };
  const says = [Object.keys(is).find((key) => is[key])];
  if (!is.away && !is.old && newest) says.push("newest");
  else if (floods === "now" && hasAreas) says.push("never");
  if (floods === "stale") says.push("stale");
  const doubt = { silent: "silentSince", never: "silentAlways", none: "unwatched" }[watch];
  return floods === "hour" || !doubt ? says : [...says, doubt];
};

/**
 * Returns the sentences about one area, its state first. The area has: state, flooded_since and confirmed, or over_since; and
 * reports, the number of reports of a flood, if that is known.
 */
export const areaSays = (of, limits, { state, flooded_since, confirmed, over_since, reports }) => {
  const { floods, now, watch } = of;
  if (floods === "unread" || isOld(of, limits)) return ["unknownNow"];
  if (floods === "hour") return [state ? "depth" : "dryThen"];
  const told = reports ? [reports === 1 ? "oneReport" : "reports"] : [];
  const isPast = floods !== "now";
  const says = [];
  if (state) {
    const unconfirmed = now - confirmed > limits.confirmedFor;
    says.push("depth", "since", ...(unconfirmed ? ["unconfirmed"] : confirmed > flooded_since ? ["confirmed"] : []), ...told, "advice");
  } else if (told.length) says.push(...told);
  else if (isSilent(of)) says.push("unknownArea");
  else {
    says.push(isPast ? "noneThen" : "dry");
    if (over_since && now - over_since < limits.overFor) says.push("over");
    if (reports === undefined) says.push("reportsUnknown");
    if (watch === "none") says.push("unwatched");
  }
  return isPast ? [...says, floods === "stale" ? "stale" : "offline"] : says;
};

/** Returns the sentence for the title of an area with these sentences: only the number of reports. */
export const titleSays = ([first]) => (["oneReport", "reports"].includes(first) ? "reportCount" : first);

/** Returns the sentence about the connection: none before the first one. */
export const connectionSays = (floods, isConnected) =>
  floods === "lost" ? "offline" : floods === "stale" ? "behind" : isConnected ? "connected" : undefined;
