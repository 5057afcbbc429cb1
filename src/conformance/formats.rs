//! The suite every [`Format`] must pass.
//!
//! A behaviour takes the format and panics when it behaves otherwise. Layers of kinds the format does not carry are
//! left out.

use std::time::Duration;

use chrono_tz::Tz;
use quick_xml::Reader;
use quick_xml::events::Event;

use super::fixture;
use crate::formats::{Container, EncodeContext, Format};
use crate::model::Layer;

/// What the suite encodes with: the fixture's time, Jakarta's zone, the default base address.
#[must_use]
pub fn context() -> EncodeContext {
    EncodeContext::new(fixture::now(), Tz::Asia__Jakarta, "http://127.0.0.1:8000/v1")
}

/// The layer in the format.
#[must_use]
pub fn encoded(format: &dyn Format, layer: &Layer) -> Vec<u8> {
    let mut out = Vec::new();
    format.encode(layer, &context(), &mut out).unwrap();
    out
}

/// The layers of the suite that the format carries: all the fixture has, some and no areas flooded, and no area at all.
fn layers(format: &dyn Format) -> Vec<Layer> {
    let mut layers = fixture::layers();
    layers.extend([fixture::empty_layer(), fixture::layer(&[]), fixture::layer(&[(5, 3), (10, 4)])]);
    layers.into_iter().filter(|layer| format.carries(layer.kind())).collect()
}

pub fn its_name_container_and_media_type_can_stand_in_a_request_and_a_header(format: &dyn Format) {
    let plain =
        |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    assert!(plain(format.name()), "{:?}", format.name());
    assert!(plain(format.container().0), "{:?}", format.container());
    for media_type in format.also_accepted().iter().copied().chain([format.media_type()]) {
        assert!(media_type.parse::<rocket::http::MediaType>().is_ok(), "{media_type}");
    }
}

pub fn the_same_layer_gives_the_same_bytes(format: &dyn Format) {
    for layer in layers(format) {
        assert_eq!(encoded(format, &layer), encoded(format, &layer));
    }
}

pub fn time_changes_nothing_within_a_step(format: &dyn Format) {
    let step = format.time_step();
    let until = step.map_or(Duration::from_hours(24), |step| step.saturating_sub(Duration::from_millis(1)));
    let begun = step.map_or(fixture::now(), |step| fixture::now().floor(step));
    for layer in layers(format) {
        let [first, last] = [begun, begun.after(until)].map(|now| {
            let mut out = Vec::new();
            format.encode(&layer, &EncodeContext { now, ..context() }, &mut out).unwrap();
            out
        });
        assert_eq!(first, last);
    }
}

pub fn what_stands_before_the_layer_is_left_alone(format: &dyn Format) {
    for layer in layers(format) {
        let mut out = b"before".to_vec();
        format.encode(&layer, &context(), &mut out).unwrap();
        let after = out.strip_prefix(b"before").unwrap();
        assert_eq!(after, encoded(format, &layer));
    }
}

pub fn different_layers_give_different_bytes(format: &dyn Format) {
    let mut all: Vec<_> = [(1, 1), (1, 2), (2, 2)]
        .into_iter()
        .map(|state| fixture::layer(&[state]))
        .filter(|layer| format.carries(layer.kind()))
        .map(|layer| encoded(format, &layer))
        .collect();
    let count = all.len();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), count);
}

pub fn documents_of_a_known_container_are_well_formed(format: &dyn Format) {
    for layer in layers(format) {
        let document = encoded(format, &layer);
        match format.container() {
            Container::JSON => {
                serde_json::from_slice::<serde_json::Value>(&document).unwrap();
            }
            Container::XML => {
                let mut reader = Reader::from_reader(&*document);
                reader.config_mut().check_end_names = true;
                let mut depth = 0i32;
                loop {
                    match reader.read_event().unwrap() {
                        Event::Start(_) => depth += 1,
                        Event::End(_) => depth -= 1,
                        Event::Eof => break,
                        _ => {}
                    }
                }
                assert_eq!(depth, 0);
            }
            _ => assert!(!document.is_empty()),
        }
    }
}

/// Makes a test of each behaviour of the suite, for the format of an expression.
#[macro_export]
macro_rules! format_suite {
    ($format:expr) => {
        $crate::format_suite! { $format =>
            its_name_container_and_media_type_can_stand_in_a_request_and_a_header,
            the_same_layer_gives_the_same_bytes,
            time_changes_nothing_within_a_step,
            what_stands_before_the_layer_is_left_alone,
            different_layers_give_different_bytes,
            documents_of_a_known_container_are_well_formed,
        }
    };
    ($format:expr => $($behaviour:ident,)+) => {
        $(
            #[test]
            fn $behaviour() {
                $crate::conformance::formats::$behaviour(&$format);
            }
        )+
    };
}
