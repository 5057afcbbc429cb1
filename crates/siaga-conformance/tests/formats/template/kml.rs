use siaga_conformance::fixture;
use siaga_conformance::format_suite;

use super::{example, text};

format_suite!(example("kml"));

#[test]
fn every_area_is_a_polygon_in_the_style_of_its_state() {
    let kml = text(&example("kml"), &fixture::layer(&[(5, 3), (10, 4)]));
    assert_eq!(kml.matches("<Placemark>").count(), 5);
    assert_eq!(kml.matches("<styleUrl>#None</styleUrl>").count(), 3);
    assert!(kml.contains("<TimeStamp><when>2016-12-19T15:08:52.000Z</when>"), "{kml}");
    assert!(kml.contains("<styleUrl>#Moderate</styleUrl>") && kml.contains("<Style id=\"Severe\">"), "{kml}");
    assert_eq!(kml.matches("<innerBoundaryIs>").count(), 1);
    // Area 10 has no name and two parts.
    let of_10 = kml.split("<Placemark>").find(|placemark| placemark.contains("<name>PULAU</name>")).unwrap();
    assert_eq!(of_10.matches("<Polygon>").count(), 2);
}

#[test]
fn reports_and_gauges_are_points_with_all_their_properties() {
    for (layer, expected) in [(1, "<name>flood</name>"), (2, "<name>Bendung Katulampa</name>")] {
        let layer = &fixture::layers()[layer];
        let kml = text(&example("kml"), layer);
        assert_eq!(kml.matches("<Point><coordinates>10").count(), layer.len());
        assert!(kml.contains(expected), "{kml}");
        let properties = serde_json::to_value(layer.features().next().unwrap().properties).unwrap();
        for name in properties.as_object().unwrap().keys() {
            assert_eq!(kml.matches(&format!("<Data name=\"{name}\">")).count(), layer.len(), "{name}");
        }
    }
}
