//! Tests of the suite itself, with wrong formats.

use std::time::Duration;

use siaga::formats::{Container, EncodeContext, EncodeError, Format};
use siaga::model::{Layer, LayerKind};
use siaga_conformance::format_suite;
use siaga_conformance::formats;

/// A format with this container, which encodes a layer by this function. Either may break the rules for formats.
#[derive(Clone, Copy, Debug)]
struct Odd(&'static str, fn(&Layer, &EncodeContext) -> String);

impl Format for Odd {
    fn name(&self) -> &'static str {
        "odd"
    }

    fn container(&self) -> Container {
        Container(self.0)
    }

    fn media_type(&self) -> &'static str {
        "text/plain"
    }

    fn supports(&self, kind: LayerKind) -> bool {
        kind == LayerKind::Floods
    }

    fn time_step(&self) -> Option<Duration> {
        None
    }

    fn encode(&self, layer: &Layer, context: &EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        out.extend(self.1(layer, context).bytes());
        Ok(())
    }
}

/// Writes a point for each area, whatever its state.
const SUMMARY: Odd = Odd("text", |layer, _| ".".repeat(layer.features().count()));

format_suite!(SUMMARY, except different_layers_have_different_encodings);

#[test]
#[should_panic(expected = "something is left out")]
fn what_is_left_out_is_said() {
    formats::different_layers_have_different_encodings(&SUMMARY);
}

#[test]
#[should_panic(expected = "the format has no time step")]
fn a_time_that_is_not_told_is_said() {
    formats::encodings_are_stable_within_a_time_step(&Odd("text", |_, context| context.now.to_string()));
}

#[test]
#[should_panic(expected = "the fixture's layer of 5 Floods is not well-formed json: EOF while parsing")]
fn what_is_no_json_is_said() {
    formats::json_and_xml_documents_are_well_formed(&Odd("json", |_, _| "{".to_owned()));
}

#[test]
#[should_panic(expected = "an empty layer of Floods is not well-formed xml: it has no element")]
fn what_is_no_xml_is_said() {
    let empty_at_last = |layer: &Layer, _: &EncodeContext| {
        if layer.features().next().is_some() { "<a><b/></a>".to_owned() } else { String::new() }
    };
    formats::json_and_xml_documents_are_well_formed(&Odd("xml", empty_at_last));
}
