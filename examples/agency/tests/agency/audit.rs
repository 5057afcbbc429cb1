use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use agency::audit::{Audited, OpenAudited};
use async_trait::async_trait;
use siaga::model::{Actor, AreaId, AreaLimit, Clock, ManualClock};
use siaga::stores::memory::{MemoryStore, OpenMemory};
use siaga::stores::postgres::OpenPostgres;
use siaga::stores::{OpenStore, SetFloodState, Store};
use siaga_conformance::stores::FreshStore;
use siaga_conformance::{block_on, fixture, store_suite};

struct Fresh;

#[async_trait]
impl FreshStore for Fresh {
    async fn open(&self, clock: Arc<dyn Clock>) -> Arc<dyn Store> {
        Arc::new(Audited::new(Arc::new(MemoryStore::new(fixture::dataset(), clock))))
    }
}

store_suite!(Fresh);

/// The text written to the log.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the log lines of one change.
fn lines_of_a_change(area: AreaId) -> String {
    let lines = Lines::default();
    let writer = lines.clone();
    let log = tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
    let by = Actor { subject: "bpbd".to_owned(), username: Some("two\nlines".to_owned()) };
    let order = SetFloodState { area, state: Some(fixture::state(3)), by, limit: AreaLimit::Everywhere };
    tracing::subscriber::with_default(log, || {
        block_on(async {
            let store = Fresh.open(Arc::new(ManualClock::new(fixture::now()))).await;
            // The store rejects a change of an unknown area.
            let _ = store.set_flood_state(order).await;
        });
    });
    let lines = lines.0.lock().unwrap();
    String::from_utf8(lines.clone()).unwrap()
}

#[test]
fn a_change_is_logged_in_one_line_with_its_author() {
    let lines = lines_of_a_change(fixture::id(5));
    assert_eq!(lines.lines().count(), 1, "{lines}");
    for part in
        ["INFO", "agency::audit", "area=5", "state=3", r#"subject="bpbd""#, r#"username="two\nlines""#]
    {
        assert!(lines.contains(part), "{part}: {lines}");
    }
}

#[test]
fn a_rejected_change_is_not_logged() {
    assert_eq!(lines_of_a_change(fixture::id(99)), "");
}

#[test]
fn any_store_can_be_wrapped_by_the_audit_and_its_name_shows_it() {
    let names =
        [OpenAudited::new(OpenMemory).name().to_owned(), OpenAudited::new(OpenPostgres).name().to_owned()];
    assert_eq!(names, ["audited-memory", "audited-postgres"]);
    assert!(OpenAudited::new(OpenPostgres).keeps_data() && OpenAudited::new(OpenPostgres).upkeep().is_some());
    assert!(!OpenAudited::new(OpenMemory).keeps_data() && OpenAudited::new(OpenMemory).upkeep().is_none());
    let store = block_on(Fresh.open(Arc::new(ManualClock::new(fixture::now()))));
    assert_eq!(store.to_string(), "memory, audited");
}
