use std::collections::HashMap;
use std::hash::Hash;

/// The identifiers that a file has had so far, each with the line of its row: they must differ.
pub(super) struct Unique<K> {
    /// The property or column, for messages.
    name: &'static str,
    lines: HashMap<K, u64>,
}

impl<K: Eq + Hash> Unique<K> {
    pub(super) fn new(name: &'static str) -> Self {
        Self { name, lines: HashMap::new() }
    }

    /// Adds the identifier of the row on this line.
    ///
    /// # Errors
    ///
    /// The reason, if an earlier row has it.
    pub(super) fn add(&mut self, identifier: K, line: u64) -> Result<(), String> {
        match self.lines.insert(identifier, line) {
            Some(first) => Err(format!("{} is that of line {first} already", self.name)),
            None => Ok(()),
        }
    }
}
