use geojson::{FeatureCollection, GeometryValue};
use siaga::formats::Format;
use siaga::formats::geojson::GeoJson;
use siaga_conformance::fixture;
use siaga_conformance::format_suite;
use siaga_conformance::formats::encoded;

format_suite!(GeoJson::default());

mod bare {
    use super::*;

    format_suite!(*GeoJson::default().bare().unwrap());
}

fn decoded(states: &[(u64, u64)]) -> FeatureCollection {
    String::from_utf8(encoded(&GeoJson::default(), &fixture::layer(states))).unwrap().parse().unwrap()
}

#[test]
fn coordinates_read_back_as_the_very_same_numbers() {
    let areas = fixture::areas();
    let collection = decoded(&[]);
    assert_eq!(collection.features.len(), areas.len());
    for (feature, area) in collection.features.iter().zip(&areas) {
        let expected = match area.outline.0.as_slice() {
            [polygon] => GeometryValue::from(polygon),
            _ => GeometryValue::from(&area.outline),
        };
        assert_eq!(feature.geometry.as_ref().unwrap().value, expected, "{}", area.id);
    }
}

#[test]
fn properties_are_those_of_the_interface_and_null_without_a_state() {
    let collection = decoded(&[(5, 4)]);
    let properties = |at: usize| serde_json::to_value(collection.features[at].properties.as_ref()).unwrap();
    assert_eq!(
        properties(2),
        serde_json::json!({
            "area_id": "5", "geom_id": "3174040004009005", "area_name": "RW 09", "parent_name": "GROGOL",
            "city_name": "JAKARTA BARAT", "state": 4, "last_updated": "2016-12-19T15:08:52.000Z",
            "flooded_since": "2016-12-19T15:08:52.000Z", "confirmed": "2016-12-19T15:08:52.000Z",
        })
    );
    assert_eq!(properties(1)["area_name"], "RW 02 & <Söhne>, \"X\"");
    assert_eq!((&properties(0)["state"], &properties(0)["last_updated"]), (&().into(), &().into()));
}

#[test]
fn an_empty_layer_is_an_empty_collection() {
    let empty = encoded(&GeoJson::default(), &fixture::empty_layer());
    assert_eq!(empty, br#"{"type":"FeatureCollection","features":[]}"#);
}
