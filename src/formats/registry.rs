use std::collections::HashMap;
use std::sync::Arc;

use super::Format;
use super::template::InvalidTemplate;
use crate::model::LayerKind;
use crate::schema::resources::describe;

/// The enabled formats, in the order of the configuration, and the default.
#[derive(Clone, Debug)]
pub struct FormatRegistry {
    formats: Vec<Arc<dyn Format>>,
    offers: HashMap<LayerKind, Vec<Arc<dyn Format>>>,
    default: Arc<dyn Format>,
}

/// The configured formats cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidFormats {
    /// A template is invalid, so it cannot be a format.
    #[error(transparent)]
    Template(#[from] InvalidTemplate),
    /// An enabled format is not registered.
    #[error("siaga.formats.enabled: each must be one of [{}], not {name:?}", .known.join(", "))]
    Unknown {
        /// The configured name.
        name: String,
        /// The registered names.
        known: Vec<String>,
    },
    /// No enabled format can write layers of this kind.
    #[error("siaga.formats.enabled: none of [{}] can write {kind:?}", .enabled.join(", "))]
    NotCarried {
        /// The kind.
        kind: LayerKind,
        /// The enabled names.
        enabled: Vec<String>,
    },
    /// The default format is not enabled.
    #[error("siaga.formats.default must be one of the enabled [{}], not {name:?}", .enabled.join(", "))]
    DefaultNotEnabled {
        /// The configured name.
        name: String,
        /// The enabled names.
        enabled: Vec<String>,
    },
    /// A format of a resource is not enabled, or cannot write the resource.
    #[error("siaga.formats.resources.{}: each must be one of [{}], not {name:?}", .kind.name(), .allowed.join(", "))]
    NotOffered {
        /// The resource.
        kind: LayerKind,
        /// The configured name.
        name: String,
        /// The enabled formats that can write the resource.
        allowed: Vec<String>,
    },
    /// A format to try out cannot write layers of this kind.
    #[error("no format {name:?} can write {}; these can: [{}]", .kind.name(), .allowed.join(", "))]
    Unsupported {
        /// The kind of the layer.
        kind: LayerKind,
        /// The name of the format.
        name: String,
        /// The formats that can write layers of this kind.
        allowed: Vec<String>,
    },
    /// A resource has an empty list of formats.
    #[error("siaga.formats.resources.{}: must name at least one of [{}]", .kind.name(), .allowed.join(", "))]
    NoneOffered {
        /// The resource.
        kind: LayerKind,
        /// The enabled formats that can write the resource.
        allowed: Vec<String>,
    },
}

impl FormatRegistry {
    /// Selects `enabled` and `default` among the `known` formats. If several have the same name, the last one wins.
    pub(crate) fn new(
        known: &[Arc<dyn Format>],
        enabled: &[String],
        default: &str,
    ) -> Result<Self, InvalidFormats> {
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
        let registry = Self { formats, offers: HashMap::new(), default };
        match LayerKind::ALL.into_iter().find(|&kind| registry.for_kind(kind).next().is_none()) {
            Some(kind) => Err(InvalidFormats::NotCarried { kind, enabled: enabled.to_vec() }),
            None => Ok(registry),
        }
    }

    /// Offers a kind of layer in the named formats only, in this order.
    pub(crate) fn restrict(mut self, kind: LayerKind, names: &[String]) -> Result<Self, InvalidFormats> {
        let allowed: Vec<_> = self.for_kind(kind).cloned().collect();
        let names_of = |all: &[Arc<dyn Format>]| all.iter().map(|format| format.name().to_owned()).collect();
        if names.is_empty() {
            return Err(InvalidFormats::NoneOffered { kind, allowed: names_of(&allowed) });
        }
        let find = |name: &String| {
            let format = allowed.iter().find(|format| format.name() == name).cloned();
            let error =
                || InvalidFormats::NotOffered { kind, name: name.clone(), allowed: names_of(&allowed) };
            format.ok_or_else(error)
        };
        let offered = names.iter().map(find).collect::<Result<_, _>>()?;
        self.offers.insert(kind, offered);
        Ok(self)
    }

    /// Returns the formats that can write layers of a kind. The first is the preferred format of the resource, if it is offered,
    /// otherwise the default. The others follow in the order of the configuration.
    pub(crate) fn for_kind(&self, kind: LayerKind) -> impl Iterator<Item = &Arc<dyn Format>> {
        let offered = self.offers.get(&kind).unwrap_or(&self.formats);
        let preferred = describe(kind).preferred_format;
        let preferred = preferred.filter(|name| offered.iter().any(|format| format.name() == *name));
        let first = preferred.unwrap_or(self.default.name());
        let is_default = move |format: &&Arc<dyn Format>| format.name() == first;
        let others = offered.iter().filter(move |format| !is_default(format));
        offered.iter().filter(is_default).take(1).chain(others).filter(move |format| format.supports(kind))
    }
}
