use std::fmt;
use std::str::FromStr;

use super::order::order;
use super::{Collection, FeatureRow, FieldValue, TableSchema, ValueFilter};
use crate::model::{BoundingBox, FeatureId, Layer, Timestamp, digits};
use crate::stores::Revision;

/// Which features a request selects, and which page of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Selection {
    /// The bounding box; `None` selects features everywhere.
    pub(crate) part: Option<BoundingBox>,
    pub(crate) time: Option<TimeFilter>,
    pub(crate) values: Vec<(usize, ValueFilter)>,
    /// The maximum number of features on the page, at least 1.
    pub(crate) limit: usize,
    pub(crate) after: Option<PageCursor>,
    pub(crate) offset: usize,
}

pub(crate) struct Selected {
    pub(crate) features: Vec<usize>,
    pub(crate) has_more: bool,
    /// The rest of the offset: the number of features to skip in the next layer.
    pub(crate) left_out: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be four numbers with commas between them: west, south, east and north in degrees, longitudes from -180 to 180, latitudes \
     from -90 to 90"
)]
pub(crate) struct InvalidBbox;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TimeFilter {
    At(Timestamp),
    /// Both times are included; an open end is the first or last possible time.
    Between(Timestamp, Timestamp),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a time such as 2026-01-30T17:00:00Z, or two with / between them, of which one may be ..")]
pub(crate) struct InvalidTimeFilter;

/// A position between two pages: the key of the last feature before it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PageCursor {
    /// The revision of places when the cursor was created, if an import can replace the features.
    pub(crate) places: Option<Revision>,
    last_key: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be the cursor in a link of an earlier page")]
pub(crate) struct InvalidPageCursor;

/// Parses `bbox` (OGC API – Features 1.0 §7.15.3). Ignores heights, the third and sixth of six numbers.
pub(crate) fn parse_bbox(text: &str) -> Result<BoundingBox, InvalidBbox> {
    let numbers: Vec<f64> =
        text.split(',').map(str::parse).collect::<Result<_, _>>().map_err(|_| InvalidBbox)?;
    let ([west, south, east, north] | [west, south, _, east, north, _]) = *numbers.as_slice() else {
        return Err(InvalidBbox);
    };
    BoundingBox::exact([west, south, east, north]).ok_or(InvalidBbox)
}

fn touches(bbox: &BoundingBox, layer: &Layer, index: usize) -> bool {
    match layer {
        Layer::Floods(floods) => floods.areas().touches(floods.selected()[index].0, bbox),
        Layer::Alerts(alerts) => {
            alerts.get(index).is_some_and(|alert| alerts.areas().touches(alert.position, bbox))
        }
        _ => bbox.touches(layer.feature(index).geometry),
    }
}

impl FromStr for TimeFilter {
    type Err = InvalidTimeFilter;

    /// Parses `datetime` (OGC API – Features 1.0 §7.15.4).
    fn from_str(text: &str) -> Result<Self, InvalidTimeFilter> {
        let moment = |text: &str| Timestamp::parse(text).map_err(|_| InvalidTimeFilter);
        let is_open = |text: &str| matches!(text, "" | "..");
        let Some((from, until)) = text.split_once('/') else { return moment(text).map(Self::At) };
        if is_open(from) && is_open(until) {
            return Err(InvalidTimeFilter);
        }
        let from = if is_open(from) { Timestamp::EPOCH } else { moment(from)? };
        let until = if is_open(until) { Timestamp::LAST } else { moment(until)? };
        if from <= until { Ok(Self::Between(from, until)) } else { Err(InvalidTimeFilter) }
    }
}

impl TimeFilter {
    pub(crate) fn ends(self) -> (Timestamp, Timestamp) {
        match self {
            Self::At(moment) => (moment, moment),
            Self::Between(from, until) => (from, until),
        }
    }
}

impl PageCursor {
    pub(crate) fn feature(
        collection: Collection,
        places: Revision,
        layer: &Layer,
        index: usize,
    ) -> Option<String> {
        let last_key = match order(layer, index)? {
            FeatureId::Number(number) => number.to_string(),
            FeatureId::Text(text) => text.into_owned(),
        };
        let places = collection.is_imported().then_some(places);
        Some(Self { places, last_key }.to_string())
    }

    pub(crate) fn report(number: u64) -> String {
        Self { places: None, last_key: number.to_string() }.to_string()
    }

