//! CSV with a header. The configuration names the columns.

use csv::{ReaderBuilder, Trim};

use super::PageResult;
use crate::collector::{Collector, Reading};
use crate::gauge::Location;

pub(super) fn read(text: &str, origin: &str, collector: &mut Collector<'_>) -> PageResult {
    let feed = collector.feed;
    let comma = u8::try_from(feed.delimiter.unwrap_or(',')).map_err(|_| "delimiter is not ASCII")?;
    let text = text.as_bytes();
    let mut reader = ReaderBuilder::new().delimiter(comma).trim(Trim::All).flexible(true).from_reader(text);
    let headers = reader.headers().map_err(|error| error.to_string())?.clone();
    if let Some(name) = feed.columns.values().find(|name| headers.iter().all(|header| header != *name)) {
        return Err(format!("it has no column {name:?}: correct columns"));
    }
    for record in reader.records() {
        let record = record.map_err(|error| error.to_string())?;
        let cell = |column| {
            let name = feed.columns.get(column)?;
            record.get(headers.iter().position(|header| header == name)?)
        };
        let text = |column| cell(column).unwrap_or_default().to_owned();
        let number = |column| text(column).replacen(feed.decimal.unwrap_or('.'), ".", 1);
        let location = number("lat").parse().ok().zip(number("lng").parse().ok());
        collector.add(&Reading {
            gauge: cell("gauge").unwrap_or(origin).to_owned(),
            name: text("name"),
            location: location.map(|(lat, lng)| Location { lat, lng }),
            time: text("time"),
            value: number("level"),
            unit: String::new(),
        });
    }
    Ok(None)
}
