use std::borrow::Cow;
use std::sync::Arc;

use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use super::{FeatureId, MapLayer};
use crate::model::alerts::{Issuer, Message, MessageKey, MessageType, Status};
use crate::model::{Area, AreaId, AreaSet, Geometry, Timestamp};

/// Messages about areas of one set.
#[derive(Clone, Debug)]
pub struct AlertLayer {
    areas: Arc<AreaSet>,
    /// Clones share them.
    messages: Arc<[(usize, Message)]>,
    issuer: Arc<Issuer>,
    status: Option<Status>,
    path: String,
    history: Option<(AreaId, Option<MessageKey>)>,
    changed: Timestamp,
    is_continued: bool,
    is_doubtful: bool,
}

/// A message and the area that it is about.
#[derive(Clone, Copy, Debug)]
pub struct AlertFeature<'a> {
    /// The area.
    pub area: &'a Area,
    /// The position of the area in its set.
    pub position: usize,
    /// The message.
    pub message: &'a Message,
    /// Who issues it.
    pub issuer: &'a Issuer,
    /// What it is for.
    pub status: Status,
}

/// The properties of a message in GeoJSON and TopoJSON.
#[derive(Clone, Copy, Debug)]
pub struct AlertProperties<'a>(AlertFeature<'a>);

impl AlertLayer {
    /// Returns a layer of messages in the given order, each with the position of its area in `areas`.
    ///
    /// # Panics
    ///
    /// Reading the layer panics if a position lies outside the set.
    #[must_use]
    pub fn new(areas: Arc<AreaSet>, messages: Vec<(usize, Message)>) -> Self {
        Self {
            areas,
            messages: messages.into(),
            issuer: Arc::default(),
            status: None,
            path: String::new(),
            history: None,
            changed: Timestamp::EPOCH,
            is_continued: false,
            is_doubtful: false,
        }
    }

    /// Sets where the layer is found: a path below the base address, without a slash at its beginning, and its query.
    #[must_use]
    pub fn at(self, path: String) -> Self {
        Self { path, ..self }
    }

    /// Makes the layer a page of the history of an area: the newest messages, or those before a message.
    #[must_use]
    pub(crate) fn history(self, area: AreaId, before: Option<MessageKey>) -> Self {
        Self { history: Some((area, before)), ..self }
    }

    /// Sets when the list last changed.
    #[must_use]
    pub fn changed(self, changed: Timestamp) -> Self {
        Self { changed, ..self }
    }

    /// Makes all messages those of an exercise.
    #[must_use]
    pub fn as_exercise(self) -> Self {
        Self { status: Some(Status::Exercise), ..self }
    }

    /// Sets who issues the messages.
    #[must_use]
    pub fn issued_by(self, issuer: Arc<Issuer>) -> Self {
        Self { issuer, ..self }
    }

    /// Says that earlier messages about the same area follow, of which this layer has the last one.
    #[must_use]
    pub(crate) fn continued(self, is_continued: bool) -> Self {
        Self { is_continued, ..self }
    }

    /// Says that a source of the data is silent, so that messages may be missing.
    #[must_use]
    pub(crate) fn doubtful(self, is_doubtful: bool) -> Self {
        Self { is_doubtful, ..self }
    }

    /// Returns whether messages may be missing, because a source of the data is silent.
    #[must_use]
    pub(crate) fn is_doubtful(&self) -> bool {
        self.is_doubtful
    }

    /// Returns who issues the messages.
    pub(crate) fn issuer(&self) -> &Issuer {
        &self.issuer
    }

    /// Returns the messages.
    #[must_use]
    pub fn features(&self) -> impl ExactSizeIterator<Item = AlertFeature<'_>> + DoubleEndedIterator {
        (0..self.messages.len()).map(|index| self.alert(index))
    }

    /// Returns the message at an index; `None` if there is none.
    pub(crate) fn get(&self, index: usize) -> Option<AlertFeature<'_>> {
        (index < self.messages.len()).then(|| self.alert(index))
    }

    /// Returns the set that the areas belong to.
    #[must_use]
    pub fn areas(&self) -> &Arc<AreaSet> {
        &self.areas
    }

    /// Returns where the layer is found below the base address.
    #[must_use]
    pub fn path(&self) -> Cow<'_, str> {
        match self.history {
            Some((area, before)) => self.history_path(area, before).into(),
            None => self.path.as_str().into(),
        }
    }

    /// Returns whether the messages are the history of an area.
    #[must_use]
    pub(crate) fn is_history(&self) -> bool {
        self.history.is_some()
    }

    fn history_path(&self, area: AreaId, before: Option<MessageKey>) -> String {
        let before = before.map(|key| format!("&before={}", self.issuer.identifier(area, key)));
        format!("alerts/history?area={area}{}", before.unwrap_or_default())
    }

    /// Returns when the list last changed.
    #[must_use]
    pub(crate) fn last_changed(&self) -> Timestamp {
        self.changed
    }

    /// Returns where the earlier messages about the same area are found below the base address; `None` if there are none.
    #[must_use]
    pub(crate) fn next_path(&self) -> Option<String> {
        let last = self.features().next_back().filter(|_| self.is_continued)?;
        Some(self.history_path(last.area.id, Some(last.message.key)))
    }

    fn alert(&self, index: usize) -> AlertFeature<'_> {
        let (position, message) = &self.messages[index];
        let Self { areas, issuer, status, .. } = self;
        let status = status.unwrap_or(issuer.status);
        AlertFeature { area: &areas[*position], position: *position, message, issuer, status }
    }
}

impl Default for AlertLayer {
    fn default() -> Self {
        Self::new(Arc::default(), Vec::new())
    }
}

impl AlertFeature<'_> {
    /// Returns the CAP `identifier` of the message.
    #[must_use]
    pub(crate) fn identifier(&self) -> String {
        self.issuer.identifier(self.area.id, self.message.key)
    }
}

impl Serialize for AlertProperties<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let AlertFeature { area, message, issuer, status, .. } = self.0;
        let state = Some(message.state).filter(|_| message.message_type != MessageType::Cancel);
        let references = message.references.iter().map(|of| issuer.identifier(area.id, of.key));
        let mut properties = serializer.serialize_struct("AlertProperties", 13)?;
        properties.serialize_field("identifier", &self.0.identifier())?;
        properties.serialize_field("status", status.name())?;
        properties.serialize_field("message_type", message.message_type.name())?;
        properties.serialize_field("sent", &message.sent)?;
        properties.serialize_field("expires", &message.expires)?;
        properties.serialize_field("references", &references.collect::<Vec<_>>())?;
        properties.serialize_field("area_id", &area.id)?;
        properties.serialize_field("geom_id", &area.geom_id)?;
        properties.serialize_field("area_name", &area.name)?;
        properties.serialize_field("parent_name", &area.parent_name)?;
        properties.serialize_field("city_name", &area.city_name)?;
        properties.serialize_field("state", &state)?;
        properties.serialize_field("last_confirmed", &message.last_confirmed)?;
        properties.end()
    }
}

impl MapLayer for AlertLayer {
    type Properties<'a> = AlertProperties<'a>;

    fn len(&self) -> usize {
        self.messages.len()
    }

    fn feature(&self, index: usize) -> (Geometry<'_>, AlertProperties<'_>) {
        let alert = self.alert(index);
        (alert.area.geometry(), AlertProperties(alert))
    }

    fn id(&self, index: usize) -> Option<FeatureId<'_>> {
        Some(FeatureId::Text(self.alert(index).identifier().into()))
    }
}
