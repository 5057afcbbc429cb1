use std::time::Instant;

use tokio::sync::Mutex;

/// An answer that all share who ask while it is on its way.
///
/// Whoever asks gets the answer to a question that began after it asked, and so to one that holds whatever was so by
/// then. One question is under way at most, and one more waits for its end, for all who came meanwhile. When whoever asks
/// for them all gives up, the next of them asks.
#[derive(Debug)]
pub(super) struct Shared<T>(Mutex<Option<Answer<T>>>);

#[derive(Debug)]
struct Answer<T> {
    /// When its question began.
    asked: Instant,
    value: T,
}

impl<T: Clone> Shared<T> {
    pub(super) fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// The answer to `question`, which is asked if no other has been since this call.
    pub(super) async fn answer(&self, question: impl Future<Output = T>) -> T {
        let called = Instant::now();
        let mut last = self.0.lock().await;
        if let Some(answer) = last.as_ref().filter(|answer| answer.asked > called) {
            return answer.value.clone();
        }
        let asked = Instant::now();
        let value = question.await;
        *last = Some(Answer { asked, value: value.clone() });
        value
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use futures::future::join_all;
    use tokio::join;
    use tokio::sync::Semaphore;

    use super::*;
    use crate::conformance::block_on;

    /// Counts how often it is asked, and answers when it may.
    #[derive(Debug)]
    struct Source {
        asked: AtomicU64,
        may_answer: Semaphore,
    }

    impl Source {
        fn new() -> Self {
            Self { asked: AtomicU64::new(0), may_answer: Semaphore::new(0) }
        }

        async fn ask(&self) -> u64 {
            let number = self.asked.fetch_add(1, Ordering::SeqCst) + 1;
            self.may_answer.acquire().await.unwrap().forget();
            number
        }

        async fn is_asked(&self, times: u64) {
            while self.asked.load(Ordering::SeqCst) < times {
                tokio::task::yield_now().await;
            }
        }
    }

    #[test]
    fn a_thousand_who_ask_during_a_question_share_the_next() {
        block_on(async {
            let (shared, source) = (Shared::new(), Source::new());
            let others = async {
                source.is_asked(1).await;
                let waiting = join_all((0..1_000).map(|_| shared.answer(source.ask())));
                let answering = async {
                    // All others have been polled, and so have asked, when this is.
                    tokio::task::yield_now().await;
                    source.may_answer.add_permits(2);
                };
                join!(waiting, answering).0
            };
            let (first, others) = join!(shared.answer(source.ask()), others);
            assert_eq!((first, source.asked.load(Ordering::SeqCst)), (1, 2));
            assert!(
                others.iter().all(|answer| *answer == 2),
                "what was asked before they came is not theirs"
            );
        });
    }

    #[test]
    fn who_asks_after_an_answer_asks_anew() {
        block_on(async {
            let (shared, source) = (Shared::new(), Source::new());
            source.may_answer.add_permits(2);
            assert_eq!(shared.answer(source.ask()).await, 1);
            assert_eq!(shared.answer(source.ask()).await, 2);
        });
    }

    #[test]
    fn when_the_one_who_asks_gives_up_the_next_asks() {
        block_on(async {
            let (shared, source) = (Arc::new(Shared::new()), Arc::new(Source::new()));
            let ask = || {
                let (shared, source) = (Arc::clone(&shared), Arc::clone(&source));
                tokio::spawn(async move { shared.answer(source.ask()).await })
            };
            let first = ask();
            source.is_asked(1).await;
            let second = ask();
            first.abort();
            source.is_asked(2).await;
            source.may_answer.add_permits(1);
            assert_eq!(second.await.unwrap(), 2);
        });
    }
}
