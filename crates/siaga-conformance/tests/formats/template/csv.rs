use siaga::model::Layer;
use siaga_conformance::fixture;
use siaga_conformance::format_suite;

use super::{example, text};

format_suite!(example("csv"));

fn rows(layer: &Layer) -> Vec<Vec<String>> {
    let text = text(&example("csv"), layer);
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect()
}

#[test]
fn a_row_reads_back_as_the_feature() {
    let rows = rows(&fixture::layer(&[(2, 3)]));
    assert_eq!(rows.len(), 6);
    let wkt = "POLYGON ((106.81 -6.2,106.82 -6.2,106.82 -6.19,106.81 -6.19,106.81 -6.2))";
    assert_eq!(rows[2][2..4], ["RW 02 & <Söhne>, \"X\"", "KÖLN, ÉTÉ"]);
    assert_eq!(rows[2][5..], ["3", "2016-12-19T15:08:52.000Z", wkt]);
    assert_eq!(rows[1][5..7], ["", ""]);
}

#[test]
fn there_is_a_row_for_each_feature_and_of_a_gauge_for_each_reading() {
    let counts = [5, 8, 5, 4, 2, 17, 11];
    assert_eq!(counts.len(), fixture::layers().len());
    for (layer, count) in fixture::layers().iter().zip(counts) {
        assert_eq!(rows(layer).len(), 1 + count, "{:?}", layer.kind());
    }
    let gauges = rows(&fixture::layers()[2]);
    assert_eq!(gauges[4][..5], ["TMA00002", "Waduk", "2016-12-19T15:58:52+00:00", "-165", "4"]);
    assert_eq!(rows(&fixture::empty_layer()).len(), 1);
}
