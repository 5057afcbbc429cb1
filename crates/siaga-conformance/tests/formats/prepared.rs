//! State that formats prepare for a set of areas must not affect their output.

use std::sync::Arc;

use chrono::DateTime;
use proptest::prelude::*;
use siaga::formats::Format;
use siaga::formats::cap::Cap;
use siaga::formats::geojson::GeoJson;
use siaga::formats::topojson::TopoJson;
use siaga::model::{AreaSet, FloodLayer, FloodState, FloodStatus, Layer, StateChange};
use siaga_conformance::fixture;
use siaga_conformance::format_suite;
use siaga_conformance::formats::encoded;

format_suite!(GeoJson::default());

mod bare {
    use super::*;

    format_suite!(*GeoJson::default().without_envelope().unwrap());
}

/// Creates a format without prepared state.
type New = fn() -> Box<dyn Format>;

/// The floods of the selected areas, with these states.
fn layer(areas: &Arc<AreaSet>, chosen: &[(bool, Option<(FloodState, i64)>)]) -> Layer {
    let status = |(state, seconds): (FloodState, i64)| {
        let at = DateTime::from_timestamp(seconds, 0).unwrap().into();
        FloodStatus::after_first(StateChange { state: Some(state), at })
    };
    let chosen = chosen.iter().enumerate().filter(|(_, (is_chosen, _))| *is_chosen);
    let selected = chosen
        .map(|(position, (_, state))| (position, state.map_or(FloodStatus::NEVER_FLOODED, status)))
        .collect();
    Layer::Floods(FloodLayer::new(Arc::clone(areas), selected))
}

fn choices() -> impl Strategy<Value = Vec<(bool, Option<(FloodState, i64)>)>> {
    let state = (prop::sample::select(FloodState::ALL.to_vec()), 0..4_000_000_000i64);
    prop::collection::vec((prop::bool::weighted(0.8), prop::option::of(state)), fixture::areas().len())
}

proptest! {
    #[test]
    fn the_bytes_are_the_same_whatever_was_written_before(choices in prop::collection::vec(choices(), 1..6)) {
        let areas = Arc::new(fixture::areas());
        let formats: [(Box<dyn Format>, New); 3] = [
            (Box::new(TopoJson::default()), || Box::new(TopoJson::default())),
            (Box::new(GeoJson::default()), || Box::new(GeoJson::default())),
            (Box::new(Cap::default()), || Box::new(Cap::default())),
        ];
        for chosen in &choices {
            let layer = layer(&areas, chosen);
            for (prepared, new) in &formats {
                let (expected, found) = (encoded(&*new(), &layer), encoded(&**prepared, &layer));
                prop_assert_eq!(String::from_utf8(found), String::from_utf8(expected));
            }
        }
    }

    #[test]
    fn prepared_properties_are_those_of_the_layer(chosen in choices()) {
        let layer = layer(&Arc::new(fixture::areas()), &chosen);
        let text = String::from_utf8(encoded(&GeoJson::default(), &layer)).unwrap();
        let features: Vec<String> = layer.features().enumerate().map(|(index, feature)| {
            let id = serde_json::to_string(&layer.id(index).unwrap()).unwrap();
            let properties = serde_json::to_string(&feature.properties).unwrap();
            let geometry = match feature.geometry {
                siaga::model::Geometry::Polygon(polygon) => geojson::GeometryValue::from(polygon),
                siaga::model::Geometry::MultiPolygon(polygons) => geojson::GeometryValue::from(polygons),
                other => panic!("{other:?}"),
            };
            let geometry = serde_json::to_string(&geojson::Geometry::new(geometry)).unwrap();
            format!(r#"{{"type":"Feature","id":{id},"geometry":{geometry},"properties":{properties}}}"#)
        }).collect();
        prop_assert_eq!(text, format!(r#"{{"type":"FeatureCollection","features":[{}]}}"#, features.join(",")));
    }
}

#[test]
fn an_empty_layer_is_an_empty_collection_of_geojson() {
    let empty = encoded(&GeoJson::default(), &fixture::empty_layer());
    assert_eq!(empty, br#"{"type":"FeatureCollection","features":[]}"#);
}

#[test]
fn a_set_is_given_up_by_formats_when_nobody_else_has_it() {
    let formats: [Box<dyn Format>; 3] =
        [Box::new(TopoJson::default()), Box::new(GeoJson::default()), Box::new(Cap::default())];
    let areas = Arc::new(fixture::areas());
    let flooded = vec![(true, Some((FloodState::Severe, 0))); areas.len()];
    for format in &formats {
        drop(encoded(&**format, &layer(&areas, &flooded)));
    }
    let gone = Arc::downgrade(&areas);
    drop(areas);
    assert!(gone.upgrade().is_none());
}
