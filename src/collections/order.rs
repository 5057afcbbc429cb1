use std::borrow::Cow;

use crate::model::{Layer, digits};

/// What identifies a feature of a collection.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Id<'a> {
    Number(u64),
    Text(Cow<'a, str>),
}

/// Returns the place of a feature in the order of its collection, which does not change when others are added; `None` if the layer
/// is of no collection, or ends before the index. The features of a layer are in this order.
pub(super) fn order(layer: &Layer, index: usize) -> Option<Id<'_>> {
    Some(match layer {
        Layer::Floods(floods) => Id::Number(floods.areas()[floods.selected().get(index)?.0].id.number()),
        Layer::Areas(areas) => Id::Number(areas.local(index)?.id.number()),
        Layer::Reports(reports) => Id::Number(reports.reports.get(index)?.key.number()),
        Layer::Gauges(gauges) => Id::Text((&*gauges.0.get(index)?.gauge.id).into()),
        Layer::Infrastructure(all) => Id::Number(all.0.get(index).map(|_| index as u64)?),
        Layer::Alerts(alerts) => Id::Number(alerts.get(index)?.area.id.number()),
        Layer::Boundaries(_) => return None,
    })
}

/// Returns the index of the feature with an identifier. Costs O(features).
pub(crate) fn find(layer: &Layer, id: &str) -> Option<usize> {
    if let Layer::Alerts(alerts) = layer {
        return alerts.features().position(|alert| alert.identifier() == id);
    }
    let sought = match layer {
        Layer::Gauges(_) => Id::Text(id.into()),
        _ => Id::Number(digits(id)?),
    };
    (0..layer.len()).find(|index| order(layer, *index).as_ref() == Some(&sought))
}
