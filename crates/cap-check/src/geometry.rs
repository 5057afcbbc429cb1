//! Polygons and circles as CAP writes them: WGS 84, latitude first.

use geo::{LineString, Polygon, Validation};

use super::document::Element;
use super::finding::{Notes, quote};

/// The maximum number of points of a polygon to check for crossing edges, because the check takes quadratic time.
const MAX_COMPARED: usize = 500;

/// The maximum number of decimals of a degree. The sixth decimal is 11 cm.
const MAX_DECIMALS: usize = 6;

/// Checks a polygon: it must have at least four pairs within range, separated by single spaces. The last pair must equal the
/// first, and edges must not cross.
pub(super) fn polygon(polygon: &Element, notes: &mut Notes) {
    let mut points = Vec::new();
    for pair in polygon.text.split(' ') {
        let Some(point) = point(pair) else {
            return notes.error(
                polygon.line,
                format!("the polygon has {} where a pair should be", quote(pair)),
                "write latitude,longitude in decimal degrees, with one space between pairs (CAP 1.2 §3.2.4, IFRC)",
            );
        };
        points.push(point);
    }
    if points.len() < 4 || points.first() != points.last() {
        return notes.error(
            polygon.line,
            format!("the polygon has {} pairs or is not closed", points.len()),
            "write at least four pairs, the last one equal to the first (CAP 1.2 §3.2.4)",
        );
    }
    if let Some((latitude, longitude)) = points.iter().find(|point| !is_on_earth(**point)) {
        return notes.error(
            polygon.line,
            format!("the pair {latitude},{longitude} is out of range"),
            "write latitude (-90 to 90) first, then longitude (-180 to 180)",
        );
    }
    let outline: LineString = points.iter().map(|(latitude, longitude)| (*longitude, *latitude)).collect();
    if points.len() <= MAX_COMPARED && !Polygon::new(outline, vec![]).is_valid() {
        notes.error(
            polygon.line,
            "edges of the polygon cross or touch",
            "split it into polygons whose edges do not (Google, KDE)",
        );
    }
    decimals(polygon, notes);
}

/// Checks a circle: it must have a pair, one space, and a radius in kilometres.
pub(super) fn circle(circle: &Element, notes: &mut Notes) {
    let parts = circle.text.split_once(' ');
    let read = parts.and_then(|(centre, radius)| Some((point(centre)?, number(radius)?)));
    match read {
        Some((centre, radius)) if is_on_earth(centre) && radius >= 0.0 => {
            if radius == 0.0 {
                notes.recommend(
                    circle.line,
                    "the circle has no extent",
                    "write the radius in km within which to alert people (Google)",
                );
            }
            decimals(circle, notes);
        }
        _ => notes.error(
            circle.line,
            format!("{} is not a valid circle", quote(&circle.text)),
            "write latitude,longitude, one space, and the radius in km (CAP 1.2 §3.2.4)",
        ),
    }
}

fn decimals(shape: &Element, notes: &mut Notes) {
    let longest =
        shape.text.split([' ', ',']).filter_map(|number| Some(number.split_once('.')?.1.len())).max();
    if longest.is_some_and(|decimals| decimals > MAX_DECIMALS) {
        notes.recommend(
            shape.line,
            format!("the {} has more than {MAX_DECIMALS} decimals", shape.name()),
            "round the numbers (Google)",
        );
    }
}

fn point(pair: &str) -> Option<(f64, f64)> {
    let (latitude, longitude) = pair.split_once(',')?;
    Some((number(latitude)?, number(longitude)?))
}

/// Parses a number without an exponent.
fn number(text: &str) -> Option<f64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.".contains(&byte));
    if is_plain { text.parse().ok() } else { None }
}

fn is_on_earth((latitude, longitude): (f64, f64)) -> bool {
    (-90.0..=90.0).contains(&latitude) && (-180.0..=180.0).contains(&longitude)
}
