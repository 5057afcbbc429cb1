use std::sync::{Arc, OnceLock};

use minijinja::value::{Enumerator, Object, ObjectRepr, Serde, Value};
use minijinja::{Error, ErrorKind};

use super::budget::Budget;
use super::shape_text;
use super::shapes::{Shape, WktGeometry};
use crate::model::Layer;

/// The features of a layer. Each feature is built when the template reaches it, unless the time limit is exceeded.
#[derive(Debug)]
pub(super) struct Features {
    layer: Arc<Layer>,
    budget: Arc<Budget>,
}

/// A feature: `properties`, `geometry` and `wkt`, each built on first use.
#[derive(Debug)]
struct Feature {
    layer: Arc<Layer>,
    index: usize,
    properties: OnceLock<Value>,
}

impl Features {
    pub(super) fn new(layer: &Layer, budget: &Arc<Budget>) -> Self {
        Self { layer: Arc::new(layer.clone()), budget: Arc::clone(budget) }
    }
}

impl Object for Features {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let index = key.as_usize().filter(|&index| index < self.layer.len())?;
        if let Err(error) = self.budget.check_time() {
            return Some(error.into());
        }
        let layer = Arc::clone(&self.layer);
        Some(Value::from_object(Feature { layer, index, properties: OnceLock::new() }))
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.layer.len())
    }
}

impl Object for Feature {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Value> {
        match key {
            "properties" => Some(self.properties.get_or_init(|| self.properties()).clone()),
            "geometry" => Some(Value::from_object(Shape::new(Arc::clone(&self.layer), self.index))),
            "wkt" => {
                let geometry = self.layer.feature(self.index).geometry;
                Some(Value::from(shape_text::wkt(&WktGeometry::Geometry(geometry))))
            }
            _ => None,
        }
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Str(&["properties", "geometry", "wkt"])
    }
}

impl Feature {
    /// Returns the properties as in the JSON responses. Converts them to JSON first: a report contains its data as JSON text.
    fn properties(&self) -> Value {
        match serde_json::to_value(self.layer.feature(self.index).properties) {
            Ok(properties) => Value::from(Serde(properties)),
            Err(error) => Error::new(ErrorKind::BadSerialization, "properties").with_source(error).into(),
        }
    }
}
