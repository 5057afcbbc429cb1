// Sends what waits in the browser until the service itself has confirmed it: the reports of residents, the orders of officers.

/**
 * Makes an outbox. It holds no entries of its own, because other pages of the browser may change them: `all()` returns them, each known by
 * its property `key`. `isDue(entry, now, isForced)` says whether to send one: its pause is over, or does not count, because the network is
 * back. `send(entry)` returns the response, or throws. `settle(entry, response, now)` decides by that, or by `null`: it returns the entries
 * that are `kept` in place of this one, and what the page wants to know. `take(entry, outcome)` puts them there.
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
      // Read again for each entry: meanwhile others may have been taken back, replaced or sent.
      const entries = await all();
      const entry = entries.find((of) => !tried.has(of[key]) && isDue(of, Date.now(), isForced));
      if (!entry) return outcomes;
      tried.add(entry[key]);
      outcomes.push(await post(entry));
    }
  };
  return { post, flush };
};
