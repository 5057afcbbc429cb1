use std::sync::Arc;

use geo::{Coord, LineString, MultiPolygon, Polygon};
use serde_json::value::RawValue;

use crate::model::{
    AlertLevel, Area, AreaSet, Attributes, BoundaryLayer, CARD_SOURCE, Course, DisasterType, FloodLayer,
    FloodState, Gauge, GaugeLayer, Infrastructure, InfrastructureKind, InfrastructureLayer,
    InfrastructureShape, Layer, LayerKind, Observation, ObservedGauge, Position, Region, Report,
    ReportContent, ReportKey, ReportLayer, Standing, Tags, Timestamp,
};

/// What a layer that is made up is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sample {
    /// To show what a format writes: one feature, such as there are.
    Plain,
    /// To try a format: everything there can be, features with and without a state, with holes and in pieces, texts that are
    /// hostile and values that are null.
    Hostile,
}

/// A text with what is special in XML, JSON and CSV, and in the comments of XML.
const HOSTILE: &str = "=RW \"01\" & <Söhne>, it's ]]> -- \u{1}\n{{ 1 }}";

impl Sample {
    /// The layer of a kind.
    pub(crate) fn layer(self, kind: LayerKind, now: Timestamp) -> Layer {
        let Some(place) = Position::new(106.83, -6.18) else { return empty(kind) };
        match kind {
            LayerKind::Floods => self.floods(now),
            LayerKind::Reports => self.reports(now, place),
            LayerKind::Gauges => self.gauges(now, place),
            LayerKind::Infrastructure => self.infrastructure(place),
            LayerKind::Boundaries => self.boundaries(),
        }
    }

