//! The suite that every [`Format`] must pass.
//!
//! Each function checks one behaviour: it takes the format and panics if the format behaves otherwise. It leaves out
//! layers of kinds that the format does not carry.

use std::error::Error;
use std::iter;
use std::time::Duration;

use chrono_tz::Tz;

use super::fixture;
use siaga::formats::{Container, EncodeContext, Format, well_formed};
use siaga::model::Layer;

/// Returns the context of the suite: the fixture's time, Jakarta's zone, the default base address.
#[must_use]
pub fn context() -> EncodeContext {
    EncodeContext::new(fixture::now(), Tz::Asia__Jakarta, "http://127.0.0.1:8000/v1")
}

/// Returns the layer in the format.
#[must_use]
pub fn encoded(format: &dyn Format, layer: &Layer) -> Vec<u8> {
    written(format, layer, &context())
}

/// Returns the layers of the suite that the format carries: all of the fixture, with some and with no areas flooded,
/// and without any area.
fn layers(format: &dyn Format) -> Vec<Layer> {
    let mut layers = fixture::layers();
    layers.extend([fixture::empty_layer(), fixture::layer(&[]), fixture::layer(&[(5, 3), (10, 4)])]);
    layers.into_iter().filter(|layer| format.carries(layer.kind())).collect()
}

pub fn its_name_container_and_media_type_can_stand_in_a_request_and_a_header(format: &dyn Format) {
    let plain =
        |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    assert!(plain(format.name()), "the name {:?} is not of small letters and digits", format.name());
    let container = format.container().0;
    assert!(plain(container), "the container {container:?} is not of small letters and digits");
    for media_type in format.also_accepted().iter().copied().chain([format.media_type()]) {
        assert!(media_type.parse::<rocket::http::MediaType>().is_ok(), "{media_type:?} is no media type");
    }
}

pub fn the_same_layer_gives_the_same_bytes(format: &dyn Format) {
    for layer in layers(format) {
        let (first, second) = (encoded(format, &layer), encoded(format, &layer));
        assert!(
            first == second,
            "{} was written twice, and differently:\n{}",
            told(&layer),
            both(&first, &second)
        );
    }
}

pub fn time_changes_nothing_within_a_step(format: &dyn Format) {
    let step = format.time_step();
    let until = step.map_or(Duration::from_hours(24), |step| step.saturating_sub(Duration::from_millis(1)));
    let begun = step.map_or(fixture::now(), |step| fixture::now().floor(step));
    for layer in layers(format) {
        let [first, last] = [begun, begun.after(until)].map(|now| {
            let mut context = context();
            context.now = now;
            written(format, &layer, &context)
        });
        let said = step.map_or("has no time step".to_owned(), |step| format!("has a time step of {step:?}"));
        assert!(
            first == last,
            "the format {said}, but {} is written differently {until:?} later:\n{}",
            told(&layer),
            both(&first, &last)
        );
    }
}

pub fn what_stands_before_the_layer_is_left_alone(format: &dyn Format) {
    for layer in layers(format) {
        let mut out = b"before".to_vec();
        append(format, &layer, &context(), &mut out);
        let after = out.strip_prefix(b"before");
        let after = after.unwrap_or_else(|| panic!("{} replaced what stood before it", told(&layer)));
        let alone = encoded(format, &layer);
        assert!(
            after == alone,
            "{} is written differently after other bytes:\n{}",
            told(&layer),
            both(&alone, after)
        );
    }
}

pub fn different_layers_give_different_bytes(format: &dyn Format) {
    let states = [(1, 1), (1, 2), (2, 2)];
    let layers = states.map(|state| (state, fixture::layer(&[state])));
    let carried = layers.iter().filter(|(_, layer)| format.carries(layer.kind()));
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

pub fn documents_of_a_known_container_are_well_formed(format: &dyn Format) {
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
            panic!("{} is not well-formed {container}: {broken}:\n{}", told(&layer), shown(&document));
        }
    }
}

/// Appends the layer in the format; fails the test if the format cannot write it.
fn append(format: &dyn Format, layer: &Layer, context: &EncodeContext, out: &mut Vec<u8>) {
    if let Err(error) = format.encode(layer, context, out) {
        let causes = iter::successors(Some(&error as &dyn Error), |&error| error.source());
        let said = causes.map(ToString::to_string).collect::<Vec<_>>().join(": ");
        panic!("the format carries {:?}, but {} cannot be written: {said}", layer.kind(), told(layer));
    }
}

fn written(format: &dyn Format, layer: &Layer, context: &EncodeContext) -> Vec<u8> {
    let mut out = Vec::new();
    append(format, layer, context, &mut out);
    out
}

/// Describes a layer in words.
fn told(layer: &Layer) -> String {
    match layer.features().count() {
        0 => format!("an empty layer of {:?}", layer.kind()),
        count => format!("the fixture's layer of {count} {:?}", layer.kind()),
    }
}

/// Returns the beginning of a document, as text.
fn shown(document: &[u8]) -> String {
    const MOST: usize = 400;
    let text = String::from_utf8_lossy(&document[..document.len().min(MOST)]);
    if document.len() > MOST { format!("{text}…") } else { text.into_owned() }
}

/// Shows two documents, from a little before the first difference.
fn both(one: &[u8], other: &[u8]) -> String {
    let same = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let from = same.saturating_sub(40);
    format!("at byte {same}: {}\nand: {}", shown(&one[from..]), shown(&other[from..]))
}

/// Makes a test for each behaviour of the suite, for the format that an expression returns.
///
/// Name behaviours that the format does not have: `format_suite!(Summary, except different_layers_give_different_bytes)`. Or
/// name those that it has: `format_suite!(Summary => the_same_layer_gives_the_same_bytes)`.
#[macro_export]
macro_rules! format_suite {
    ($format:expr) => {
        $crate::format_suite!($format, except);
    };
    ($format:expr, except $($excepted:ident),* $(,)?) => {
        // A name that is not a behaviour does not compile.
        const _: () = { $(let _: fn(&dyn ::siaga::formats::Format) = $crate::formats::$excepted;)* };

        macro_rules! unless_excepted {
            $(($excepted $test:item) => {};)*
            ($behaviour:ident $test:item) => { $test };
        }

        $crate::format_suite! { @ unless_excepted $format =>
            its_name_container_and_media_type_can_stand_in_a_request_and_a_header,
            the_same_layer_gives_the_same_bytes,
            time_changes_nothing_within_a_step,
            what_stands_before_the_layer_is_left_alone,
            different_layers_give_different_bytes,
            documents_of_a_known_container_are_well_formed,
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
