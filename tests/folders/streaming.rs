//! Files are streamed: rows are returned as they are read.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use siaga::folder::{Dataset, DatasetError, FolderFile, FolderRow, FolderRules};
use siaga::model::Locator;

use super::support::{accept_all, area, collection, counting_reads, folder_of, load, written};
use crate::fixture;

/// Maximum read-ahead in bytes.
const AHEAD: u64 = 256 * 1024;

/// The error of a sink.
#[derive(Debug)]
enum Refused {
    Dataset(DatasetError),
    Line(u64),
}

impl From<DatasetError> for Refused {
    fn from(error: DatasetError) -> Self {
        Self::Dataset(error)
    }
}

/// A sink that fails after line 101.
fn first_hundred_lines<T>(row: FolderRow<T>) -> Result<(), Refused> {
    if row.line < 102 { Ok(()) } else { Err(Refused::Line(row.line)) }
}

#[test]
fn an_error_of_the_sink_is_returned_unchanged_before_the_next_row_is_read() {
    let posts: String = (1..=100_000).map(|number| format!("{number},{number}\n")).collect();
    let areas: Vec<_> = (1..=10_000).map(|number| area(&number.to_string())).collect();
    let files = [
        (FolderFile::PartnerPosts, format!("post_id,pkey\n{posts}")),
        (FolderFile::Areas, collection(&areas)),
    ];
    let folder = folder_of(&files);
    let (opened, read) = counting_reads(&folder);
    for stopped in [opened.partner_posts(first_hundred_lines), opened.areas(first_hundred_lines)] {
        assert!(matches!(stopped, Err(Refused::Line(102))), "{stopped:?}");
    }
    let read = read.load(Ordering::SeqCst);
    assert!(read < 2 * AHEAD, "{read} of {} bytes", opened.size());
    let stopped = opened.areas(|row: FolderRow<_>| {
        Err::<(), _>(Refused::from(opened.fault(FolderFile::Areas, row.line, "is not wanted")))
    });
    let Err(Refused::Dataset(error)) = stopped else { panic!("{stopped:?}") };
    assert!(error.to_string().ends_with("areas.geojson, line 2: is not wanted"), "{error}");
}

#[test]
fn an_unclosed_quotation_mark_does_not_read_the_whole_file() {
    let rest = format!("3,{}\n", "x".repeat(1 << 20)).repeat(40);
    let folder = folder_of(&[(FolderFile::PartnerPosts, format!("post_id,pkey\n1,1\n\n2,\"2\n{rest}"))]);
    let (opened, read) = counting_reads(&folder);
    let error = opened.partner_posts(accept_all()).unwrap_err().to_string();
    assert!(error.contains("partner_posts.csv, line 4: is longer than 16 MiB"), "{error}");
    assert!(read.load(Ordering::SeqCst) < (16 << 20) + AHEAD);
}

#[test]
fn progress_adds_up_to_the_size() {
    let folder = written(&Dataset::load("demo", &FolderRules::default(), fixture::now()).unwrap());
    let (opened, read) = counting_reads(&folder);
    let locator = Locator::new(Arc::default(), Vec::new(), Vec::new());
    let places = load(folder.path()).unwrap().places;
    opened.areas(accept_all()).unwrap();
    opened.regions(accept_all()).unwrap();
    opened.cities(accept_all()).unwrap();
    opened.infrastructure(&locator, accept_all()).unwrap();
    opened.gauges(&locator, accept_all()).unwrap();
    opened.gauge_readings(&|_| true, accept_all()).unwrap();
    opened.flood_states(places.areas(), fixture::now(), accept_all()).unwrap();
    opened.reports(&locator, accept_all()).unwrap();
    opened.cards(accept_all()).unwrap();
    opened.partner_posts(accept_all()).unwrap();
    opened.hidden_reports(&locator, accept_all()).unwrap();
    opened.erased_reports(accept_all()).unwrap();
    opened.moderation_log(accept_all()).unwrap();
    assert_eq!(read.load(Ordering::SeqCst), opened.size());
}
