use std::sync::Arc;

use geo::{Coord, LineString, MultiPolygon, Polygon};
use serde_json::value::RawValue;

use crate::model::{
    AlertLevel, Area, AreaSet, BoundaryLayer, Course, DisasterType, FloodLayer, FloodState, Gauge,
    GaugeLayer, Infrastructure, InfrastructureKind, InfrastructureLayer, InfrastructureShape, Layer,
    LayerKind, Observation, ObservedGauge, Position, Region, Report, ReportContent, ReportKey, ReportLayer,
    Standing, Tags, Timestamp,
};

/// A text with what is special in XML, JSON and CSV, and in the comments of XML.
const HOSTILE: &str = "=RW \"01\" & <Söhne>, it's ]]> -- \u{1}\n{{ 1 }}";

/// A layer with everything that templates get to see: features with and without a state, with holes and in pieces, texts that
/// are hostile and values that are null.
pub(super) fn layer(kind: LayerKind, now: Timestamp) -> Layer {
    let Some(place) = Position::new(106.83, -6.18) else { return empty(kind) };
    match kind {
        LayerKind::Floods => floods(now),
        LayerKind::Reports => reports(now, place),
        LayerKind::Gauges => gauges(now, place),
        LayerKind::Infrastructure => infrastructure(place),
        LayerKind::Boundaries => boundaries(),
    }
}

/// A layer without features.
pub(super) fn empty(kind: LayerKind) -> Layer {
    match kind {
        LayerKind::Floods => Layer::Floods(FloodLayer::new(Arc::default(), Vec::new())),
        LayerKind::Reports => Layer::Reports(ReportLayer::default()),
        LayerKind::Gauges => Layer::Gauges(GaugeLayer::default()),
        LayerKind::Infrastructure => Layer::Infrastructure(InfrastructureLayer::default()),
        LayerKind::Boundaries => Layer::Boundaries(BoundaryLayer::default()),
    }
}

fn floods(now: Timestamp) -> Layer {
    let states = FloodState::ALL.into_iter().map(Some).chain([None]);
    let areas = (1..=5).filter_map(|number: u64| {
        Some(Area {
            id: number.try_into().ok()?,
            geom_id: format!("317404000400900{number}"),
            name: HOSTILE.to_owned(),
            parent_name: if number == 2 { String::new() } else { HOSTILE.to_owned() },
            city_name: HOSTILE.to_owned(),
            city_code: "jbd".to_owned(),
            region_code: "ID-JK".to_owned(),
            outline: outline(number == 1),
        })
    });
    let areas = AreaSet::new(areas.collect()).unwrap_or_default();
    let standing = |state: Option<FloodState>| state.map(|state| Standing { state, since: now });
    let selected = (0..areas.len()).zip(states.map(standing)).collect();
    Layer::Floods(FloodLayer::new(Arc::new(areas), selected))
}

/// A square with a hole, and perhaps another beside it.
fn outline(in_pieces: bool) -> MultiPolygon<f64> {
    let square = |x: f64, side: f64| {
        let corners = [(0.0, 0.0), (side, 0.0), (side, side), (0.0, side), (0.0, 0.0)];
        corners
            .map(|(dx, dy)| Coord { x: 106.8 + x + dx, y: -6.2 + x + dy })
            .into_iter()
            .collect::<LineString<f64>>()
    };
    let mut pieces = vec![Polygon::new(square(0.0, 0.03), vec![square(0.01, 0.01)])];
    if in_pieces {
        pieces.push(Polygon::new(square(0.05, 0.01), vec![]));
    }
    MultiPolygon(pieces)
}

fn reports(now: Timestamp, location: Position) -> Layer {
    let data = serde_json::json!({ "report_type": "flood", "flood_depth": 80, "note": HOSTILE });
    let data = RawValue::from_string(data.to_string()).ok();
    let full = ReportContent {
        created_at: now,
        source: HOSTILE.into(),
        url: Some(HOSTILE.into()),
        image_url: Some(HOSTILE.into()),
        disaster_type: DisasterType::Flood,
        report_data: data,
        title: HOSTILE.into(),
        text: HOSTILE.into(),
        location,
    };
    let bare = ReportContent {
        url: None,
        image_url: None,
        disaster_type: DisasterType::Haze,
        report_data: None,
        title: "".into(),
        text: "".into(),
        ..full.clone()
    };
    let report = |key, content, tags| Arc::new(Report { key, content, tags });
    Layer::Reports(ReportLayer(vec![
        report(ReportKey::FIRST, full, tags()),
        report(ReportKey::LAST, bare, Tags { instance_region_code: None, local_area_id: None }),
    ]))
}

fn gauges(now: Timestamp, location: Position) -> Layer {
    let reading =
        |level| Observation { observed_at: now, level, alert: AlertLevel::Watch, label: HOSTILE.into() };
    let gauge = |id: &str, observations| ObservedGauge {
        gauge: Arc::new(Gauge { id: id.to_owned(), name: HOSTILE.to_owned(), region_code: None, location }),
        observations,
    };
    Layer::Gauges(GaugeLayer(vec![
        gauge("TMA00001", vec![reading(-165.0), reading(40.5)]),
        gauge("TMA00002", vec![reading(0.0)]),
    ]))
}

fn infrastructure(place: Position) -> Layer {
    let course = Course::new(&[place, place]).map(InfrastructureShape::Course);
    let of = |kind, shape| Arc::new(Infrastructure { kind, name: HOSTILE.to_owned(), tags: tags(), shape });
    let course = course.map(|course| of(InfrastructureKind::Waterways, course));
    let pump = of(InfrastructureKind::Pumps, InfrastructureShape::Place(place));
    Layer::Infrastructure(InfrastructureLayer([pump].into_iter().chain(course).collect()))
}

fn boundaries() -> Layer {
    let region = |in_pieces| Region {
        code: "ID-JK".to_owned(),
        name: HOSTILE.to_owned(),
        outline: outline(in_pieces),
    };
    Layer::Boundaries(BoundaryLayer([true, false].map(|in_pieces| Arc::new(region(in_pieces))).to_vec()))
}

fn tags() -> Tags {
    Tags { instance_region_code: Some("ID-JK".into()), local_area_id: 1.try_into().ok() }
}
