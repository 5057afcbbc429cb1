// Shows the reports stored on this phone, and lets people decide about reports that do not wait to be sent.

import { WEEK, exchange, isOld, isWaiting, keep, newToken, withoutLink } from "./waiting.js";
import { filled, id, texts } from "./parts.js";

/**
 * Shows `all` reports below some `notes`. `page` has the key of the report in the form, and functions that name a report, open it in the
 * form, send waiting reports, and redraw after one was discarded.
 */
export function showKept(all, notes, page) {
  const button = (name, act, isPrimary) => {
    const made = Object.assign(document.createElement("button"), { type: "button", className: isPrimary ? "button primary" : "button", textContent: texts[name] });
    made.addEventListener("click", () => act().catch((error) => console.warn(error)));
    return made;
  };
  const decisions = {
    refused: (report) => ["correct", async () => page.open(report)],
    used: (report) => ["sendWithout", () => exchange(report, [withoutLink(report, newToken())]).then(page.send)],
    expired: (report) => decisions.used(report),
    old: (report) => ["sendIt", () => keep({ ...report, until: Date.now() + WEEK, next: 0 }).then(page.send)],
  };
  const row = (report, state) => {
    const isOpen = state === "refused" && report.key === page.key;
    const reason = Object.values(report.faults ?? {}).join(" ");
    const says = filled(texts[isOpen ? "refusedOpen" : `${state}One`], { report: page.name(report), reason });
    const discard = async () => {
      if (!confirm(texts.sureDiscard)) return;
      await exchange(report, []);
      await page.discarded(report);
    };
    const buttons = [...(isOpen ? [] : [button(...decisions[state](report), true)]), button("discard", discard)];
    const choice = document.createElement("p");
    choice.append(...buttons);
    const item = document.createElement("li");
    item.append(says, choice);
    return item;
  };
  const now = Date.now();
  const stateOf = (report) => (isOld(report, now) ? "old" : report.state);
  const count = all.filter((report) => isWaiting(report) && !isOld(report, now)).length;
  const rows = all.flatMap((report) => (stateOf(report) ? [row(report, stateOf(report))] : []));
  const says = id("kept-says");
  const parts = [...notes, ...(count ? [filled(texts.keptOnes, { count })] : [])];
  says.replaceChildren(...parts.flatMap((part) => [part, " "]));
  id("kept-ones").replaceChildren(...rows);
  id("kept").hidden = !parts.length && !rows.length;
}
