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

/// The lag of a read that is marked as stale: it returns any version set before it ended.
pub(super) const STALE: Duration = Duration::MAX;

#[derive(Clone, Debug)]
pub(super) struct Operation {
    pub(super) server: usize,
    pub(super) begin: Duration,
    /// `None` for a write without a response: it takes effect at any later time, or never.
    pub(super) end: Option<Duration>,
    /// How long before the read other servers may have acknowledged writes that it does not return.
    pub(super) lag: Duration,
    pub(super) action: Action,
}

/// Fails with the operations around the end of the longest order if no order has all operations with a response.
pub(super) fn find_order(operations: &[Operation]) -> Result<(), String> {
    let (mut visited, mut longest) = (HashSet::new(), (Vec::new(), Vec::new()));
    let start = Version { state: None, at: Some(String::new()) };
    let mut nodes = vec![(vec![false; operations.len()], start, Vec::new())];
    while let Some((mut done, current, mut order)) = nodes.pop() {
        let mut open = ready(operations, &done);
        // A read changes nothing, so it comes as early as possible.
        let is_explained = |index: &usize| matches!(&operations[*index].action, Action::Read(read) if read.matches(&current));
        while open.iter().any(is_explained) {
            for index in open.into_iter().filter(is_explained) {
                done[index] = true;
                order.push(index);
            }
            open = ready(operations, &done);
        }
        if operations.iter().zip(&done).all(|(operation, done)| *done || operation.end.is_none()) {
            return Ok(());
        }
        if order.len() >= longest.0.len() {
            longest = (order.clone(), open.clone());
        }
        if !visited.insert((done.clone(), current.clone())) {
            continue;
        }
        let from = nodes.len();
        for index in open {
            let Action::Write(after, next) = &operations[index].action else { continue };
            if next.at > current.at && after.as_ref().is_none_or(|after| after.matches(&current)) {
                let mut done = done.clone();
                done[index] = true;
                nodes.push((done, next.clone(), [&*order, &[index]].concat()));
            }
        }
        // The earliest version comes first.
        nodes[from..].sort_by(|one, other| other.1.at.cmp(&one.1.at));
    }
    let (order, open) = longest;
    let lines =
        |part: &[usize]| part.iter().map(|index| format!("\n  {:?}", operations[*index])).collect::<String>();
    let (last, next) = (&order[order.len().saturating_sub(3)..], &open[..open.len().min(6)]);
    Err(format!("after {} operations{}\nnone of these can be next{}", order.len(), lines(last), lines(next)))
}

