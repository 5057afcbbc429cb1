use std::fmt;
use std::io::{self, Write};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::{Format, Full, Json, Writer};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, MakeWriter};
use tracing_subscriber::registry::LookupSpan;

use crate::runtime::CurrentRequest;

const REQUEST_ID: &str = "request_id";

/// Formats a log event as text or as a JSON object, according to the current settings. Adds the id of the request.
pub(super) struct Line {
    json: Arc<AtomicBool>,
    text: Format<Full>,
    object: Format<Json>,
}

impl Line {
    pub(super) fn new(json: Arc<AtomicBool>) -> Self {
        let object = Format::default().json().flatten_event(true);
        Self {
            json,
            text: Format::default().with_ansi(false),
            object: object.with_current_span(false).with_span_list(false),
        }
    }
}

impl<S, N> FormatEvent<S, N> for Line
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'w> FormatFields<'w> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut line = String::new();
        let is_json = self.json.load(Ordering::Relaxed);
        if is_json {
            self.object.format_event(context, Writer::new(&mut line), event)?;
        } else {
            self.text.format_event(context, Writer::new(&mut line), event)?;
        }
        let request = CurrentRequest::get();
        // An event with its own request id gets no second one.
        let has_id = event.metadata().fields().field(REQUEST_ID).is_some();
        match (request.id().filter(|_| !has_id), line.strip_suffix(if is_json { "}\n" } else { "\n" })) {
            (Some(id), Some(open)) if is_json => {
                writeln!(writer, "{open},{REQUEST_ID:?}:{}}}", serde_json::json!(id))
            }
            (Some(id), Some(line)) => writeln!(writer, "{line} {REQUEST_ID}={id:?}"),
            _ => writer.write_str(&line),
        }
    }
}

/// Writes to standard error, one line for each event.
#[derive(Clone, Copy, Debug)]
pub(super) struct SingleLineWriter;

impl MakeWriter<'_> for SingleLineWriter {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        *self
    }
}

impl Write for SingleLineWriter {
    /// Writes one whole event: the formatter passes each event in a single call.
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        io::stderr().write_all(to_single_line(event).as_bytes())?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Characters that some programs treat as line ends, or that change the direction of the following text.
const UNSAFE: [RangeInclusive<char>; 3] =
    ['\u{2028}'..='\u{202e}', '\u{2066}'..='\u{2069}', '\u{200e}'..='\u{200f}'];

/// Escapes control characters except the final line end, for example as `\u001b`, so that nobody can forge log lines.
fn to_single_line(event: &[u8]) -> String {
    let text = String::from_utf8_lossy(event);
    let text = text.strip_suffix('\n').unwrap_or(&text);
    let mut line = String::with_capacity(text.len() + 1);
    for character in text.chars() {
        if character.is_control() || UNSAFE.iter().any(|range| range.contains(&character)) {
            // The same form as in JSON, although JSON does not escape DEL and C1 characters. Writing to a string cannot fail.
            let _ = fmt::Write::write_fmt(&mut line, format_args!("\\u{:04x}", u32::from(character)));
        } else {
            line.push(character);
        }
    }
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_is_a_single_line() {
        assert_eq!(to_single_line(b"a\r\nb\x1b[31m \xc2\x85c\n"), "a\\u000d\\u000ab\\u001b[31m \\u0085c\n");
        assert_eq!(to_single_line("a\u{2028}b\u{202e}c\n".as_bytes()), "a\\u2028b\\u202ec\n");
        assert_eq!(to_single_line("banjir ☔ \"x\"\n".as_bytes()), "banjir ☔ \"x\"\n");
        assert_eq!(to_single_line(b"\n\n"), "\\u000a\n");
    }
}