    fn text(self, plain: &'static str) -> &'static str {
        match self {
            Self::Plain => plain,
            Self::Hostile => HOSTILE,
        }
    }

    /// All of what there can be, or the first.
    fn some<T>(self, all: impl IntoIterator<Item = T>) -> Vec<T> {
        all.into_iter().take(if self == Self::Plain { 1 } else { usize::MAX }).collect()
    }

    fn floods(self, now: Timestamp) -> Layer {
        let states = [Some(FloodState::Minor), None];
        let others = [FloodState::Unknown, FloodState::Moderate, FloodState::Severe].map(Some);
        let areas = (1..=5).filter_map(|number: u64| {
            Some(Area {
                id: number.try_into().ok()?,
                geom_id: format!("317404000400900{number}"),
                name: self.text("RW 09").to_owned(),
                parent_name: if number == 2 { String::new() } else { self.text("GROGOL").to_owned() },
                city_name: self.text("JAKARTA BARAT").to_owned(),
                city_code: "jbd".to_owned(),
                region_code: "ID-JK".to_owned(),
                attributes: self.attributes(number == 2),
                outline: self.outline(number == 3),
            })
        });
        let areas = AreaSet::new(self.some(areas)).unwrap_or_default();
        let standing = |state: Option<FloodState>| state.map(|state| Standing { state, since: now });
        let selected = (0..areas.len()).zip(states.into_iter().chain(others).map(standing)).collect();
        Layer::Floods(FloodLayer::new(Arc::new(areas), selected))
    }

    fn attributes(self, any: bool) -> Option<Attributes> {
        let attributes = serde_json::json!({ "district": self.text("Jakarta Barat"), "code": 31.74 });
        Attributes::try_from(attributes.to_string()).ok().filter(|_| any)
    }

    /// A square; a hostile one has a hole, and perhaps another beside it.
    fn outline(self, in_pieces: bool) -> MultiPolygon<f64> {
        let square = |x: f64, side: f64| {
            let corners = [(0.0, 0.0), (side, 0.0), (side, side), (0.0, side), (0.0, 0.0)];
            corners
                .map(|(dx, dy)| Coord { x: 106.8 + x + dx, y: -6.2 + x + dy })
                .into_iter()
                .collect::<LineString<f64>>()
        };
        let holes = if self == Self::Hostile { vec![square(0.01, 0.01)] } else { vec![] };
        let mut pieces = vec![Polygon::new(square(0.0, 0.03), holes)];
        if in_pieces {
            pieces.push(Polygon::new(square(0.05, 0.01), vec![]));
        }
        MultiPolygon(pieces)
    }

    fn reports(self, now: Timestamp, location: Position) -> Layer {
        let mut data = serde_json::json!({ "report_type": "flood", "flood_depth": 80 });
        if self == Self::Hostile {
            data["note"] = HOSTILE.into();
        }
        let full = ReportContent {
            created_at: now,
            source: self.text(CARD_SOURCE).into(),
            url: Some(self.text("abcdefg").into()),
            image_url: Some(self.text("https://images.example/abcdefg.jpg").into()),
            disaster_type: DisasterType::Flood,
            report_data: RawValue::from_string(data.to_string()).ok(),
            title: self.text("").into(),
            text: self.text("Water up to the knee").into(),
            location,
            is_training: true,
            partner_code: Some(self.text("partner-1").into()),
            partner_icon: Some(self.text("https://images.example/partner-1.png").into()),
        };
        let bare = ReportContent {
            url: None,
            image_url: None,
            disaster_type: DisasterType::Haze,
            report_data: None,
            title: "".into(),
            text: "".into(),
            is_training: false,
            partner_code: None,
            partner_icon: None,
            ..full.clone()
        };
        let nowhere = Tags::default();
        let all = [(ReportKey::FIRST, full, tags()), (ReportKey::LAST, bare, nowhere)];
        let reports = self.some(all.map(|(key, content, tags)| Arc::new(Report { key, content, tags })));
        Layer::Reports(reports.into())
    }

    fn gauges(self, now: Timestamp, location: Position) -> Layer {
        let label = self.text(AlertLevel::Watch.label());
        let reading =
            |level| Observation { observed_at: now, level, alert: AlertLevel::Watch, label: label.into() };
        let gauge = |(id, levels): (&str, &[f64])| {
            let name = self.text("Bendung Katulampa").to_owned();
            let gauge = Gauge { id: id.to_owned(), name, region_code: None, location };
            let observations = levels.iter().copied().map(reading).collect();
            ObservedGauge { gauge: Arc::new(gauge), observations }
        };
        let all: [(&str, &[f64]); 2] = [("TMA00001", &[-165.0, 40.5]), ("TMA00002", &[0.0])];
        Layer::Gauges(GaugeLayer(self.some(all.map(gauge))))
    }

    fn infrastructure(self, place: Position) -> Layer {
        let course = Course::new(&[place, place]).map(InfrastructureShape::Course);
        let of = |kind, shape| {
            let name = self.text("Pompa Pluit").to_owned();
            Arc::new(Infrastructure { kind, name, tags: tags(), shape })
        };
        let pump = of(InfrastructureKind::Pumps, InfrastructureShape::Place(place));
        let course = course.map(|course| of(InfrastructureKind::Waterways, course));
        Layer::Infrastructure(InfrastructureLayer(self.some([pump].into_iter().chain(course))))
    }

    fn boundaries(self) -> Layer {
        let region = |in_pieces| Region {
            code: "ID-JK".to_owned(),
            name: self.text("DKI Jakarta").to_owned(),
            outline: self.outline(in_pieces),
        };
        let regions = self.some([false, true].map(|in_pieces| Arc::new(region(in_pieces))));
        Layer::Boundaries(BoundaryLayer(regions))
    }
}

/// A layer without features.
pub(crate) fn empty(kind: LayerKind) -> Layer {
    match kind {
        LayerKind::Floods => Layer::Floods(FloodLayer::new(Arc::default(), Vec::new())),
        LayerKind::Reports => Layer::Reports(ReportLayer::default()),
        LayerKind::Gauges => Layer::Gauges(GaugeLayer::default()),
        LayerKind::Infrastructure => Layer::Infrastructure(InfrastructureLayer::default()),
        LayerKind::Boundaries => Layer::Boundaries(BoundaryLayer::default()),
    }
}

fn tags() -> Tags {
    Tags { instance_region_code: Some("ID-JK".into()), local_area_id: 1.try_into().ok(), city: None }
}
