use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::model::AreaSet;

/// Maximum number of cached sets: the current one, the previous one, and some more for tests.
const SETS: usize = 4;

/// A cache of values that formats build once per set of areas. The key is the address of the set, because sets are immutable.
/// Each call removes values of sets that no longer exist, and the oldest value beyond [`SETS`].
#[derive(Debug)]
pub(super) struct Memo<T>(Mutex<Vec<MemoEntry<T>>>);

type MemoEntry<T> = (Weak<AreaSet>, Arc<LazyValue<T>>);

impl<T> Default for Memo<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Memo<T> {
    /// Returns the value for the set, and builds it on first use. Concurrent callers wait. The value must not own the set, which
    /// would then never be dropped. Errors of `build` are returned, not cached.
    pub(super) fn get_or_build<E>(
        &self,
        set: &Arc<AreaSet>,
        build: impl FnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        self.entry(set).get(build)
    }

    /// Returns the entry of a set. Each entry has its own lock, so building a value does not block callers with other sets.
    fn entry(&self, set: &Arc<AreaSet>) -> Arc<LazyValue<T>> {
        let mut sets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sets.retain(|(known, _)| known.strong_count() > 0);
        // Addresses identify sets: an address is not reused while a weak pointer to it exists.
        if let Some((_, entry)) = sets.iter().find(|(known, _)| known.as_ptr() == Arc::as_ptr(set)) {
            return Arc::clone(entry);
        }
        if sets.len() == SETS {
            sets.remove(0);
        }
        let entry = Arc::new(LazyValue::default());
        sets.push((Arc::downgrade(set), Arc::clone(&entry)));
        entry
    }
}

#[derive(Debug)]
pub(super) struct LazyValue<T>(Mutex<Option<Arc<T>>>);

impl<T> Default for LazyValue<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> LazyValue<T> {
    /// Returns the value if it is built. Never waits.
    pub(super) fn built(&self) -> Option<Arc<T>> {
        self.0.try_lock().ok()?.clone()
    }

    /// Returns the value, and builds it on first use. Concurrent callers wait. Errors of `build` are returned, not cached.
    pub(super) fn get<E>(&self, build: impl FnOnce() -> Result<T, E>) -> Result<Arc<T>, E> {
        // A poisoned lock is safe to use: if `build` panicked, the value is still `None`.
        let mut entry = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = &*entry {
            return Ok(Arc::clone(value));
        }
        let value = Arc::new(build()?);
        *entry = Some(Arc::clone(&value));
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::Barrier;
    use std::thread;

    use super::*;

    fn get(memo: &Memo<u32>, set: &Arc<AreaSet>, number: u32) -> u32 {
        *memo.get_or_build(set, || Ok::<_, Infallible>(number)).unwrap()
    }

    #[test]
    fn each_set_has_its_own_value_built_once() {
        let memo = Memo::default();
        let [one, other] = [Arc::default(), Arc::default()];
        assert_eq!((get(&memo, &one, 1), get(&memo, &other, 2)), (1, 2));
        assert_eq!((get(&memo, &one, 3), get(&memo, &other, 4)), (1, 2));
    }

    #[test]
    fn concurrent_callers_wait_for_the_value() {
        let (memo, set, begun) = (&Memo::default(), &Arc::default(), &Barrier::new(4));
        let answers = thread::scope(|scope| {
            let slowly = || {
                begun.wait();
                thread::sleep(std::time::Duration::from_millis(50));
                Ok::<_, Infallible>(0)
            };
            let first = scope.spawn(move || *memo.get_or_build(set, slowly).unwrap());
            let others = [1, 2, 3].map(|number| {
                scope.spawn(move || {
                    begun.wait();
                    get(memo, set, number)
                })
            });
            [first].into_iter().chain(others).map(|answer| answer.join().unwrap()).collect::<Vec<_>>()
        });
        assert_eq!(answers, [0; 4]);
    }

    #[test]
    fn dropped_sets_are_evicted_and_the_cache_is_bounded() {
        let memo = Memo::default();
        let entry = |memo: &Memo<u32>| memo.0.lock().unwrap().len();
        let gone: Arc<AreaSet> = Arc::default();
        get(&memo, &gone, 1);
        drop(gone);
        let sets: Vec<Arc<AreaSet>> = (0..SETS + 2).map(|_| Arc::default()).collect();
        get(&memo, &sets[0], 2);
        assert_eq!(entry(&memo), 1);
        for set in &sets {
            get(&memo, set, 3);
        }
        assert_eq!(entry(&memo), SETS);
        assert_eq!(get(&memo, &sets[SETS + 1], 4), 3);
        assert_eq!(get(&memo, &sets[0], 5), 5, "was given up for later ones");
    }

    #[test]
    fn an_error_is_not_cached() {
        let (memo, set) = (Memo::default(), Arc::default());
        assert_eq!(memo.get_or_build(&set, || Err("no")), Err("no"));
        assert_eq!(get(&memo, &set, 7), 7);
    }
}
