use geo::{Coord, LineString, MultiPolygon, Polygon};

use crate::model::{Position, Tags};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sample {
    Plain,
    /// For tests of formats: features with and without a state, holes, several polygons, special characters, null values.
    Hostile,
}

/// Special characters of XML, JSON and CSV, and of XML comments.
const HOSTILE: &str = "=RW \"01\" & <Söhne>, it's ]]> -- \u{1}\n{{ 1 }}";

impl Sample {
    pub(super) fn text(self, plain: &'static str) -> &'static str {
        self.hostile_text().unwrap_or(plain)
    }

    pub(super) fn hostile_text(self) -> Option<&'static str> {
        (self == Self::Hostile).then_some(HOSTILE)
    }

    pub(super) fn limit<T>(self, all: impl IntoIterator<Item = T>) -> Vec<T> {
        all.into_iter().take(if self == Self::Plain { 1 } else { usize::MAX }).collect()
    }

    pub(super) fn place() -> Position {
        Position::JAKARTA
    }

    pub(super) fn tags() -> Tags {
        Tags {
            instance_region_code: Some("ID-JK".into()),
            local_area_id: 1.try_into().ok(),
            district_id: Some("3174".into()),
            city: None,
        }
    }

    pub(super) fn outline(self, in_pieces: bool) -> MultiPolygon<f64> {
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
}
