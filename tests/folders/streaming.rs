//! No file is held whole, and rows are handed out as they are read.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use siaga::folder::{Dataset, DatasetError, Folder, FolderFile, FolderRow, FolderRules};
use siaga::model::{Area, Card, FloodChange, Locator};

use super::support::{AHEAD, load, taken, watched, written};
use crate::fixture;

#[test]
fn a_long_log_is_read_as_its_rows_are_taken() {
    const ROWS: u64 = 200_000;
    const HEADER: &str = "area_id,state,changed_at,username\n";
    let row = |number: u64| {
        let (hours, seconds) = (number / 3600 % 24, number % 3600);
        format!("5,{},2016-12-18T{hours:02}:{:02}:{:02}Z,\n", 1 + number % 4, seconds / 60, seconds % 60)
    };
    let length = row(0).len() as u64;
    let (_kept, folder, read) = watched(FolderFile::FloodStates, |out| {
        out.write_all(HEADER.as_bytes()).unwrap();
        (0..ROWS).for_each(|number| out.write_all(row(number).as_bytes()).unwrap());
    });
    let mut count = 0;
    let sink = |taken: FolderRow<FloodChange>| {
        count += 1;
        assert_eq!(taken.line, count + 1);
        let ahead = read.load(Ordering::SeqCst) - (HEADER.len() as u64 + count * length);
        assert!(ahead < AHEAD, "{ahead} bytes ahead at line {}", taken.line);
        Ok::<_, DatasetError>(())
    };
    folder.flood_states(&fixture::areas(), fixture::now(), sink).unwrap();
    assert_eq!(count, ROWS);
    assert_eq!(read.load(Ordering::SeqCst), folder.size());
}

#[test]
fn many_reports_are_read_as_they_are_taken() {
    const ROWS: u64 = 50_000;
    let row = |number: u64| {
        format!(
            "{{\"type\":\"Feature\",\"properties\":{{\"pkey\":\"1{number:08}\",\"created_at\":\"2016-12-19T10:00:00Z\",\"source\":\"grasp\",\"disaster_type\":\"flood\",\"tags\":{{\"instance_region_code\":null,\"local_area_id\":null}}}},\"geometry\":{{\"type\":\"Point\",\"coordinates\":[106.8,-6.2]}}}},\n"
        )
    };
    let length = row(0).len() as u64;
    let (_kept, folder, read) = watched(FolderFile::Reports, |out| {
        out.write_all(b"{\"features\":[\n").unwrap();
        (0..ROWS).for_each(|number| out.write_all(row(number).as_bytes()).unwrap());
        let last = row(ROWS);
        write!(out, "{}],\"type\":\"FeatureCollection\"}}", last.trim_end().trim_end_matches(',')).unwrap();
    });
    let mut count = 0;
    let sink = |taken: FolderRow<_>| {
        count += 1;
        assert_eq!(taken.line, count + 1);
        let ahead = read.load(Ordering::SeqCst).saturating_sub(count * length);
        assert!(ahead < AHEAD, "{ahead} bytes ahead at line {}", taken.line);
        Ok::<_, DatasetError>(())
    };
    folder.reports(&Locator::new(Arc::default(), Vec::new(), Vec::new()), sink).unwrap();
    assert_eq!(count, ROWS + 1);
    assert_eq!(read.load(Ordering::SeqCst), folder.size());
}

