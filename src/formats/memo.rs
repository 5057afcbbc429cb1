//! What is made once and kept: of a set of areas for as long as there is the set.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::model::AreaSet;

/// How many sets are remembered: the one that is served, the one before it, and some more for tests and the like.
const SETS: usize = 4;

/// What formats make of a set of areas, made once for each set.
///
/// A set is known by where it is, for it never changes. What was made of a set that is gone is dropped by the next
/// question, and of more than four the one that came first. A memo only saves work: whoever asks gets what would have
/// been made otherwise.
#[derive(Debug)]
pub(super) struct Memo<T>(Mutex<Vec<Entry<T>>>);

/// A set and what was made of it.
type Entry<T> = (Weak<AreaSet>, Arc<Kept<T>>);

impl<T> Default for Memo<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Memo<T> {
    /// What `make` makes of the set; it must not hold the set itself. Who asks while it is made waits for it.
    ///
    /// # Errors
    ///
    /// Those of `make`; the next question tries again.
    pub(super) fn of<E>(&self, set: &Arc<AreaSet>, make: impl FnOnce() -> Result<T, E>) -> Result<Arc<T>, E> {
        self.kept(set).get(make)
    }

    /// The place for what is made of a set. It is made without holding up questions about other sets.
    fn kept(&self, set: &Arc<AreaSet>) -> Arc<Kept<T>> {
        let mut sets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sets.retain(|(known, _)| known.strong_count() > 0);
        // Its place is not given to another while there is a weak pointer.
        if let Some((_, kept)) = sets.iter().find(|(known, _)| known.as_ptr() == Arc::as_ptr(set)) {
            return Arc::clone(kept);
        }
        if sets.len() == SETS {
            sets.remove(0);
        }
        let kept = Arc::new(Kept::default());
        sets.push((Arc::downgrade(set), Arc::clone(&kept)));
        kept
    }
}

/// A thing that is made when it is asked for first.
#[derive(Debug)]
pub(super) struct Kept<T>(Mutex<Option<Arc<T>>>);

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Kept<T> {
    /// The thing, which `make` makes the first time. Who asks meanwhile waits.
    ///
    /// # Errors
    ///
    /// Those of `make`; the next question tries again.
    pub(super) fn get<E>(&self, make: impl FnOnce() -> Result<T, E>) -> Result<Arc<T>, E> {
        // A panic while it was made left nothing there.
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = &*kept {
            return Ok(Arc::clone(made));
        }
        let made = Arc::new(make()?);
        *kept = Some(Arc::clone(&made));
        Ok(made)
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::thread;

    use super::*;

    fn of(memo: &Memo<u32>, set: &Arc<AreaSet>, number: u32) -> u32 {
        *memo.of(set, || Ok::<_, Infallible>(number)).unwrap()
    }

    #[test]
    fn each_set_has_its_own_made_once() {
        let memo = Memo::default();
        let [one, other] = [Arc::default(), Arc::default()];
        assert_eq!((of(&memo, &one, 1), of(&memo, &other, 2)), (1, 2));
        assert_eq!((of(&memo, &one, 3), of(&memo, &other, 4)), (1, 2));
    }

    #[test]
    fn who_asks_while_it_is_made_waits_for_it() {
        let (memo, set) = (Memo::default(), Arc::default());
        let answers = thread::scope(|scope| {
            let asking = |number| {
                scope.spawn({
                    let (memo, set) = (&memo, &set);
                    move || {
                        let slowly = || {
                            thread::sleep(std::time::Duration::from_millis(50));
                            Ok::<_, Infallible>(number)
                        };
                        *memo.of(set, slowly).unwrap()
                    }
                })
            };
            (0..4)
                .map(asking)
                .collect::<Vec<_>>()
                .into_iter()
                .map(|one| one.join().unwrap())
                .collect::<Vec<u32>>()
        });
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    }

    #[test]
    fn sets_that_are_gone_are_dropped_and_no_more_than_a_few_are_kept() {
        let memo = Memo::default();
        let kept = |memo: &Memo<u32>| memo.0.lock().unwrap().len();
        let gone: Arc<AreaSet> = Arc::default();
        of(&memo, &gone, 1);
        drop(gone);
        let sets: Vec<Arc<AreaSet>> = (0..SETS + 2).map(|_| Arc::default()).collect();
        of(&memo, &sets[0], 2);
        assert_eq!(kept(&memo), 1);
        for set in &sets {
            of(&memo, set, 3);
        }
        assert_eq!(kept(&memo), SETS);
        assert_eq!(of(&memo, &sets[SETS + 1], 4), 3);
        assert_eq!(of(&memo, &sets[0], 5), 5, "was given up for later ones");
    }

    #[test]
    fn what_could_not_be_made_is_tried_again() {
        let (memo, set) = (Memo::default(), Arc::default());
        assert_eq!(memo.of(&set, || Err("no")), Err("no"));
        assert_eq!(of(&memo, &set, 7), 7);
    }
}
