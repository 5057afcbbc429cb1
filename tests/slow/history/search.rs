//! Searches for an order of the operations on one area that explains what each of them returned (Wing and Gong, with the set of
//! visited states of Lowe). The area is a register with compare-and-set, whose versions have different, ascending times.

use std::collections::HashSet;
use std::fmt::{self, Display, Formatter};
use std::time::Duration;

/// A state and when it was set: `""` for an area that was never set, `None` if the response does not contain the time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Version {
    pub(super) state: Option<u64>,
    pub(super) at: Option<String>,
}

impl Version {
    pub(super) fn matches(&self, stored: &Self) -> bool {
        self.state == stored.state && (self.at.is_none() || self.at == stored.at)
    }
}

#[derive(Clone, Debug)]
pub(super) enum Action {
    /// Sets a version, if the area has the version of the condition.
    Write(Option<Version>, Version),
    /// Returned this version.
    Read(Version),
}

/// A stale read shows any version that existed before the read ended.
pub(super) const STALE: Duration = Duration::MAX;

#[derive(Clone, Debug)]
pub(super) struct Operation {
    pub(super) server: usize,
    /// When the client sent it.
    pub(super) begin: Duration,
    /// When its response was complete. `None` for a write without a response: it takes effect at any later time, or never.
    pub(super) end: Option<Duration>,
    /// How old the version that a read returns may be when the read begins. It is never older than the writes that the same
    /// server acknowledged before.
    pub(super) lag: Duration,
    pub(super) action: Action,
}

impl Operation {
    fn earliest(&self) -> Duration {
        self.begin.saturating_sub(self.lag)
    }

    fn is_own_write_before(&self, read: &Self) -> bool {
        let is_before = self.end.is_some_and(|end| end < read.begin);
        is_before && self.server == read.server && matches!(self.action, Action::Write(..))
    }
}

impl Display for Operation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let end = self.end.map_or("no response".to_owned(), |end| format!("{:.3} s", end.as_secs_f64()));
        write!(f, "{:.3} s to {end}, server {}: ", self.begin.as_secs_f64(), self.server)?;
        match &self.action {
            Action::Write(None, version) => write!(f, "sets {version}"),
            Action::Write(Some(after), version) => write!(f, "sets {version} after {after}"),
            Action::Read(version) if self.lag == STALE => write!(f, "reads {version}, marked as stale"),
            Action::Read(version) => write!(f, "reads {version}"),
        }
    }
}

impl Display for Version {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let state = self.state.map_or("dry".to_owned(), |state| format!("state {state}"));
        write!(
            f,
            "{state} of {}",
            self.at.as_deref().map_or("any time", |at| if at.is_empty() { "the start" } else { at })
        )
    }
}

/// A node of the search: which operations are in the order so far, and the version after them.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Node {
    done: Vec<bool>,
    current: Version,
}

/// The operations before the failure, and those after it, that an excerpt shows.
const SHOWN: (usize, usize) = (3, 6);

/// Fails with an excerpt of the longest order if no order has all operations that got a response.
pub(super) fn find_order(operations: &[Operation]) -> Result<(), String> {
    let (mut visited, mut longest) = (HashSet::new(), (Vec::new(), Vec::new()));
    let first = Version { state: None, at: Some(String::new()) };
    let mut nodes = vec![(Node { done: vec![false; operations.len()], current: first }, Vec::new())];
    while let Some((mut node, mut order)) = nodes.pop() {
        // A read changes nothing, so it comes as early as possible.
        let ready = loop {
            let ready = ready(operations, &node.done);
            let explained = ready.iter().copied().filter(
                |index| matches!(&operations[*index].action, Action::Read(seen) if seen.matches(&node.current)),
            );
            let explained: Vec<_> = explained.collect();
            if explained.is_empty() {
                break ready;
            }
            explained.iter().for_each(|index| node.done[*index] = true);
            order.extend(explained);
        };
        let is_open = |index: &usize| !node.done[*index] && operations[*index].end.is_some();
        if !(0..operations.len()).any(|index| is_open(&index)) {
            return Ok(());
        }
        if order.len() >= longest.0.len() {
            longest = (order.clone(), ready.iter().copied().filter(is_open).collect());
        }
        if !visited.insert(node.clone()) {
            continue;
        }
        let writes = ready.iter().filter_map(|index| match &operations[*index].action {
            Action::Write(after, version) => {
                let is_met = after.as_ref().is_none_or(|after| after.matches(&node.current));
                (is_met && version.at > node.current.at).then_some((*index, version))
            }
            Action::Read(_) => None,
        });
        let mut writes: Vec<_> = writes.collect();
        // The earliest version is tried first.
        writes.sort_by(|(_, one), (_, other)| other.at.cmp(&one.at));
        for (index, version) in writes {
            let mut next = Node { done: node.done.clone(), current: version.clone() };
            next.done[index] = true;
            nodes.push((next, [&*order, &[index]].concat()));
        }
    }
    let (order, stuck) = longest;
    let before = order[order.len().saturating_sub(SHOWN.0)..].iter();
    let shown = before.map(|index| format!("  {}", operations[*index]));
    let unexplained = stuck.iter().take(SHOWN.1).map(|index| format!("  ? {}", operations[*index]));
    let lines: Vec<_> = shown.chain(unexplained).collect();
    Err(format!("after {} operations none of those with ? can be next:\n{}", order.len(), lines.join("\n")))
}

