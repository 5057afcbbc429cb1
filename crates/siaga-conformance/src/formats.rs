//! The suite that every [`Format`] must pass.
//!
//! Each function checks one behaviour, and panics if the format behaves otherwise. It skips kinds of layers that the format does
//! not support.

use std::error::Error;
use std::iter;
use std::time::Duration;

use chrono_tz::Tz;

use super::fixture;
use siaga::formats::{Container, EncodeContext, Format, well_formed};
use siaga::model::Layer;

/// The context of the suite: the time of the fixture, the time zone of Jakarta, and the default base address.
#[must_use]
pub fn context() -> EncodeContext {
    EncodeContext::new(fixture::now(), Tz::Asia__Jakarta, "http://127.0.0.1:8000/v1")
}

#[must_use]
pub fn encoded(format: &dyn Format, layer: &Layer) -> Vec<u8> {
    encode(format, layer, &context())
}

/// Returns the supported layers of the fixture, and flood maps without areas, without floods, and with some floods.
fn layers(format: &dyn Format) -> Vec<Layer> {
    let mut layers = fixture::layers();
    layers.extend([fixture::empty_layer(), fixture::layer(&[]), fixture::layer(&[(5, 3), (10, 4)])]);
    layers.into_iter().filter(|layer| format.supports(layer.kind())).collect()
}

pub fn name_container_and_media_type_are_valid_in_requests_and_headers(format: &dyn Format) {
    let plain =
        |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    assert!(plain(format.name()), "the name {:?} is not of small letters and digits", format.name());
    let container = format.container().0;
    assert!(plain(container), "the container {container:?} is not of small letters and digits");
    for media_type in format.also_accepted().iter().copied().chain([format.media_type()]) {
        assert!(media_type.parse::<rocket::http::MediaType>().is_ok(), "{media_type:?} is no media type");
    }
}

pub fn equal_layers_have_equal_encodings(format: &dyn Format) {
    for layer in layers(format) {
        let (first, second) = (encoded(format, &layer), encoded(format, &layer));
        assert!(
            first == second,
            "{} has two different encodings:\n{}",
            describe(&layer),
            difference(&first, &second)
        );
    }
}

pub fn encodings_are_stable_within_a_time_step(format: &dyn Format) {
    let step = format.time_step();
    let until = step.map_or(Duration::from_hours(24), |step| step.saturating_sub(Duration::from_millis(1)));
    let begun = step.map_or(fixture::now(), |step| fixture::now().floor(step));
    for layer in layers(format) {
        let [first, last] = [begun, begun.saturating_add(until)].map(|now| {
            let mut context = context();
            context.now = now;
            encode(format, &layer, &context)
        });
        let time_step =
            step.map_or("has no time step".to_owned(), |step| format!("has a time step of {step:?}"));
        assert!(
            first == last,
            "the format {time_step}, but {} is written differently {until:?} later:\n{}",
            describe(&layer),
            difference(&first, &last)
        );
    }
}

pub fn existing_output_is_preserved(format: &dyn Format) {
    for layer in layers(format) {
        let mut out = b"before".to_vec();
        append(format, &layer, &context(), &mut out);
        let after = out.strip_prefix(b"before");
        let after = after.unwrap_or_else(|| panic!("{} replaced what stood before it", describe(&layer)));
        let alone = encoded(format, &layer);
        assert!(
            after == alone,
            "{} is written differently after other bytes:\n{}",
            describe(&layer),
            difference(&alone, after)
        );
    }
}

pub fn different_layers_have_different_encodings(format: &dyn Format) {
    let states = [(1, 1), (1, 2), (2, 2)];
    let layers = states.map(|state| (state, fixture::layer(&[state])));
    let carried = layers.iter().filter(|(_, layer)| format.supports(layer.kind()));
    let all: Vec<_> = carried.map(|(state, layer)| (state, encoded(format, layer))).collect();
    for (index, ((area, state), bytes)) in all.iter().enumerate() {
        for ((other_area, other_state), other) in &all[..index] {
            assert!(
                bytes != other,
                "a map with area {other_area} alone flooded, at state {other_state}, and one with area {area} alone, at \
                 state {state}, are written the same: something is left out"
            );
        }
    }
}