    pub(crate) fn parse(collection: Collection, text: &str) -> Result<Self, InvalidPageCursor> {
        let (places, last_key) = text.split_once('.').ok_or(InvalidPageCursor)?;
        let places = digits(places).ok_or(InvalidPageCursor)?;
        if last_key.is_empty() || collection != Collection::Gauges && digits(last_key).is_none() {
            return Err(InvalidPageCursor);
        }
        let places = collection.is_imported().then_some(Revision(places));
        Ok(Self { places, last_key: last_key.to_owned() })
    }

    pub(crate) fn last_number(&self) -> Option<u64> {
        digits(&self.last_key)
    }

    /// Returns the index of the first feature after the cursor.
    fn next(&self, layer: &Layer) -> usize {
        let is_before = |index: usize| match order(layer, index) {
            Some(FeatureId::Number(number)) => self.last_number().is_some_and(|last| number <= last),
            Some(FeatureId::Text(text)) => *text <= *self.last_key,
            None => true,
        };
        let (mut low, mut high) = (0, layer.len());
        while low < high {
            let middle = low.midpoint(high);
            if is_before(middle) { low = middle + 1 } else { high = middle }
        }
        low
    }
}

impl fmt::Display for PageCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Revision(places) = self.places.unwrap_or(Revision(0));
        write!(f, "{places}.{}", self.last_key)
    }
}

impl Selection {
    pub(crate) fn is_everything(&self) -> bool {
        self.part.is_none() && self.values.is_empty()
    }

    /// Returns up to `most` selected features of a layer after skipping `offset`. Costs O(features after the cursor).
    pub(crate) fn apply(&self, layer: &Layer, tables: &TableSchema, most: usize, offset: usize) -> Selected {
        let first = self.after.as_ref().map_or(0, |after| after.next(layer));
        let mut selected = (first..layer.len()).filter(|index| self.selects(layer, *index, tables));
        let left_out = offset - selected.by_ref().take(offset).count();
        let features = selected.by_ref().take(most).collect();
        Selected { features, has_more: selected.next().is_some(), left_out }
    }

    fn selects(&self, layer: &Layer, index: usize, tables: &TableSchema) -> bool {
        if !self.part.as_ref().is_none_or(|part| touches(part, layer, index)) {
            return false;
        }
        if self.values.is_empty() && self.time.is_none() {
            return true;
        }
        let Some(row) = tables.row(layer, index) else { return false };
        let has = |(column, value): &(usize, ValueFilter)| {
            row.cells.get(*column).is_some_and(|cell| value.matches(cell))
        };
        self.values.iter().all(has) && self.is_in_time(layer, &row)
    }

    /// Returns whether a report or alert is in the selected time. Always true for other layers, which the store selects by time.
    fn is_in_time(&self, layer: &Layer, row: &FeatureRow<'_>) -> bool {
        let columns = match layer {
            Layer::Reports(_) => [1, 1],
            Layer::Alerts(_) => [3, 4],
            _ => return true,
        };
        let Some((from, until)) = self.time.map(TimeFilter::ends) else { return true };
        let [begins, ends] = columns.map(|column| &row.cells[column]);
        matches!((begins, ends), (FieldValue::Moment(begins), FieldValue::Moment(ends)) if *begins <= until && *ends >= from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bbox_is_parsed_as_in_the_standard() {
        for (text, boxes) in [
            ("106.7,-6.3,106.9,-6.1", Some(1)),
            ("170,-20,-170,-10", Some(2)),
            ("106.7,-6.1,106.9,-6.3", Some(1)),
            ("106.7,-6.3,106.9,91", None),
        ] {
            assert_eq!(parse_bbox(text).ok().map(|part| part.halves().count()), boxes, "{text}");
        }
    }

    #[test]
    fn a_time_filter_is_a_time_or_an_interval_with_at_most_one_open_end() {
        let moment = |text| Timestamp::parse(text).unwrap();
        let (one, two) = ("2026-01-30T17:00:00Z", "2026-01-30T18:00:00Z");
        for (text, time) in [
            (one.to_owned(), Some(TimeFilter::At(moment(one)))),
            (format!("{one}/{two}"), Some(TimeFilter::Between(moment(one), moment(two)))),
            (format!("../{two}"), Some(TimeFilter::Between(Timestamp::EPOCH, moment(two)))),
            (format!("{one}/"), Some(TimeFilter::Between(moment(one), Timestamp::LAST))),
            (format!("{two}/{one}"), None),
            ("/".to_owned(), None),
            (format!("{one}/{two}/{two}"), None),
        ] {
            assert_eq!(text.parse::<TimeFilter>().ok(), time, "{text}");
        }
    }
}
