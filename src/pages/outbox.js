// Sends entries (reports of residents, orders of officers) from the browser until the service itself has confirmed them.

/**
 * Creates an outbox. It stores no entries, because other pages of the browser may change them: `all()` returns them, identified by `key`.
 * `isDue(entry, now, isForced)` returns whether to send an entry: its pause is over, or is ignored because the network is back.
 * `send(entry)` returns the response, or throws. `settle(entry, response, now)` returns the outcome for a response or `null`: the entries
 * `kept` in place of this one, and data for the page. `take(entry, outcome)` stores them.
 */
export const outbox = ({ key, all, isDue, send, settle, take }) => {
  /** Sends an entry, due or not. Returns its outcome. */
  const post = async (entry) => {
    const response = await send(entry).catch(() => null);
    const outcome = settle(entry, response, Date.now());
    await take(entry, outcome);
    return outcome;
  };
  /** Sends each due entry once, one after another. Returns their outcomes. */
  const flush = async (isForced = false) => {
    const outcomes = [];
    const tried = new Set();
    for (;;) {
      // Reads the entries again for each one, because others may have been cancelled, replaced or sent in the meantime.
      const entries = await all();
      const entry = entries.find((of) => !tried.has(of[key]) && isDue(of, Date.now(), isForced));
      if (!entry) return outcomes;
      tried.add(entry[key]);
      outcomes.push(await post(entry));
    }
  };
  return { post, flush };
};
