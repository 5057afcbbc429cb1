use std::sync::Arc;

use super::{Container, Format};
use crate::model::LayerKind;

/// The enabled formats, in the order the configuration names them, and the one used when a client names none.
#[derive(Clone, Debug)]
pub struct FormatRegistry {
    formats: Vec<Arc<dyn Format>>,
    default: Arc<dyn Format>,
}

/// The configuration names formats that cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidFormats {
    /// An enabled format is not registered.
    #[error("siaga.formats.enabled: each must be one of [{}], not {name:?}", .known.join(", "))]
    Unknown {
        /// The name in the configuration.
        name: String,
        /// The registered names.
        known: Vec<String>,
    },
    /// No enabled format can write some answers.
    #[error("siaga.formats.enabled: none of [{}] can write {kind:?}", .enabled.join(", "))]
    NotCarried {
        /// What cannot be written.
        kind: LayerKind,
        /// The enabled names.
        enabled: Vec<String>,
    },
    /// The default format is not among the enabled ones.
    #[error("siaga.formats.default must be one of the enabled [{}], not {name:?}", .enabled.join(", "))]
    DefaultNotEnabled {
        /// The name in the configuration.
        name: String,
        /// The enabled names.
        enabled: Vec<String>,
    },
}

impl FormatRegistry {
    /// Chooses `enabled` and `default` by name among the `known` formats; of two with one name the later counts.
    ///
    /// # Errors
    ///
    /// When a name is not known, or the default not enabled.
    pub fn new(known: &[Arc<dyn Format>], enabled: &[String], default: &str) -> Result<Self, InvalidFormats> {
        let find = |name: &String| {
            known.iter().rfind(|format| format.name() == name).cloned().ok_or_else(|| {
                let known = known.iter().map(|format| format.name().to_owned()).collect();
                InvalidFormats::Unknown { name: name.clone(), known }
            })
        };
        let formats: Vec<_> = enabled.iter().map(find).collect::<Result<_, _>>()?;
        let default = formats.iter().find(|format| format.name() == default).cloned().ok_or_else(|| {
            InvalidFormats::DefaultNotEnabled { name: default.to_owned(), enabled: enabled.to_vec() }
        })?;
        let registry = Self { formats, default };
        match LayerKind::ALL.into_iter().find(|&kind| registry.carrying(kind).next().is_none()) {
            Some(kind) => Err(InvalidFormats::NotCarried { kind, enabled: enabled.to_vec() }),
            None => Ok(registry),
        }
    }

    /// The formats that can write layers of a kind, the default first.
    pub fn carrying(&self, kind: LayerKind) -> impl Iterator<Item = &Arc<dyn Format>> {
        let others = self.formats.iter().filter(|format| format.name() != self.default.name());
        std::iter::once(&self.default).chain(others).filter(move |format| format.carries(kind))
    }

    /// The containers of the formats that can write layers of a kind, each once.
    #[must_use]
    pub fn containers(&self, kind: LayerKind) -> Vec<Container> {
        let mut containers = Vec::new();
        for format in self.carrying(kind) {
            if !containers.contains(&format.container()) {
                containers.push(format.container());
            }
        }
        containers
    }
}