/// The operations that can be next, because no other one must come before.
fn ready(operations: &[Operation], done: &[bool]) -> Vec<usize> {
    let open = || operations.iter().enumerate().filter(|(index, _)| !done[*index]);
    let first_end = open().filter_map(|(_, other)| other.end).min().unwrap_or(Duration::MAX);
    let is_ready = |operation: &Operation| {
        // Every write that the same server has acknowledged comes before.
        let is_before = |other: &Operation| {
            let is_write = matches!(other.action, Action::Write(..)) && other.server == operation.server;
            is_write && other.end.is_some_and(|end| end < operation.begin)
        };
        let (lag, begin) = (operation.lag, operation.begin);
        begin.saturating_sub(lag) <= first_end && (lag == STALE || !open().any(|(_, other)| is_before(other)))
    };
    open().filter(|(_, operation)| is_ready(operation)).map(|(index, _)| index).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn version(at: u64) -> Version {
        let time = if at == 0 { String::new() } else { format!("{at:04}") };
        Version { state: Some(1).filter(|_| at > 0), at: Some(time) }
    }

    /// An operation on server 0, in tenths of a second.
    fn operation(begin: u64, end: u64, action: Action) -> Operation {
        let [begin, end] = [begin, end].map(|time| Duration::from_millis(100 * time));
        Operation { server: 0, begin, end: Some(end), lag: Duration::ZERO, action }
    }

    fn read(begin: u64, end: u64, at: u64) -> Operation {
        operation(begin, end, Action::Read(version(at)))
    }

    fn set(begin: u64, end: u64, after: Option<u64>, at: u64) -> Operation {
        operation(begin, end, Action::Write(after.map(version), version(at)))
    }

    #[test]
    fn a_history_is_accepted_if_an_order_explains_it_and_otherwise_rejected_with_an_excerpt() {
        let one = |end| set(0, end, None, 1);
        let unanswered = || Operation { end: None, ..one(0) };
        let behind = |server, begin, lag| {
            vec![one(1), set(2, 3, None, 2), Operation { server, lag, ..read(begin, begin + 1, 1) }]
        };
        let second = Duration::from_secs(1);
        for (case, is_accepted, history) in [
            ("old, then new during a write", true, vec![one(9), read(1, 2, 0), read(3, 4, 1)]),
            ("new, then old during a write", false, vec![one(9), read(1, 2, 1), read(3, 4, 0)]),
            ("an acknowledged write is lost", false, vec![one(1), read(2, 3, 0)]),
            ("a read of the future", false, vec![read(0, 1, 1), set(2, 3, None, 1)]),
            ("a version that nobody wrote", false, vec![one(1), read(0, 1, 2)]),
            ("an unanswered write, later", true, vec![unanswered(), read(1, 2, 0), read(3, 4, 1)]),
            ("an unanswered write, never", true, vec![unanswered(), read(1, 2, 0)]),
            ("an unanswered write, undone", false, vec![unanswered(), read(1, 2, 1), read(3, 4, 0)]),
            ("a condition that is met later", true, vec![set(0, 9, Some(1), 2), set(0, 9, Some(0), 1)]),
            ("a condition that is met twice", false, vec![set(0, 9, Some(0), 1), set(0, 9, Some(0), 2)]),
            ("times that go back", false, vec![set(0, 1, None, 2), set(2, 3, None, 1)]),
            ("0.9 s behind another server", true, behind(1, 12, second)),
            ("1.1 s behind another server", false, behind(1, 14, second)),
            ("behind, and marked as stale", true, behind(1, 14, STALE)),
            ("behind what it acknowledged", false, behind(0, 4, second)),
        ] {
            let found = find_order(&history);
            assert_eq!(found.is_ok(), is_accepted, "{case}: {found:?}");
        }
        let long = (1..50).map(|at| set(10 * at, 10 * at + 1, None, at)).chain([read(255, 256, 20)]);
        let excerpt = find_order(&long.collect::<Vec<_>>()).unwrap_err();
        assert!(excerpt.lines().count() < 9 && excerpt.contains("begin: 25.5s"), "{excerpt}");
    }

    proptest! {
        #[test]
        fn the_history_of_a_register_is_accepted_and_rejected_with_a_swapped_read(
            operations in prop::collection::vec((0..3, 0..40_u64, 0..40_u64), 20..60),
        ) {
            // Each operation takes effect 1 s after the one before, a while after it begins and before it ends.
            let mut current = 0;
            let operations = (10..).zip(operations).map(|(number, (kind, before, after))| {
                let (begin, end, last) = (10 * number - before, 10 * number + after, current);
                current = if kind == 0 { last } else { number };
                if kind == 0 { read(begin, end, last) } else { set(begin, end, Some(last).filter(|_| kind == 1), number) }
            });
            let mut history: Vec<_> = operations.collect();
            prop_assert_eq!(find_order(&history), Ok(()));
            // A read returns what is written after it.
            let swapped = history.iter().enumerate().find_map(|(index, read)| {
                let Action::Read(_) = read.action else { return None };
                history.iter().filter(|late| Some(late.begin) > read.end).find_map(|late| match &late.action {
                    Action::Write(_, version) => Some((index, version.clone())),
                    Action::Read(_) => None,
                })
            });
            prop_assume!(swapped.is_some());
            let (index, version) = swapped.unwrap();
            history[index].action = Action::Read(version);
            prop_assert!(find_order(&history).is_err());
        }
    }
}
