use siaga_conformance::fixture;

use super::{failure, made, template};

const PLAIN: &str = "text/plain";

/// The output of a template for the feature at a position of a layer of the fixture.
fn render_feature(layer: usize, feature: usize, source: &str) -> String {
    let source = format!("{{% set of = features[{feature}] %}}{source}");
    made(&source, PLAIN, &fixture::layers()[layer])
}

#[test]
fn geometries_are_written_as_maps_want_them() {
    // A report, a waterway, an area with a hole, and an area in two pieces.
    assert_eq!(
        render_feature(1, 0, "{{ of.geometry|kml }} {{ of.geometry|gml }}"),
        "106.80499999999999,-6.195 -6.195 106.80499999999999"
    );
    assert_eq!(render_feature(1, 0, "{{ of.geometry|wkt }}"), "POINT (106.80499999999999 -6.195)");
    let line = "106.8,-6.195 106.82,-6.1930000000000005";
    assert_eq!(render_feature(3, 0, "{{ of.geometry|kml }}"), line);
    assert_eq!(render_feature(3, 0, "{{ of.wkt }}"), "LINESTRING (106.8 -6.195,106.82 -6.1930000000000005)");
    let [outer, hole] = [
        "106.8 -6.19,106.83 -6.19,106.83 -6.16,106.8 -6.16,106.8 -6.19",
        "106.81 -6.180000000000001,106.82 -6.180000000000001,106.82 -6.17,106.81 -6.17,106.81 -6.180000000000001",
    ];
    assert_eq!(render_feature(0, 2, "{{ of.wkt }}"), format!("POLYGON (({outer}),({hole}))"));
    let rings = "{% for polygon in of.geometry|polygons %}{{ polygon.outer|wkt }}\
                 {% for ring in polygon.inner %} {{ ring|wkt }}{% endfor %}.{% endfor %}";
    assert_eq!(render_feature(0, 2, rings), format!("LINESTRING ({outer}) LINESTRING ({hole})."));
    assert!(render_feature(0, 3, "{{ of.wkt }}").starts_with("MULTIPOLYGON (((106.81 -6.180000000000001,"));
    assert_eq!(render_feature(0, 3, rings).matches(").").count(), 2);
    assert_eq!(render_feature(1, 0, "{{ of.geometry|polygons|length }}"), "0");
    let first = "{{ ring|length }} {{ ring[0].lng }} {{ ring[0].lat }}";
    let ring = format!("{{% set ring = (of.geometry|polygons|first).outer %}}{first}");
    assert_eq!(render_feature(0, 2, &ring), "5 106.8 -6.19");
}

#[test]
fn a_place_lies_within_its_surface_and_on_its_line() {
    // Area 5 is a ring around the square in its middle.
    let lng: f64 = render_feature(0, 2, "{{ (of.geometry|place).lng }}").parse().unwrap();
    assert!((106.8..106.81).contains(&lng) || (106.82..106.83).contains(&lng), "{lng}");
    assert_eq!(render_feature(3, 0, "{{ of.geometry|place|kml }}"), "106.8,-6.195");
    assert_eq!(render_feature(1, 0, "{{ of.geometry|place|kml }}"), "106.80499999999999,-6.195");
}

#[test]
fn dates_are_written_in_a_zone() {
    for (source, expected) in [
        ("{{ now }}", "2016-12-19T16:08:52.000Z"),
        ("{{ now|date('%H:%M %Z', 'UTC') }}", "16:08 UTC"),
        ("{{ now|rfc3339 }}", "2016-12-19T23:08:52+07:00"),
        ("{{ now|rfc822 }}", "Mon, 19 Dec 2016 23:08:52 +0700"),
        ("{{ now|rfc822('UTC') }}", "Mon, 19 Dec 2016 16:08:52 +0000"),
        ("{% set time_zone = 'Asia/Makassar' %}{{ now|date('%H:%M %Z') }}", "00:08 WITA"),
        ("{{ of.properties.last_updated|date('%s') }}", "1482160132"),
    ] {
        assert_eq!(render_feature(0, 2, source), expected, "{source}");
    }
    let f1 = "{{ of.properties.observations[0].f1|rfc3339 }}";
    assert_eq!(render_feature(2, 0, f1), "2016-12-19T21:38:52+07:00");
}

#[test]
fn a_severity_has_a_name() {
    let source = "{% for of in features %}{{ of.properties.state|severity }} {% endfor %}";
    assert_eq!(made(source, PLAIN, &fixture::layers()[0]), "Unknown Minor Moderate Severe Unknown ");
}

#[test]
fn what_a_filter_cannot_take_is_an_error_that_says_what_it_can() {
    for (source, says) in [
        ("{{ features[0].geometry|kml }}", "a surface has rings"),
        ("{{ 1|polygons }}", "must be given a geometry"),
        ("{{ now|date('%Q') }}", "is no format of a time"),
        ("{{ now|date('%d', 'Mars') }}", "\"Mars\" is no time zone"),
        ("{{ 'noon'|rfc822 }}", "\"noon\" must be a time"),
        ("{{ 5|severity }}", "must be one of [1, 2, 3, 4]"),
    ] {
        let failure = failure(&template(source, PLAIN), &fixture::layers()[0]);
        assert!(failure.contains(says) && failure.contains("line 1: "), "{source}: {failure}");
    }
}
