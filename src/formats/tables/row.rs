use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Collection, Column, FieldValue, Kind};
use crate::data::country::Country;
use crate::model::bodies::Accepts;
use crate::model::{
    AlertFeature, Area, FeatureId, FloodState, FloodStatus, Geometry, Hazards, ImageUrl, Layer,
    ObservedGauge, Report,
};

/// The columns of all collections, and the texts that their cells contain.
#[derive(Debug)]
pub(crate) struct TableSchema {
    /// The columns of each collection, in the order of [`Collection::ALL`].
    columns: [Vec<Column>; Collection::ALL.len()],
    attributes: Vec<(String, Kind, &'static str)>,
    depths: [String; FloodState::ALL.len()],
    dry: String,
    photos: Arc<str>,
}

#[derive(Clone, Debug)]
pub(crate) struct FeatureRow<'a> {
    pub(crate) id: FeatureId<'a>,
    pub(crate) geometry: Geometry<'a>,
    pub(crate) cells: Vec<FieldValue<'a>>,
}

const AREA: [(&str, Kind, &str); 5] = [
    ("area_id", Kind::Integer, "The identifier of the local area."),
    ("geom_id", Kind::Text, "The identifier of the outline at the mapping agency."),
    ("area_name", Kind::Text, "The name of the local area."),
    ("parent_name", Kind::Text, "The name of the larger area that it is a part of."),
    ("city_name", Kind::Text, "The name of the city."),
];

impl TableSchema {
    pub(crate) fn new(country: &Country, photos: &str) -> Self {
        let attributes = attributes(country.hazards());
        let columns = Collection::ALL.map(|collection| {
            let fixed = fixed_columns(collection);
            let mut columns: Vec<Column> = fixed
                .into_iter()
                .map(|(name, kind, text)| Column { name: name.into(), kind, description: text.into() })
                .collect();
            if collection == Collection::Flooded {
                // Drops `over_since`, which is always empty for flooded areas.
                columns.pop();
            }
            if collection == Collection::Reports {
                columns.extend(attributes.iter().map(|(name, kind, unit)| Column {
                    name: name.clone().into(),
                    kind: *kind,
                    description: format!("The attribute {name} of the card{unit}.").into(),
                }));
            }
            columns
        });
        let depth = |state: FloodState| country.main().text("depths", &state.code().to_string()).to_owned();
        let dry = country.main().group("map")["script"]["dry"].as_str().unwrap_or_default().to_owned();
        Self { columns, attributes, depths: FloodState::ALL.map(depth), dry, photos: photos.into() }
    }

    pub(crate) fn columns(&self, collection: Collection) -> &[Column] {
        &self.columns[collection as usize]
    }

    pub(crate) fn row<'a>(&'a self, layer: &'a Layer, index: usize) -> Option<FeatureRow<'a>> {
        match layer {
            Layer::Floods(floods) => {
                let (position, status) = *floods.selected().get(index)?;
                Some(self.flood(&floods.areas()[position], status))
            }
            Layer::Areas(areas) => {
                let area = areas.local_area(index)?;
                Some(FeatureRow::area(area, area_cells(area)))
            }
            Layer::Reports(reports) => reports.reports.get(index).map(|report| self.report(report)),
            Layer::Gauges(gauges) => gauges.0.get(index).map(gauge),
            Layer::Infrastructure(items) => items.0.get(index).map(|item| {
                let cells = vec![FieldValue::text(&item.name), FieldValue::text(item.kind.name())];
                FeatureRow { id: FeatureId::Text(item.id.as_str().into()), geometry: item.geometry(), cells }
            }),
            Layer::Alerts(alerts) => alerts.get(index).map(|alert| self.alert(alert)),
            Layer::Boundaries(_) => None,
        }
    }

    fn flood<'a>(&'a self, area: &'a Area, status: FloodStatus) -> FeatureRow<'a> {
        let current = status.current();
        let mut cells = area_cells(area);
        cells.extend(self.state(current.map(|current| current.state)));
        let times = [
            current.map(|current| current.last_updated),
            current.and_then(|current| current.flooded_since),
            current.and_then(|current| current.confirmed),
            status.over_since(),
        ];
        cells.extend(times.map(|time| time.map_or(FieldValue::None, FieldValue::Moment)));
        FeatureRow::area(area, cells)
    }

    /// Returns code and text of a state. A dry area is 0: some programs drop, or read as text, a column that begins with null.
    fn state(&self, state: Option<FloodState>) -> [FieldValue<'_>; 2] {
        let code = state.map_or(0, FloodState::code);
        let words = usize::from(code).checked_sub(1).and_then(|index| self.depths.get(index));
        [FieldValue::integer(code.into()), FieldValue::text(words.unwrap_or(&self.dry))]
    }

