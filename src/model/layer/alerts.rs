use std::borrow::Cow;
use std::sync::Arc;

use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use super::{FeatureId, MapLayer};
use crate::model::alerts::{Issuer, Message, MessageKey, MessageType, Status};
use crate::model::{Area, AreaId, AreaSet, Geometry, Timestamp};

/// Alert messages about areas of one set.
#[derive(Clone, Debug)]
pub struct AlertLayer {
    areas: Arc<AreaSet>,
    messages: Arc<[(usize, Message)]>,
    issuer: Arc<Issuer>,
    status: Option<Status>,
    path: String,
    history: Option<(AreaId, Option<MessageKey>)>,
    changed: Timestamp,
    is_continued: bool,
    may_be_incomplete: bool,
}

/// A message and its area.
#[derive(Clone, Copy, Debug)]
pub struct AlertFeature<'a> {
    /// The area.
    pub area: &'a Area,
    /// The position of the area in its set.
    pub position: usize,
    /// The message.
    pub message: &'a Message,
    /// The issuer of the message.
    pub issuer: &'a Issuer,
    /// The purpose of the message.
    pub status: Status,
}

/// The properties of a message in GeoJSON and TopoJSON.
#[derive(Clone, Copy, Debug)]
pub struct AlertProperties<'a>(AlertFeature<'a>);

impl AlertLayer {
    /// Creates a layer of messages, each with the position of its area in `areas`.
    /// Reading the layer panics if a position is out of range.
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
            may_be_incomplete: false,
        }
    }

    /// Sets the path and query of the layer below the base address, without a leading slash.
    #[must_use]
    pub fn at(self, path: String) -> Self {
        Self { path, ..self }
    }

    /// Makes the layer a page of an area's history: the newest messages, or the messages before the message `before`.
    #[must_use]
    pub(crate) fn history(self, area: AreaId, before: Option<MessageKey>) -> Self {
        Self { history: Some((area, before)), ..self }
    }

    /// Sets when the list last changed.
    #[must_use]
    pub fn changed(self, changed: Timestamp) -> Self {
        Self { changed, ..self }
    }

    /// Marks all messages as part of an exercise.
    #[must_use]
    pub fn into_exercise(self) -> Self {
        Self { status: Some(Status::Exercise), ..self }
    }

    /// Sets the issuer.
    #[must_use]
    pub fn issued_by(self, issuer: Arc<Issuer>) -> Self {
        Self { issuer, ..self }
    }

    /// Sets whether there is a next page with earlier messages about the same area.
    #[must_use]
    pub(crate) fn continued(self, is_continued: bool) -> Self {
        Self { is_continued, ..self }
    }

    /// Sets whether messages may be missing, because a source of the data is silent.
    #[must_use]
    pub(crate) fn doubtful(self, may_be_incomplete: bool) -> Self {
        Self { may_be_incomplete, ..self }
    }

    #[must_use]
    pub(crate) fn may_be_incomplete(&self) -> bool {
        self.may_be_incomplete
    }

    pub(crate) fn issuer(&self) -> &Issuer {
        &self.issuer
    }

    /// Returns the messages.
    #[must_use]
    pub fn features(&self) -> impl ExactSizeIterator<Item = AlertFeature<'_>> + DoubleEndedIterator {
        (0..self.messages.len()).map(|index| self.alert(index))
    }

    pub(crate) fn get(&self, index: usize) -> Option<AlertFeature<'_>> {
        (index < self.messages.len()).then(|| self.alert(index))
    }

    /// Returns the set that the areas belong to.
    #[must_use]
    pub fn areas(&self) -> &Arc<AreaSet> {
        &self.areas
    }

    /// Returns the path and query of the layer below the base address.
    #[must_use]
    pub fn path(&self) -> Cow<'_, str> {
        match self.history {
            Some((area, before)) => self.history_path(area, before).into(),
            None => self.path.as_str().into(),
        }
    }

    #[must_use]
    pub(crate) fn is_history(&self) -> bool {
        self.history.is_some()
    }

    fn history_path(&self, area: AreaId, before: Option<MessageKey>) -> String {
        let before = before.map(|key| format!("&before={}", self.issuer.identifier(area, key)));
        format!("alerts/history?area={area}{}", before.unwrap_or_default())
    }

    #[must_use]
    pub(crate) fn last_changed(&self) -> Timestamp {
        self.changed
    }

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
    #[must_use]
    pub(crate) fn identifier(&self) -> String {
        self.issuer.identifier(self.area.id, self.message.key)
    }
}

impl Serialize for AlertProperties<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let AlertFeature { area, message, issuer, status, .. } = self.0;
        let state = Some(message.state).filter(|_| message.message_type != MessageType::Cancel);
        let references = message.references.iter().map(|reference| issuer.identifier(area.id, reference.key));
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
