use crate::model::FloodState;
use crate::model::alerts::{Message, MessageType};

#[derive(Clone, Copy, Debug)]
pub(super) struct Names<'a> {
    pub(super) area: &'a str,
    pub(super) time: &'a str,
    pub(super) agency: &'a str,
}

/// Returns the key of this message's texts in the translation files.
pub(super) fn name(message: &Message) -> &'static str {
    match message.state {
        _ if message.message_type == MessageType::Cancel => "over",
        FloodState::Unknown => "unknown",
        FloodState::Minor => "minor",
        FloodState::Moderate => "moderate",
        FloodState::Severe => "severe",
    }
}

/// Replaces the placeholders `{area}`, `{time}` and `{agency}`. Does not replace placeholders in the inserted names.
pub(super) fn substitute(text: &str, Names { area, time, agency }: Names<'_>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let names = [("area}", area), ("time}", time), ("agency}", agency)];
        let value = names.into_iter().find_map(|(key, name)| Some((after.strip_prefix(key)?, name)));
        rest = if let Some((after, name)) = value {
            out.push_str(name);
            after
        } else {
            out.push('{');
            after
        };
    }
    out + rest
}