#[test]
fn a_wrong_row_is_told_before_what_follows_it_is_read() {
    let padding = "x".repeat(1000);
    let (_kept, folder, read) = watched(FolderFile::PartnerPosts, |out| {
        out.write_all(b"post_id,pkey,note\n1,1,\n2,0,\n").unwrap();
        (0..10_000).for_each(|_| writeln!(out, "3,3,{padding}").unwrap());
    });
    let error = folder.partner_posts(taken()).unwrap_err().to_string();
    assert!(error.contains("partner_posts.csv, line 3: pkey must be a whole number"), "{error}");
    assert!(read.load(Ordering::SeqCst) < AHEAD);

    let (_kept, folder, read) = watched(FolderFile::Areas, |out| {
        out.write_all(b"{\"type\":\"FeatureCollection\",\"features\":[\n{\"type\":\"Feature\"},\n").unwrap();
        (0..10_000).for_each(|_| writeln!(out, "\"{padding}\",").unwrap());
    });
    let error = folder.areas(taken()).unwrap_err().to_string();
    assert!(error.contains("areas.geojson, line 2: "), "{error}");
    assert!(read.load(Ordering::SeqCst) < AHEAD);
}

#[test]
fn a_quotation_mark_left_open_does_not_take_in_the_whole_file() {
    let padding = "x".repeat(1 << 20);
    let (_kept, folder, read) = watched(FolderFile::PartnerPosts, |out| {
        out.write_all(b"post_id,pkey\n1,1\n\n2,\"2\n").unwrap();
        (0..40).for_each(|_| writeln!(out, "3,{padding}").unwrap());
    });
    let error = folder.partner_posts(taken()).unwrap_err().to_string();
    let reason = "partner_posts.csv, line 4: is longer than 16 MiB; is a quotation mark left open?";
    assert!(error.ends_with(reason), "{error}");
    assert!(read.load(Ordering::SeqCst) < (16 << 20) + AHEAD);
}

#[test]
fn progress_adds_up_to_the_size() {
    let folder = written(&Dataset::load("demo", &FolderRules::default(), fixture::now()).unwrap());
    let read = Arc::new(AtomicU64::new(0));
    let progress = Arc::clone(&read);
    let opened = Folder::open(folder.path()).unwrap();
    let opened = opened.watched(move |bytes| {
        progress.fetch_add(bytes, Ordering::SeqCst);
    });
    let locator = Locator::new(Arc::default(), Vec::new(), Vec::new());
    let places = load(folder.path()).unwrap().places;
    opened.areas(taken()).unwrap();
    opened.regions(taken()).unwrap();
    opened.cities(taken()).unwrap();
    opened.infrastructure(&locator, taken()).unwrap();
    opened.gauges(&locator, taken()).unwrap();
    opened.gauge_readings(&|_| true, taken()).unwrap();
    opened.flood_states(places.areas(), fixture::now(), taken()).unwrap();
    opened.reports(&locator, taken()).unwrap();
    opened.cards(taken()).unwrap();
    opened.partner_posts(taken()).unwrap();
    opened.hidden_reports(&locator, taken()).unwrap();
    opened.erased_reports(taken()).unwrap();
    opened.moderation_log(taken()).unwrap();
    assert_eq!(read.load(Ordering::SeqCst), opened.size());
}

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

#[test]
fn an_error_of_the_sink_ends_the_reading_and_comes_back_as_it_is() {
    let folder = written(&fixture::dataset());
    let folder = Folder::open(folder.path()).unwrap();
    let mut taken = 0;
    let stopped = folder.areas(|row: FolderRow<Area>| {
        taken += 1;
        if taken == 2 { Err(Refused::Line(row.line)) } else { Ok(()) }
    });
    assert!(matches!(stopped, Err(Refused::Line(3))), "{stopped:?}");
    let stopped = folder.cards(|row: FolderRow<Card>| Err(Refused::Line(row.line)));
    assert!(matches!(stopped, Err(Refused::Line(2))), "{stopped:?}");
    assert_eq!(taken, 2);
    let stopped = folder.cards(|row: FolderRow<Card>| {
        Err::<(), _>(Refused::from(folder.fault(FolderFile::Cards, row.line, "is not wanted")))
    });
    let Err(Refused::Dataset(error)) = stopped else { panic!("{stopped:?}") };
    assert!(error.to_string().ends_with("cards.csv, line 2: is not wanted"), "{error}");
}