pub fn json_and_xml_documents_are_well_formed(format: &dyn Format) {
    for layer in layers(format) {
        let document = encoded(format, &layer);
        let broken = match format.container() {
            Container::JSON => {
                serde_json::from_slice::<serde_json::Value>(&document).err().map(|error| error.to_string())
            }
            Container::XML => well_formed::xml(&document).err(),
            _ => None,
        };
        if let Some(broken) = broken {
            let container = format.container().0;
            panic!("{} is not well-formed {container}: {broken}:\n{}", describe(&layer), excerpt(&document));
        }
    }
}

/// Encodes the layer. Fails the test if the format cannot.
fn append(format: &dyn Format, layer: &Layer, context: &EncodeContext, out: &mut Vec<u8>) {
    if let Err(error) = format.encode(layer, context, out) {
        let chain = iter::successors(Some(&error as &dyn Error), |&error| error.source());
        let causes = chain.map(ToString::to_string).collect::<Vec<_>>().join(": ");
        panic!("the format carries {:?}, but {} cannot be written: {causes}", layer.kind(), describe(layer));
    }
}

fn encode(format: &dyn Format, layer: &Layer, context: &EncodeContext) -> Vec<u8> {
    let mut out = Vec::new();
    append(format, layer, context, &mut out);
    out
}

fn describe(layer: &Layer) -> String {
    match layer.features().count() {
        0 => format!("an empty layer of {:?}", layer.kind()),
        count => format!("the fixture's layer of {count} {:?}", layer.kind()),
    }
}

fn excerpt(document: &[u8]) -> String {
    const MOST: usize = 400;
    let text = String::from_utf8_lossy(&document[..document.len().min(MOST)]);
    if document.len() > MOST { format!("{text}…") } else { text.into_owned() }
}

/// Returns excerpts of two documents around the first difference.
fn difference(left: &[u8], right: &[u8]) -> String {
    let same = left.iter().zip(right).take_while(|(a, b)| a == b).count();
    let from = same.saturating_sub(40);
    format!("at byte {same}: {}\nand: {}", excerpt(&left[from..]), excerpt(&right[from..]))
}

/// Defines a test for each behaviour of the suite, for the format that an expression returns.
///
/// Exclude behaviours that the format does not have: `format_suite!(Summary, except different_layers_have_different_encodings)`.
/// Or list the behaviours that it has: `format_suite!(Summary => equal_layers_have_equal_encodings)`.
#[macro_export]
macro_rules! format_suite {
    ($format:expr) => {
        $crate::format_suite!($format, except);
    };
    ($format:expr, except $($excepted:ident),* $(,)?) => {
        // An unknown name does not compile.
        const _: () = { $(let _: fn(&dyn ::siaga::formats::Format) = $crate::formats::$excepted;)* };

        macro_rules! unless_excepted {
            $(($excepted $test:item) => {};)*
            ($behaviour:ident $test:item) => { $test };
        }

        $crate::format_suite! { @ unless_excepted $format =>
            name_container_and_media_type_are_valid_in_requests_and_headers,
            equal_layers_have_equal_encodings,
            encodings_are_stable_within_a_time_step,
            existing_output_is_preserved,
            different_layers_have_different_encodings,
            json_and_xml_documents_are_well_formed,
        }
    };
    ($format:expr => $($behaviour:ident),+ $(,)?) => {
        $(
            #[test]
            fn $behaviour() {
                $crate::formats::$behaviour(&$format);
            }
        )+
    };
    (@ $unless_excepted:ident $format:expr => $($behaviour:ident,)+) => {
        $(
            $unless_excepted! {
                $behaviour
                #[test]
                fn $behaviour() {
                    $crate::formats::$behaviour(&$format);
                }
            }
        )+
    };
}
