/// What a name of a user, a network or a gauge is, in words.
pub const NAME: &str = "a text of 1 to 255 characters without control characters";

/// Whether a text is [`NAME`].
#[must_use]
pub fn is_name(text: &str) -> bool {
    (1..=255).contains(&text.chars().count()) && !text.contains(char::is_control)
}
