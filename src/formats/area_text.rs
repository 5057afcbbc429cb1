//! Pre-rendered JSON of local areas.

use serde::Serialize;

use crate::model::{Area, FloodCondition, FloodIdentity, FloodStatus};

/// The last properties of a local area. They depend on the layer, so they are not pre-rendered.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
pub(super) enum TrailingProperties {
    State(FloodCondition),
    Label {
        /// Longitude and latitude.
        label: Option<[f64; 2]>,
    },
}

impl TrailingProperties {
    pub(super) fn state(status: FloodStatus) -> Self {
        Self::State(FloodCondition(status))
    }

    /// Appends a comma, these properties and the closing brace. `out` must end with the object's other properties.
    pub(super) fn append(self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        let start = out.len();
        serde_json::to_writer(&mut *out, &self)?;
        out[start] = b',';
        Ok(())
    }
}

/// Appends an object with the properties that an area has in all layers, without the closing brace.
pub(super) fn append_identity(area: &Area, out: &mut Vec<u8>) -> serde_json::Result<()> {
    serde_json::to_writer(&mut *out, &FloodIdentity::new(area))?;
    out.pop();
    Ok(())
}

/// The JSON text of consecutive areas that were never flooded, and where their last properties begin. If some areas have a state,
/// the text between two of them is copied in one piece.
#[derive(Debug)]
pub(super) struct AreaText {
    text: Vec<u8>,
    offsets: Vec<Offsets>,
    /// The last properties of an area that was never flooded. They are the same for every such area.
    dry: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Offsets {
    start: usize,
    /// Where the area's last properties begin.
    identity_end: usize,
}

impl AreaText {
    pub(super) fn new() -> serde_json::Result<Self> {
        let mut dry = Vec::new();
        TrailingProperties::state(FloodStatus::NEVER_FLOODED).append(&mut dry)?;
        Ok(Self { text: Vec::new(), offsets: Vec::new(), dry })
    }

    /// Appends an area that was never flooded. `before` and `after` write the text around its properties.
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
        self.offsets.push(Offsets { start, identity_end: text.len() });
        text.extend_from_slice(&self.dry);
        after(text);
        Ok(())
    }

    pub(super) fn len(&self) -> usize {
        self.offsets.len()
    }

    pub(super) fn size(&self) -> usize {
        self.text.len()
    }

    /// Appends all features. `all` yields the last properties of each feature, in the same order.
    pub(super) fn append_all(
        &self,
        all: impl Iterator<Item = TrailingProperties>,
        out: &mut Vec<u8>,
    ) -> serde_json::Result<()> {
        let mut done = 0;
        for (offsets, last) in self.offsets.iter().zip(all) {
            if !matches!(last, TrailingProperties::State(FloodCondition(FloodStatus::NEVER_FLOODED))) {
                out.extend_from_slice(&self.text[done..offsets.identity_end]);
                last.append(out)?;
                done = offsets.identity_end + self.dry.len();
            }
        }
        out.extend_from_slice(&self.text[done..]);
        Ok(())
    }

    /// Appends the text of an area up to the end of its properties, with `last` as the last properties.
    pub(super) fn append_to_properties(
        &self,
        index: usize,
        last: TrailingProperties,
        out: &mut Vec<u8>,
    ) -> serde_json::Result<()> {
        let Offsets { start, identity_end } = self.offsets[index];
        out.extend_from_slice(&self.text[start..identity_end]);
        match last {
            TrailingProperties::State(FloodCondition(FloodStatus::NEVER_FLOODED)) => {
                out.extend_from_slice(&self.dry);
            }
            last => last.append(out)?,
        }
        Ok(())
    }
}
