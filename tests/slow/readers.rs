//! Responses read by third-party programs.

use std::fs;

use crate::demo::Demo;
use crate::tools::{printed, program, python};

/// A service that offers the formats of `examples/templates` as well.
fn templates() -> Demo {
    Demo::configured_by(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/templates/Siaga.toml"))
}

/// The number of features that GDAL reads from an address or file.
fn counted_by_gdal(source: &str) -> usize {
    let mut ogrinfo = program("ogrinfo");
    let summary = printed(source, ogrinfo.args(["-ro", "-so", "-al", source]));
    let counts = summary.lines().filter_map(|line| line.strip_prefix("Feature Count: "));
    counts.map(|count| count.parse::<usize>().unwrap()).sum()
}

#[test]
fn gdal_opens_a_response_by_url_and_csv_and_topojson_from_a_file() {
    let demo = templates();
    for (format, others) in [
        ("geojson", &["reports", "floodgauges", "infrastructure/pumps", "admin"][..]),
        ("kml", &["reports", "floodgauges"]),
        ("georss", &["reports", "floodgauges"]),
    ] {
        for address in
            [format!("floods?minimum_state=1&geoformat={format}"), format!("floods.{format}?minimum_state=1")]
        {
            assert_eq!(counted_by_gdal(&demo.address(&address)), demo.flooded(), "{address}");
        }
        for other in others {
            let found = counted_by_gdal(&demo.address(&format!("{other}?geoformat={format}")));
            let features = demo.get(&format!("{other}?geoformat=geojson"));
            let expected = features["result"]["features"].as_array().unwrap().len();
            assert_eq!(found, expected, "{other} as {format}");
        }
    }
    let topojson = demo.get("floods?minimum_state=1&geoformat=topojson")["result"].to_string();
    let csv = demo.text("floods?minimum_state=1&geoformat=csv");
    for (ending, text) in [(".topojson", topojson), (".csv", csv)] {
        let file = tempfile::NamedTempFile::with_suffix(ending).unwrap();
        fs::write(file.path(), text).unwrap();
        assert_eq!(counted_by_gdal(file.path().to_str().unwrap()), demo.flooded(), "{ending}");
    }
    demo.end();
}

/// Runs Python on the address of a response.
fn python_on(demo: &Demo, target: &str, lines: &str) {
    printed(lines, python().args(["-c", lines, &demo.address(target), &demo.flooded().to_string()]));
}

#[test]
fn feedparser_finds_no_fault_in_the_alert_feeds_and_georss() {
    let any = "
import sys, feedparser
feed = feedparser.parse(sys.argv[1])
entries = feed.entries
assert not feed.bozo, feed.bozo_exception
assert feed.version in ('atom10', 'rss20') and feed.feed.title, feed.feed
assert len({entry.id for entry in entries}) == len(entries)
assert all(entry.title for entry in entries)
";
    let alerts = "
assert len(entries) == int(sys.argv[2]) and feed.version == 'atom10' and feed.feed.id
assert all(entry.updated_parsed <= feed.feed.updated_parsed for entry in entries)
";
    let hubs = "
assert feed.feed.updated_parsed
assert all(entry.link == entry.id + '.xml' and entry.cap_identifier for entry in entries)
assert bool(entries) != ('empty' in sys.argv[1]), len(entries)
";
    let georss = "
assert len(entries) == int(sys.argv[2]) and feed.version == 'rss20' and feed.feed.link
assert all(entry.published_parsed and entry.where['type'] == 'Polygon' for entry in entries)
";
    let of_all: &[(&str, &str)] = &[
        ("floods?minimum_state=1&geoformat=cap", alerts),
        ("alerts", hubs),
        ("alerts.rss", hubs),
        ("alerts/history?area=1&empty=", hubs),
        ("alerts/history.rss?area=1&empty=", hubs),
        ("alerts/exercise", hubs),
    ];
    let of_templates = &[("floods?minimum_state=1&geoformat=georss", georss)];
    for (demo, cases) in [(Demo::start(), of_all), (templates(), of_templates)] {
        for (target, own) in cases {
            python_on(&demo, target, &format!("# {target}{any}{own}"));
        }
        demo.end();
    }
}

#[test]
fn geopandas_reads_every_flooded_area_in_its_place_and_the_outlines_of_larger_ones() {
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
for level in ('parent', 'city'):
    outlines = geopandas.read_file(f\"{sys.argv[1].split('floods')[0]}areas?geoformat=geojson&level={level}\")
    assert len(outlines) and outlines.is_valid.all(), level
";
    python_on(&demo, "floods?minimum_state=1&geoformat=geojson", lines);
    demo.end();
}
