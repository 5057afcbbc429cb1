//! What programs of others make of the answers.

use std::fs;

use crate::demo::Demo;
use crate::tools::{printed, program, python};

/// How many features GDAL finds in what an address or file holds.
fn counted_by_gdal(source: &str) -> usize {
    let mut ogrinfo = program("ogrinfo");
    let summary = printed(source, ogrinfo.args(["-ro", "-so", "-al", source]));
    let counts = summary.lines().filter_map(|line| line.strip_prefix("Feature Count: "));
    counts.map(|count| count.parse::<usize>().unwrap()).sum()
}

/// Formats that GDAL opens by the address of an answer.
const OPENED_BY_ADDRESS: [&str; 1] = ["geojson"];

#[test]
fn gdal_opens_an_answer_by_its_address() {
    let demo = Demo::start();
    for format in OPENED_BY_ADDRESS {
        let floods = demo.address(&format!("floods?minimum_state=1&geoformat={format}"));
        assert_eq!(counted_by_gdal(&floods), demo.flooded(), "{format}");
        for points in ["reports", "floodgauges", "infrastructure/pumps"] {
            let found = counted_by_gdal(&demo.address(&format!("{points}?geoformat={format}")));
            let features = demo.get(&format!("{points}?geoformat=geojson"));
            assert_eq!(
                found,
                features["result"]["features"].as_array().unwrap().len(),
                "{points} as {format}"
            );
        }
    }
    demo.end();
}

#[test]
fn gdal_opens_the_result_of_topojson_from_a_file() {
    let demo = Demo::start();
    let file = tempfile::NamedTempFile::with_suffix(".topojson").unwrap();
    let answer = demo.get("floods?minimum_state=1&geoformat=topojson");
    fs::write(file.path(), answer["result"].to_string()).unwrap();
    assert_eq!(counted_by_gdal(file.path().to_str().unwrap()), demo.flooded());
    demo.end();
}

/// Runs Python on the address of an answer.
fn python_on(demo: &Demo, target: &str, lines: &str) {
    printed(lines, python().args(["-c", lines, &demo.address(target), &demo.flooded().to_string()]));
}

#[test]
fn feedparser_finds_nothing_wrong_with_the_feed_of_alerts() {
    let demo = Demo::start();
    let lines = "
import sys, feedparser
feed = feedparser.parse(sys.argv[1])
assert not feed.bozo, feed.bozo_exception
assert feed.version == 'atom10' and feed.feed.id and feed.feed.updated_parsed, feed.feed
assert len(feed.entries) == int(sys.argv[2])
assert len({entry.id for entry in feed.entries}) == len(feed.entries)
assert all(entry.title and entry.updated_parsed <= feed.feed.updated_parsed for entry in feed.entries)
";
    python_on(&demo, "floods?minimum_state=1&geoformat=cap", lines);
    demo.end();
}

#[test]
fn geopandas_reads_every_flooded_area_in_its_place() {
    let demo = Demo::start();
    let lines = "
import sys, geopandas, requests
result = requests.get(sys.argv[1]).json()['result']
areas = geopandas.GeoDataFrame.from_features(result, crs='EPSG:4326')
assert len(areas) == int(sys.argv[2]) and areas.crs.to_epsg() == 4326
assert areas.is_valid.all() and areas.state.between(1, 4).all()
west, south, east, north = areas.total_bounds
assert 106.6 < west < east < 107 and -6.4 < south < north < -6.0, areas.total_bounds
assert geopandas.read_file(sys.argv[1]).geom_equals(areas.geometry).all()
";
    python_on(&demo, "floods?minimum_state=1&geoformat=geojson", lines);
    demo.end();
}
