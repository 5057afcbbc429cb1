//! Prepared text of flooded areas.

use crate::model::{Area, FloodCondition, FloodIdentity, Standing};

/// The JSON text of areas one after the other, as it is if none has a state, and the places in it where states go.
///
/// With it, the features of any areas in any state are written by copying everything between two states at once.
#[derive(Debug)]
pub(super) struct FloodText {
    /// The features, with commas between them.
    text: Vec<u8>,
    marks: Vec<Marks>,
    /// The text in place of a state, the same for each feature.
    dry: Vec<u8>,
}

/// Where a feature is in the text.
#[derive(Clone, Copy, Debug)]
struct Marks {
    start: usize,
    /// The end of its properties, without those of its state.
    identity: usize,
    end: usize,
}

impl FloodText {
    /// Returns a text without features.
    pub(super) fn new() -> serde_json::Result<Self> {
        let mut dry = Vec::new();
        append_condition(None, &mut dry)?;
        Ok(Self { text: Vec::new(), marks: Vec::new(), dry })
    }

    /// Adds a feature: the text before its properties, the properties, and the text after them.
    pub(super) fn push(
        &mut self,
        area: &Area,
        before: impl FnOnce(&mut Vec<u8>),
        after: impl FnOnce(&mut Vec<u8>),
    ) -> serde_json::Result<()> {
        let text = &mut self.text;
        if !text.is_empty() {
            text.push(b',');
        }
        let start = text.len();
        before(text);
        serde_json::to_writer(&mut *text, &FloodIdentity::of(area))?;
        // Removes the closing brace: the next text continues the object.
        text.pop();
        let identity = text.len();
        text.extend_from_slice(&self.dry);
        after(text);
        self.marks.push(Marks { start, identity, end: text.len() });
        Ok(())
    }

    /// Returns the number of features.
    pub(super) fn len(&self) -> usize {
        self.marks.len()
    }

    /// Returns how long the text is if no area has a state.
    pub(super) fn size(&self) -> usize {
        self.text.len()
    }

    /// Appends all features with the states, which are in the same order.
    pub(super) fn append_all(
        &self,
        states: impl Iterator<Item = Option<Standing>>,
        out: &mut Vec<u8>,
    ) -> serde_json::Result<()> {
        let mut done = 0;
        for (marks, standing) in self.marks.iter().zip(states) {
            if standing.is_some() {
                out.extend_from_slice(&self.text[done..marks.identity]);
                append_condition(standing, out)?;
                done = marks.identity + self.dry.len();
            }
        }
        out.extend_from_slice(&self.text[done..]);
        Ok(())
    }

    /// Appends a feature.
    pub(super) fn append(
        &self,
        index: usize,
        standing: Option<Standing>,
        out: &mut Vec<u8>,
    ) -> serde_json::Result<()> {
        self.append_to_properties(index, standing, out)?;
        let Marks { identity, end, .. } = self.marks[index];
        out.extend_from_slice(&self.text[identity + self.dry.len()..end]);
        Ok(())
    }

    /// Appends a feature up to the end of its properties.
    pub(super) fn append_to_properties(
        &self,
        index: usize,
        standing: Option<Standing>,
        out: &mut Vec<u8>,
    ) -> serde_json::Result<()> {
        let Marks { start, identity, .. } = self.marks[index];
        out.extend_from_slice(&self.text[start..identity]);
        match standing {
            None => out.extend_from_slice(&self.dry),
            flooded => append_condition(flooded, out)?,
        }
        Ok(())
    }
}

/// Appends the properties of a state after other properties: a comma takes the place of the opening brace.
fn append_condition(standing: Option<Standing>, out: &mut Vec<u8>) -> serde_json::Result<()> {
    let start = out.len();
    serde_json::to_writer(&mut *out, &FloodCondition(standing))?;
    out[start] = b',';
    Ok(())
}
