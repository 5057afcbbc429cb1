//! Searches for an order of the operations on one area that explains every response (Wing and Gong, with the set of visited nodes
//! of Lowe). The area is a register with compare-and-set, whose versions have ascending times.

use std::collections::HashSet;
use std::time::Duration;

/// A state and when it was set: `""` if it never was, `None` if the response does not contain the time.
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
    /// Sets the second version, if the area has the first.
    Write(Option<Version>, Version),
    Read(Version),
}

/// The lag of a stale read, which may return any version set before it ended.
pub(super) const STALE: Duration = Duration::MAX;

#[derive(Clone, Debug)]
pub(super) struct Operation {
    pub(super) server: usize,
    pub(super) begin: Duration,
    /// `None` for a write without a response: it takes effect at any later time, or never.
    pub(super) end: Option<Duration>,
    /// How far a read may be behind the writes that other servers acknowledged before it began.
    pub(super) lag: Duration,
    pub(super) action: Action,
}

/// Fails with the operations around the end of the longest order if no order has all operations with a response.
pub(super) fn find_order(operations: &[Operation]) -> Result<(), String> {
    let (mut visited, mut longest) = (HashSet::new(), (Vec::new(), Vec::new()));
    let start = Version { state: None, at: Some(String::new()) };
    let mut nodes = vec![(vec![false; operations.len()], start, Vec::new())];
    while let Some((mut done, current, mut order)) = nodes.pop() {
        // A read changes nothing, so it comes as early as possible.
        let open = loop {
            let open = ready(operations, &done);
            let is_explained = |index: &usize| matches!(&operations[*index].action, Action::Read(seen) if seen.matches(&current));
            let explained: Vec<_> = open.iter().copied().filter(is_explained).collect();
            if explained.is_empty() {
                break open;
            }
            explained.iter().for_each(|index| done[*index] = true);
            order.extend(explained);
        };
        if operations.iter().zip(&done).all(|(operation, done)| *done || operation.end.is_none()) {
            return Ok(());
        }
        if order.len() >= longest.0.len() {
            longest = (order.clone(), open.clone());
        }
        if !visited.insert((done.clone(), current.clone())) {
            continue;
        }
        let mut writes: Vec<_> = open
            .into_iter()
            .filter_map(|index| match &operations[index].action {
                Action::Write(after, next) if after.as_ref().is_none_or(|after| after.matches(&current)) => {
                    (next.at > current.at).then_some((next, index))
                }
                _ => None,
            })
            .collect();
        // The last node is the next one: that of the earliest version.
        writes.sort_by(|one, other| other.0.at.cmp(&one.0.at));
        for (next, index) in writes {
            let mut done = done.clone();
            done[index] = true;
            nodes.push((done, next.clone(), [&*order, &[index]].concat()));
        }
    }
    let (order, open) = longest;
    let lines = |indexes: &[usize]| {
        indexes.iter().map(|index| format!("  {:?}\n", operations[*index])).collect::<String>()
    };
    let (before, next) = (&order[order.len().saturating_sub(3)..], &open[..open.len().min(6)]);
    Err(format!(
        "after {} operations, the last of them\n{}none can be next:\n{}",
        order.len(),
        lines(before),
        lines(next)
    ))
}