/// The operations that can be next, because none of the others must come before.
fn ready(operations: &[Operation], done: &[bool]) -> Vec<usize> {
    let open = || operations.iter().enumerate().filter(|(index, _)| !done[*index]);
    let first_end = open().filter_map(|(_, other)| other.end).min();
    let ready = open().filter(|(_, operation)| {
        let is_early = first_end.is_none_or(|end| operation.earliest() <= end);
        is_early && (operation.lag == STALE || !open().any(|(_, other)| other.is_own_write_before(operation)))
    });
    ready.map(|(index, _)| index).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LAG: Duration = Duration::from_secs(1);

    fn version(at: u64) -> Version {
        match at {
            0 => Version { state: None, at: Some(String::new()) },
            _ => Version { state: Some(1), at: Some(format!("{at:04}")) },
        }
    }

    /// An operation on server 0, in hundredths of a second.
    fn operation(begin: u64, end: u64, action: Action) -> Operation {
        let [begin, end] = [begin, end].map(|time| Duration::from_millis(10 * time));
        Operation { server: 0, begin, end: Some(end), lag: Duration::ZERO, action }
    }

    fn set(begin: u64, end: u64, at: u64) -> Operation {
        operation(begin, end, Action::Write(None, version(at)))
    }

    fn set_after(begin: u64, end: u64, after: u64, at: u64) -> Operation {
        operation(begin, end, Action::Write(Some(version(after)), version(at)))
    }

    fn read(begin: u64, end: u64, at: u64) -> Operation {
        operation(begin, end, Action::Read(version(at)))
    }

    fn unanswered(write: Operation) -> Operation {
        Operation { end: None, ..write }
    }

    fn cached(server: usize, lag: Duration, read: Operation) -> Operation {
        Operation { server, lag, ..read }
    }

    #[test]
    fn an_order_is_found_for_histories_that_have_one_and_for_no_others() {
        let late = |begin, lag| cached(1, lag, read(begin, begin + 1, 1));
        for (case, is_explained, history) in [
            ("old, then new during a write", true, vec![set(0, 9, 1), read(1, 2, 0), read(3, 4, 1)]),
            ("new, then old during a write", false, vec![set(0, 9, 1), read(1, 2, 1), read(3, 4, 0)]),
            ("a lost acknowledged write", false, vec![set(0, 1, 1), read(2, 3, 0)]),
            ("a version from the future", false, vec![read(0, 1, 1), set(2, 3, 1)]),
            ("a version that nobody wrote", false, vec![set(0, 1, 1), read(0, 1, 2)]),
            (
                "a write without a response, later",
                true,
                vec![unanswered(set(0, 0, 1)), read(1, 2, 0), read(3, 4, 1)],
            ),
            ("a write without a response, never", true, vec![unanswered(set(0, 0, 1)), read(1, 2, 0)]),
            ("it is undone", false, vec![unanswered(set(0, 0, 1)), read(1, 2, 1), read(3, 4, 0)]),
            ("a condition after another", true, vec![set_after(0, 9, 1, 2), set_after(0, 9, 0, 1)]),
            ("two with one condition", false, vec![set_after(0, 9, 0, 1), set_after(0, 9, 0, 2)]),
            ("a time that goes back", false, vec![set(0, 1, 2), set(2, 3, 1)]),
            ("0.9 s late elsewhere", true, vec![set(0, 1, 1), set(9, 10, 2), late(100, LAG)]),
            ("1.1 s late elsewhere", false, vec![set(0, 1, 1), set(9, 10, 2), late(120, LAG)]),
            ("late and marked as stale", true, vec![set(0, 1, 1), set(9, 10, 2), late(120, STALE)]),
            ("late by its own write", false, vec![set(0, 1, 1), cached(0, LAG, read(2, 3, 0))]),
        ] {
            let found = find_order(&history);
            assert_eq!(found.is_ok(), is_explained, "{case}: {found:?}");
        }
    }

    #[test]
    fn an_excerpt_has_the_operations_around_the_failure() {
        let mut history: Vec<_> = (1..50).map(|at| set(10 * at, 10 * at + 1, at)).collect();
        history.push(read(255, 256, 20));
        let excerpt = find_order(&history).unwrap_err();
        assert!(excerpt.lines().count() < 12 && excerpt.contains("? 2.550 s to 2.560 s"), "{excerpt}");
    }

    /// Operations in the order in which they took effect, each a while after it began and before it ended.
    fn histories() -> impl Strategy<Value = Vec<Operation>> {
        let operation = (0..3_u8, 0..40_u64, 0..40_u64);
        prop::collection::vec(operation, 20..60).prop_map(|operations| {
            let mut current = 0;
            let operations = (1..).zip(operations).map(|(number, (kind, before, after))| {
                let effect = 100 + 10 * number;
                let (begin, end, previous) = (effect - before, effect + after, current);
                current = if kind == 0 { current } else { number };
                match kind {
                    0 => read(begin, end, current),
                    1 => set(begin, end, current),
                    _ => set_after(begin, end, previous, current),
                }
            });
            operations.collect()
        })
    }

    proptest! {
        #[test]
        fn histories_of_a_register_have_an_order_and_those_with_a_swapped_read_have_none(history in histories()) {
            prop_assert_eq!(find_order(&history), Ok(()));
            // A read returns the version of a write that began after the read had ended.
            let is_read = |operation: &&Operation| matches!(operation.action, Action::Read(_));
            let swapped = history.iter().position(|early| is_read(&early)).and_then(|index| {
                let is_late = |late: &&Operation| Some(late.begin) > history[index].end && !is_read(late);
                let Action::Write(_, version) = &history.iter().find(is_late)?.action else { return None };
                Some((index, Action::Read(version.clone())))
            });
            prop_assume!(swapped.is_some());
            if let Some((index, action)) = swapped {
                let mut history = history;
                history[index].action = action;
                prop_assert!(find_order(&history).is_err());
            }
        }
    }
}