    fn report<'a>(&'a self, Report { key, content, tags }: &'a Report) -> FeatureRow<'a> {
        let data = content.report_data.as_deref();
        let data: Map<String, Value> =
            data.and_then(|data| serde_json::from_str(data.get()).ok()).unwrap_or_default();
        let image = content.image_url.as_deref().map(|stored| ImageUrl { stored, photos: &self.photos });
        let report_type = data.get("report_type").and_then(Value::as_str);
        let mut cells = vec![
            FieldValue::integer(key.number()),
            FieldValue::Moment(content.created_at),
            FieldValue::text(&content.source),
            FieldValue::Text(content.disaster_type.to_string().into()),
            report_type.map_or(FieldValue::None, |name| FieldValue::Text(name.to_owned().into())),
            FieldValue::some_text(&content.title),
            FieldValue::some_text(&content.text),
            content.url.as_deref().into(),
            image.map_or(FieldValue::None, |image| FieldValue::Text(image.to_string().into())),
            tags.local_area_id.map_or(FieldValue::None, |area| FieldValue::integer(area.number())),
            tags.instance_region_code.as_deref().into(),
            content.partner_code.as_deref().into(),
        ];
        cells.extend(self.attributes.iter().map(|(name, kind, _)| attribute(data.get(name), *kind)));
        FeatureRow::numbered(key.number(), Geometry::Point(content.location.coord()), cells)
    }

    fn alert<'a>(&'a self, alert: AlertFeature<'a>) -> FeatureRow<'a> {
        let AlertFeature { area, message, status, .. } = alert;
        let identifier = alert.identifier();
        let mut cells = vec![
            FieldValue::Text(identifier.clone().into()),
            FieldValue::text(status.name()),
            FieldValue::text(message.message_type.name()),
            FieldValue::Moment(message.sent),
            FieldValue::Moment(message.expires),
        ];
        cells.extend(area_cells(area));
        cells.extend(self.state(Some(message.state)));
        cells.push(FieldValue::Moment(message.last_confirmed));
        FeatureRow { id: FeatureId::Text(identifier.into()), ..FeatureRow::area(area, cells) }
    }
}

impl<'a> FeatureRow<'a> {
    /// Creates the row of an area. The geometry is always a multipolygon: some programs show only the first row's geometry type.
    fn area(area: &'a Area, cells: Vec<FieldValue<'a>>) -> Self {
        Self::numbered(area.id.number(), Geometry::MultiPolygon(&area.outline), cells)
    }

    fn numbered(number: u64, geometry: Geometry<'a>, cells: Vec<FieldValue<'a>>) -> Self {
        Self { id: FeatureId::Number(number), geometry, cells }
    }
}

/// Returns the name, kind and description of the columns that do not depend on the configuration.
fn fixed_columns(collection: Collection) -> Vec<(&'static str, Kind, &'static str)> {
    use Kind::{Integer, Moment, Number, Text};
    let (before, after): (&[_], &[_]) = match collection {
        Collection::Floods | Collection::Flooded => (
            &[],
            &[
                ("state", Integer, "The flood state from 1 to 4; 0 if no flood is recorded."),
                ("depth", Text, "The depth of the water in words, or that no flood is recorded."),
                ("last_updated", Moment, "When the state was last set, confirmed or restored."),
                ("flooded_since", Moment, "When the flood began. Empty for a moment in the past."),
                (
                    "confirmed",
                    Moment,
                    "When somebody last set or confirmed the state. Empty for a moment in the past.",
                ),
                (
                    "over_since",
                    Moment,
                    "When the last flood of a dry area was over. Empty for a moment in the past.",
                ),
            ],
        ),
        Collection::Areas => (&[], &[]),
        Collection::Reports => {
            return vec![
                ("pkey", Integer, "The identifier of the report."),
                ("created_at", Moment, "When the reporter made it."),
                ("source", Text, "Where it came from: grasp for cards, else the name of the partner's feed."),
                ("disaster_type", Text, "The disaster that it is about."),
                ("report_type", Text, "The type of the report."),
                ("title", Text, "Its title."),
                ("text", Text, "The words of the reporter."),
                ("url", Text, "The card that it came from."),
                ("image_url", Text, "The address of its photo."),
                ("area_id", Integer, "The local area in which it was made."),
                ("region_code", Text, "The province in which it was made (ISO 3166-2)."),
                ("partner_code", Text, "The partner through which it came."),
            ];
        }
        Collection::Gauges => {
            return vec![
                ("gauge_id", Text, "The identifier of the gauge."),
                ("name", Text, "Its name."),
                ("observed_at", Moment, "When its newest reading was made."),
                ("level", Number, "The level of the water in centimetres; negative below the gauge's zero."),
                ("alert_level", Integer, "How alarming that is: 1 is the highest alarm, 4 is none."),
                ("alert_label", Text, "The agency's name for that."),
                (
                    "quality",
                    Integer,
                    "The flag of QARTOD: 1 pass, 2 not evaluated, 3 suspect, 4 fail, 9 missing.",
                ),
                ("critical", Number, "The level in centimetres from which the alert level is 1."),
                ("alert", Number, "The level in centimetres from which the alert level is 2."),
                ("watch", Number, "The level in centimetres from which the alert level is 3."),
            ];
        }
        Collection::Infrastructure | Collection::Floodgates | Collection::Pumps | Collection::Waterways => {
            return vec![
                ("name", Text, "Its name."),
                ("type", Text, "Its kind: floodgates, pumps or waterways."),
            ];
        }
        Collection::Alerts => (
            &[
                ("identifier", Text, "The identifier of the message (CAP 1.2)."),
                ("status", Text, "What the message is for: Actual, Exercise or Test."),
                ("message_type", Text, "Alert, Update or Cancel."),
                ("sent", Moment, "When it was sent."),
                ("expires", Moment, "Until when it is valid."),
            ],
            &[
                ("state", Integer, "The flood state from 1 to 4; of a Cancel, the one that has ended."),
                ("depth", Text, "The depth of the water in words."),
                ("last_confirmed", Moment, "When the state was last set before the message was sent."),
            ],
        ),
    };
    [before, &AREA, after].concat()
}

