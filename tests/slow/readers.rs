//! What programs of others make of the answers.

use std::fs;

use crate::demo::Demo;
use crate::tools::{printed, program, python};

/// A service that offers the formats of `examples/templates` as well.
fn templates() -> Demo {
    Demo::configured_by(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/templates/Siaga.toml"))
}

/// How many features GDAL finds in what an address or file holds.
fn counted_by_gdal(source: &str) -> usize {
    let mut ogrinfo = program("ogrinfo");
    let summary = printed(source, ogrinfo.args(["-ro", "-so", "-al", source]));
    let counts = summary.lines().filter_map(|line| line.strip_prefix("Feature Count: "));
    counts.map(|count| count.parse::<usize>().unwrap()).sum()
}

/// Formats that GDAL opens by the address of an answer, and what they carry besides floods.
const OPENED_BY_ADDRESS: [(&str, &[&str]); 3] = [
    ("geojson", &["reports", "floodgauges", "infrastructure/pumps", "admin"]),
    ("kml", &["reports", "floodgauges"]),
    ("georss", &["reports", "floodgauges"]),
];

#[test]
fn gdal_opens_an_answer_by_its_address() {
    let demo = templates();
    for (format, others) in OPENED_BY_ADDRESS {
        let floods = demo.address(&format!("floods?minimum_state=1&geoformat={format}"));
        assert_eq!(counted_by_gdal(&floods), demo.flooded(), "{format}");
        let bare = demo.address(&format!("floods.{format}?minimum_state=1"));
        assert_eq!(counted_by_gdal(&bare), demo.flooded(), "{bare}");
        for other in others {
            let found = counted_by_gdal(&demo.address(&format!("{other}?geoformat={format}")));
            let features = demo.get(&format!("{other}?geoformat=geojson"));
            let expected = features["result"]["features"].as_array().unwrap().len();
            assert_eq!(found, expected, "{other} as {format}");
        }
    }
    demo.end();
}

#[test]
fn gdal_opens_csv_and_the_result_of_topojson_from_a_file() {
    let demo = templates();
    let topojson = demo.get("floods?minimum_state=1&geoformat=topojson")["result"].to_string();
    for (ending, text) in
        [(".topojson", topojson), (".csv", demo.text("floods?minimum_state=1&geoformat=csv"))]
    {
        let file = tempfile::NamedTempFile::with_suffix(ending).unwrap();
        fs::write(file.path(), text).unwrap();
        assert_eq!(counted_by_gdal(file.path().to_str().unwrap()), demo.flooded(), "{ending}");
    }
    demo.end();
}

/// Runs Python on the address of an answer.
fn python_on(demo: &Demo, target: &str, lines: &str) {
    printed(lines, python().args(["-c", lines, &demo.address(target), &demo.flooded().to_string()]));
}

/// Holds a feed of the flooded areas against what any is, and against further lines.
fn feedparser_on(demo: &Demo, target: &str, lines: &str) {
    let any = "
import sys, feedparser
feed = feedparser.parse(sys.argv[1])
assert not feed.bozo, feed.bozo_exception
assert len(feed.entries) == int(sys.argv[2])
assert len({entry.id for entry in feed.entries}) == len(feed.entries)
";
    python_on(demo, target, &format!("{any}{lines}"));
}

#[test]
fn geos_finds_the_outlines_of_larger_areas_and_cities_valid() {
    let demo = Demo::start();
    let lines = "
import json, sys, urllib.request
from shapely.geometry import shape
from shapely.validation import explain_validity

def load(form):
    with urllib.request.urlopen(sys.argv[1] + '&geoformat=' + form) as response:
        return json.load(response)['result']

def surface(geometry, rings):
    parts = [rings] if geometry['type'] == 'Polygon' else rings
    return shape({'type': 'MultiPolygon', 'coordinates': parts})

topology = load('topojson')
scale, translate = topology['transform']['scale'], topology['transform']['translate']

def positions(arc):
    x = y = 0
    for step in topology['arcs'][arc if arc >= 0 else ~arc]:
        x, y = x + step[0], y + step[1]
        yield x * scale[0] + translate[0], y * scale[1] + translate[1]

def decoded(arcs):
    if isinstance(arcs[0], list):
        return [decoded(part) for part in arcs]
    ring = []
    for arc in arcs:
        along = list(positions(arc))
        ring += (along if arc >= 0 else along[::-1])[1 if ring else 0:]
    return ring

exact = [surface(of['geometry'], of['geometry']['coordinates']) for of in load('geojson')['features']]
rounded = [surface(of, decoded(of['arcs'])) for of in topology['objects']['output']['geometries']]
assert len(exact) == len(rounded) > 0
for one, other in zip(exact, rounded):
    assert one.is_valid, explain_validity(one)
    assert other.is_valid, explain_validity(other)
    assert one.symmetric_difference(other).area < 1e-12
";
    for level in ["parent", "city"] {
        python_on(&demo, &format!("areas?level={level}"), lines);
    }
    demo.end();
}

#[test]
fn feedparser_finds_nothing_wrong_with_the_feed_of_alerts() {
    let demo = Demo::start();
    let lines = "
assert feed.version == 'atom10' and feed.feed.id and feed.feed.updated_parsed, feed.feed
assert all(entry.title and entry.updated_parsed <= feed.feed.updated_parsed for entry in feed.entries)
";
    feedparser_on(&demo, "floods?minimum_state=1&geoformat=cap", lines);
    demo.end();
}

#[test]
fn feedparser_finds_nothing_wrong_with_the_feeds_for_hubs() {
    let demo = Demo::start();
    let lines = "
import sys, feedparser
feed = feedparser.parse(sys.argv[1])
assert not feed.bozo, feed.bozo_exception
assert feed.version in ('atom10', 'rss20') and feed.feed.title and feed.feed.updated_parsed, feed.feed
assert len({entry.id for entry in feed.entries}) == len(feed.entries)
assert all(entry.title and entry.link == entry.id + '.xml' and entry.cap_identifier for entry in feed.entries)
assert bool(feed.entries) != ('empty' in sys.argv[1]), len(feed.entries)
";
    for target in [
        "alerts",
        "alerts.rss",
        "alerts/history?area=1&empty=",
        "alerts/history.rss?area=1&empty=",
        "alerts/exercise",
    ] {
        python_on(&demo, target, lines);
    }
    demo.end();
}

#[test]
fn feedparser_finds_nothing_wrong_with_georss() {
    let demo = templates();
    let lines = "
assert feed.version == 'rss20' and feed.feed.title and feed.feed.link, feed.feed
assert all(entry.title and entry.published_parsed and entry.where['type'] == 'Polygon' for entry in feed.entries)
";
    feedparser_on(&demo, "floods?minimum_state=1&geoformat=georss", lines);
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
