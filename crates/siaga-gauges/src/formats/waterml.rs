//! WaterML 2.0, part 1: observations of time series. A gauge is a monitoring point with an observed property:
//! `12345/GageHeight`.

use std::borrow::Cow;

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader as XmlReader, XmlVersion, escape};

use super::PageResult;
use crate::collector::{Collector, Reading};
use crate::gauge::Location;

pub(super) fn read(text: &str, collector: &mut Collector<'_>) -> PageResult {
    let mut reader = XmlReader::from_str(text);
    reader.config_mut().expand_empty_elements = true;
    let wrong = |error| format!("it is not XML: {error}");
    // Until a point is complete, `gauge` is only the monitoring point.
    let (mut reading, mut property, mut found, mut in_feature) =
        (Reading::default(), String::new(), false, false);
    loop {
        let tag = match reader.read_event().map_err(wrong)? {
            Event::Start(tag) => tag,
            Event::Eof if found => return Ok(None),
            Event::Eof => return Err("it has no OM_Observation: is it WaterML 2.0?".to_owned()),
            _ => continue,
        };
        let end_of =
            |name| attribute(&tag, name).rsplit(['/', ':', '#']).next().unwrap_or_default().to_owned();
        let mut content = || {
            let raw = reader.read_text(tag.name()).map_err(wrong)?;
            escape::unescape(raw.trim()).map(Cow::into_owned).map_err(|error| error.to_string())
        };
        match tag.local_name().as_ref() {
            "OM_Observation" => (reading, found) = (Reading::default(), true),
            "observedProperty" => property = end_of("href"),
            "featureOfInterest" => {
                (reading.gauge, reading.name, in_feature) = (end_of("href"), attribute(&tag, "title"), true);
            }
            "MonitoringPoint" => reading.gauge = attribute(&tag, "id"),
            "identifier" if in_feature => reading.gauge = content()?,
            "name" if in_feature => reading.name = content()?,
            "pos" if in_feature => reading.location = location(&content()?, &attribute(&tag, "srsName")),
            "result" => in_feature = false,
            "uom" => reading.unit = attribute(&tag, "code"),
            "time" => reading.time = content()?,
            // Values without a time before them are metadata of the point.
            "value" if !reading.time.is_empty() => {
                reading.value = content()?;
                collector.add(&Reading { gauge: format!("{}/{property}", reading.gauge), ..reading.clone() });
                reading.time.clear();
            }
            _ => {}
        }
    }
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> String {
    let mut attributes = tag.attributes().filter_map(Result::ok);
    let found = attributes.find(|attribute| attribute.key.local_name().as_ref() == name);
    let value = found.and_then(|found| found.normalized_value(XmlVersion::Implicit1_0).ok());
    value.unwrap_or_default().into_owned()
}

/// Reads `gml:pos`, which has the latitude first, except in CRS84.
fn location(text: &str, system: &str) -> Option<Location> {
    let mut numbers = text.split_whitespace().filter_map(|number| number.parse().ok());
    let (first, second) = numbers.next().zip(numbers.next())?;
    let (lat, lng) = if system.contains("CRS84") { (second, first) } else { (first, second) };
    Some(Location { lat, lng })
}