/// The operations that can be next, because no other one must come before.
fn ready(operations: &[Operation], done: &[bool]) -> Vec<usize> {
    let open = || operations.iter().enumerate().filter(|(index, _)| !done[*index]);
    let first_end = open().filter_map(|(_, other)| other.end).min().unwrap_or(Duration::MAX);
    let is_ready = |operation: &Operation| {
        let is_acknowledged = |other: &Operation| {
            other.server == operation.server
                && other.end < Some(operation.begin)
                && matches!(other.action, Action::Write(..))
        };
        operation.begin.saturating_sub(operation.lag) <= first_end
            && (operation.lag == STALE
                || !open().any(|(_, other)| other.end.is_some() && is_acknowledged(other)))
    };
    open().filter(|(_, operation)| is_ready(operation)).map(|(index, _)| index).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn version(at: u64) -> Version {
        Version {
            state: (at > 0).then_some(1),
            at: Some(if at > 0 { format!("{at:04}") } else { String::new() }),
        }
    }

    /// An operation on server 0, in tenths of a second.
    fn operation(begin: u64, end: u64, action: Action) -> Operation {
        let [begin, end] = [begin, end].map(|time| Duration::from_millis(100 * time));
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

    #[test]
    fn histories_with_an_order_are_accepted_and_others_rejected_with_an_excerpt() {
        let unanswered = || Operation { end: None, ..set(0, 0, 1) };
        let behind = |server, begin, lag| Operation { server, lag, ..read(begin, begin + 1, 1) };
        let (second, elsewhere) = (Duration::from_secs(1), 1);
        for (case, is_accepted, history) in [
            ("old, then new during a write", true, vec![set(0, 9, 1), read(1, 2, 0), read(3, 4, 1)]),
            ("new, then old during a write", false, vec![set(0, 9, 1), read(1, 2, 1), read(3, 4, 0)]),
            ("an acknowledged write is lost", false, vec![set(0, 1, 1), read(2, 3, 0)]),
            ("a read of the future", false, vec![read(0, 1, 1), set(2, 3, 1)]),
            ("a version that nobody wrote", false, vec![set(0, 1, 1), read(0, 1, 2)]),
            ("an unanswered write later", true, vec![unanswered(), read(1, 2, 0), read(3, 4, 1)]),
            ("an unanswered write never", true, vec![unanswered(), read(1, 2, 0)]),
            ("an unanswered write undone", false, vec![unanswered(), read(1, 2, 1), read(3, 4, 0)]),
            ("a condition that is met", true, vec![set_after(0, 9, 1, 2), set_after(0, 9, 0, 1)]),
            ("one condition met twice", false, vec![set_after(0, 9, 0, 1), set_after(0, 9, 0, 2)]),
            ("times that go back", false, vec![set(0, 1, 2), set(2, 3, 1)]),
            ("0.9 s behind", true, vec![set(0, 1, 1), set(2, 3, 2), behind(elsewhere, 12, second)]),
            ("1.1 s behind", false, vec![set(0, 1, 1), set(2, 3, 2), behind(elsewhere, 14, second)]),
            ("behind and marked", true, vec![set(0, 1, 1), set(2, 3, 2), behind(elsewhere, 14, STALE)]),
            ("behind its own writes", false, vec![set(0, 1, 1), set(2, 3, 2), behind(0, 4, second)]),
        ] {
            let found = find_order(&history);
            assert_eq!(found.is_ok(), is_accepted, "{case}: {found:?}");
        }
        let long: Vec<_> =
            (1..50).map(|at| set(10 * at, 10 * at + 1, at)).chain([read(255, 256, 20)]).collect();
        let excerpt = find_order(&long).unwrap_err();
        assert!(excerpt.lines().count() < 9 && excerpt.contains("begin: 25.5s"), "{excerpt}");
    }

    proptest! {
        #[test]
        fn histories_of_a_register_are_accepted_and_those_with_a_swapped_read_rejected(
            operations in prop::collection::vec((0..3, 0..40_u64, 0..40_u64), 20..60),
        ) {
            // Each operation takes effect 1 s after the one before, a while after it begins and before it ends.
            let mut current = 0;
            let operations = (10..).zip(operations).map(|(number, (kind, before, after))| {
                let (begin, end, last) = (10 * number - before, 10 * number + after, current);
                current = if kind == 0 { last } else { number };
                match kind {
                    0 => read(begin, end, last),
                    1 => set(begin, end, number),
                    _ => set_after(begin, end, last, number),
                }
            });
            let mut history: Vec<_> = operations.collect();
            prop_assert_eq!(find_order(&history), Ok(()));
            // A read returns what was written after the read.
            let swapped = history.iter().enumerate().find_map(|(index, read)| {
                let write = history.iter().find(|write| Some(write.begin) > read.end && matches!(write.action, Action::Write(..)))?;
                let (Action::Read(_), Action::Write(_, version)) = (&read.action, &write.action) else { return None };
                Some((index, version.clone()))
            });
            prop_assume!(swapped.is_some());
            let (index, version) = swapped.unwrap();
            history[index].action = Action::Read(version);
            prop_assert!(find_order(&history).is_err());
        }
    }
}
