use crate::model::{FeatureId, Layer};

/// Returns a feature's sort key, ascending and stable within a layer; `None` without a collection, or if out of range.
pub(super) fn order(layer: &Layer, index: usize) -> Option<FeatureId<'_>> {
    Some(match layer {
        Layer::Infrastructure(all) => FeatureId::Number(all.0.get(index).map(|_| index as u64)?),
        Layer::Alerts(alerts) => FeatureId::Number(alerts.get(index)?.area.id.number()),
        _ if index < layer.len() => layer.id(index)?,
        _ => return None,
    })
}

pub(crate) fn find(layer: &Layer, id: &str) -> Option<usize> {
    if let Layer::Alerts(alerts) = layer {
        let (area, key) = alerts.issuer().parse(id)?;
        return alerts.features().position(|alert| alert.area.id == area && alert.message.key == key);
    }
    (0..layer.len()).find(|index| layer.id(*index).is_some_and(|own| own.is(id)))
}
