//! Prepared text of local areas.

use serde::Serialize;

use crate::model::{Area, FloodCondition, FloodIdentity, FloodStatus};

/// The last properties of a local area: those that are not prepared.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
pub(super) enum ConditionText {
    /// Its state, in layers of floods.
    State(FloodCondition),
    /// The place of its label, in layers of outlines.
    Label {
        /// Longitude and latitude.
        label: Option<[f64; 2]>,
    },
}

impl ConditionText {
    pub(super) fn state(status: FloodStatus) -> Self {
        Self::State(FloodCondition(status))
    }

    /// Appends the properties after other properties, with the brace that closes the object: a comma takes the place of the
    /// opening brace.
    pub(super) fn append(self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        let start = out.len();
        serde_json::to_writer(&mut *out, &self)?;
        out[start] = b',';
        Ok(())
    }
}

/// Appends the properties of an area that are the same in all layers, without the brace that closes the object.
pub(super) fn append_identity(area: &Area, out: &mut Vec<u8>) -> serde_json::Result<()> {
    serde_json::to_writer(&mut *out, &FloodIdentity::new(area))?;
    out.pop();
    Ok(())
}

/// The JSON text of areas one after the other, as it is if none was ever flooded, and the places in it where the last properties go.
///
/// With it, the features of any areas in any state are written by copying everything between two states at once.
#[derive(Debug)]
pub(super) struct AreaText {
    /// The features, with commas between them.
    text: Vec<u8>,
    marks: Vec<Marks>,
    /// The text in place of the state of an area that was never flooded, the same for each feature.
    dry: Vec<u8>,
}

/// Where a feature is in the text.
#[derive(Clone, Copy, Debug)]
struct Marks {
    start: usize,
    /// The end of its properties, without the last ones.
    identity: usize,
}

impl AreaText {
    /// Returns a text without features.
    pub(super) fn new() -> serde_json::Result<Self> {
        let mut dry = Vec::new();
        ConditionText::state(FloodStatus::NEVER_FLOODED).append(&mut dry)?;
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
        append_identity(area, text)?;
        self.marks.push(Marks { start, identity: text.len() });
        text.extend_from_slice(&self.dry);
        after(text);
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

    /// Appends all features with their last properties, which are in the same order.
    pub(super) fn append_all(
        &self,
        all: impl Iterator<Item = ConditionText>,
        out: &mut Vec<u8>,
    ) -> serde_json::Result<()> {
        let mut done = 0;
        for (marks, last) in self.marks.iter().zip(all) {
            if !matches!(last, ConditionText::State(FloodCondition(FloodStatus::NEVER_FLOODED))) {
                out.extend_from_slice(&self.text[done..marks.identity]);
                last.append(out)?;
                done = marks.identity + self.dry.len();
            }
        }
        out.extend_from_slice(&self.text[done..]);
        Ok(())
    }

    /// Appends a feature up to the end of its properties.
    pub(super) fn append_to_properties(
        &self,
        index: usize,
        last: ConditionText,
        out: &mut Vec<u8>,
    ) -> serde_json::Result<()> {
        let Marks { start, identity } = self.marks[index];
        out.extend_from_slice(&self.text[start..identity]);
        match last {
            ConditionText::State(FloodCondition(FloodStatus::NEVER_FLOODED)) => {
                out.extend_from_slice(&self.dry)
            }
            last => last.append(out)?,
        }
        Ok(())
    }
}
