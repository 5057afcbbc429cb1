use std::collections::HashMap;
use std::hash::Hash;

/// Detects duplicate identifiers in a file. Keeps the line of each identifier.
pub(super) struct Unique<K> {
    /// The name of the property or column, for messages.
    name: &'static str,
    lines: HashMap<K, u64>,
}

impl<K: Eq + Hash> Unique<K> {
    pub(super) fn new(name: &'static str) -> Self {
        Self { name, lines: HashMap::new() }
    }

    pub(super) fn add(&mut self, identifier: K, line: u64) -> Result<(), String> {
        match self.lines.insert(identifier, line) {
            Some(first) => Err(format!("{} is that of line {first} already", self.name)),
            None => Ok(()),
        }
    }
}
