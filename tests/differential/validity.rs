//! A response stays the same, in all stores, for as long as it is valid.

use std::sync::Arc;

use proptest::prelude::*;
use siaga::model::{AreaSelector, Clock, ManualClock, Timestamp, Validity};
use siaga::stores::{GaugeQuery, Store};

use crate::fixture::{block_on, now};
use crate::operations::{Asked, Content, Operation, Sent, Span, Time, asked, content, moved, selector, sent};
use crate::operations::{span, tick, time};
use crate::{all, config, debug};

/// A question whose answer depends on the time.
#[derive(Clone, Debug)]
enum Question {
    Reports(Asked, Time),
    Summary(Asked, Time),
    Series(Asked, Span),
    Gauges(AreaSelector, Time),
}

impl Question {
    async fn ask(&self, store: &dyn Store) -> (Validity, String) {
        match self.clone() {
            Self::Reports(asked, time) => {
                let found = store.reports(&asked.at(time)).await.unwrap();
                let keys = found.value.reports.iter().map(|report| (report.key, report.content.created_at));
                (found.validity, debug(keys.collect::<Vec<_>>()))
            }
            Self::Summary(asked, time) => {
                let found = store.report_summary(&asked.at(time)).await.unwrap();
                (found.validity, debug(found.value))
            }
            Self::Series(asked, span) => {
                let found = store.report_series(&asked.hourly(span)).await.unwrap();
                (found.validity, debug(found.value))
            }
            Self::Gauges(selector, time) => {
                let found = store.gauges(&GaugeQuery { selector, window: time.window() }).await.unwrap();
                (found.validity, debug(found.value))
            }
        }
    }
}

fn question() -> impl Strategy<Value = Question> {
    prop_oneof![
        (asked(), time()).prop_map(|(asked, time)| Question::Reports(asked, time)),
        (asked(), time()).prop_map(|(asked, time)| Question::Summary(asked, time)),
        (asked(), span()).prop_map(|(asked, span)| Question::Series(asked, span)),
        (selector(), time()).prop_map(|(selector, time)| Question::Gauges(selector, time)),
    ]
}

/// A time for which an answer lasts, from when it was read on: some way of a thousand to its end, or to that of a month.
fn at(validity: Validity, read: Timestamp, way: i64) -> Timestamp {
    const MONTH: i64 = 30 * 24 * 3_600_000;
    let left = match validity {
        Validity::Always => MONTH,
        Validity::Between { until, .. } => (until.to_utc() - read.to_utc()).num_milliseconds().min(MONTH),
    };
    moved(read, (left - 1) * way / 1_000)
}

async fn last(
    contents: Vec<Content>,
    gauges: Vec<Sent>,
    questions: Vec<(i64, Question, i64)>,
) -> Result<(), TestCaseError> {
    let clock = Arc::new(ManualClock::new(now()));
    let (mut memory, mut others) = all(&clock).await;
    let posts = (0..).zip(contents).map(|(post, content)| Operation::ReceivePost(post, content));
    for operation in posts.chain(gauges.into_iter().map(Operation::StoreGauge)) {
        memory.answer(&operation, now()).await.unwrap();
        for (_, side) in &mut others.sides {
            side.answer(&operation, now()).await.unwrap();
        }
    }
    for (tick, question, way) in questions {
        let read = moved(clock.now(), tick);
        clock.set(read);
        let (validity, answer) = question.ask(&*memory.store).await;
        prop_assert!(validity.covers(read), "{question:?}: {validity:?} at {read}");
        for moment in [read, at(validity, read, way), at(validity, read, 1_000)] {
            clock.set(moment);
            let stores = others.sides.iter().map(|(_, side)| &side.store);
            for store in stores.chain([&memory.store]) {
                let (_, then) = question.ask(&**store).await;
                prop_assert!(then == answer, "{question:?} at {moment}, {validity:?}:\n{answer}\n{then}");
            }
        }
        clock.set(read);
        for (name, side) in &others.sides {
            let (of_side, _) = question.ask(&*side.store).await;
            prop_assert!(of_side == validity, "{name}: {question:?}: {of_side:?} {validity:?}");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn an_answer_is_the_same_for_as_long_as_it_lasts(
        contents in prop::collection::vec(content(), 0..20),
        gauges in prop::collection::vec(sent(), 0..8),
        questions in prop::collection::vec((tick(), question(), 0..=1_000_i64), 20)
    ) {
        block_on(last(contents, gauges, questions))?;
    }
}