fn area_cells(area: &Area) -> Vec<FieldValue<'_>> {
    vec![
        FieldValue::integer(area.id.number()),
        FieldValue::some_text(&area.geom_id),
        FieldValue::some_text(&area.name),
        FieldValue::some_text(&area.parent_name),
        FieldValue::some_text(&area.city_name),
    ]
}

fn gauge(ObservedGauge { gauge, observations, .. }: &ObservedGauge) -> FeatureRow<'_> {
    let newest = observations.last();
    let mut cells = vec![
        FieldValue::text(&gauge.id),
        FieldValue::some_text(&gauge.name),
        newest.map_or(FieldValue::None, |newest| FieldValue::Moment(newest.observed_at)),
        newest.map_or(FieldValue::None, |newest| FieldValue::Number(newest.level)),
        newest.map_or(FieldValue::None, |newest| FieldValue::integer(newest.alert.number().into())),
        newest.map_or(FieldValue::None, |newest| FieldValue::some_text(&newest.label)),
        newest.map_or(FieldValue::None, |newest| FieldValue::integer(newest.quality.flag().into())),
    ];
    let levels = gauge.settings.thresholds.map(|thresholds| thresholds.levels()).unwrap_or_default();
    cells.extend(levels.map(|level| level.map_or(FieldValue::None, FieldValue::Number)));
    let id = FeatureId::Text(Cow::Borrowed(&gauge.id));
    FeatureRow { id, geometry: Geometry::Point(gauge.location.coord()), cells }
}

/// Returns the attributes of cards that have a column, in the order of the hazards. Places and radii have no column.
fn attributes(hazards: &Hazards) -> Vec<(String, Kind, &'static str)> {
    let kind = |accepts: &Accepts| match accepts {
        Accepts::Depth(_) => Some((Kind::Integer, " in centimetres")),
        Accepts::Code(_) => Some((Kind::Integer, ", a code")),
        Accepts::Codes(_) => Some((Kind::Text, ", codes with commas between them")),
        Accepts::Measure => Some((Kind::Number, " in metres")),
        Accepts::Truth => Some((Kind::Truth, "")),
        Accepts::Place | Accepts::Radius => None,
    };
    let with_kinds = hazards.attributes.iter().map(|item| (item.name.clone(), kind(&item.accepts)));
    with_kinds.filter_map(|(name, found)| found.map(|(kind, unit)| (name, kind, unit))).collect()
}

/// Converts an attribute to a cell; `None` if its type differs from the column's, as in old data.
fn attribute(value: Option<&Value>, kind: Kind) -> FieldValue<'static> {
    let cell = match (value, kind) {
        (Some(Value::Number(number)), Kind::Integer) => number.as_i64().map(FieldValue::Integer),
        (Some(Value::Number(number)), Kind::Number) => number.as_f64().map(FieldValue::Number),
        (Some(Value::Bool(truth)), Kind::Truth) => Some(FieldValue::Truth(*truth)),
        (Some(Value::Array(codes)), Kind::Text) => {
            let codes: Vec<_> = codes.iter().map(Value::to_string).collect();
            Some(FieldValue::Text(codes.join(",").into()))
        }
        _ => None,
    };
    cell.unwrap_or(FieldValue::None)
}
