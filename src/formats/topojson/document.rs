use std::error::Error;

use crate::formats::EncodeContext;
use crate::model::Properties;
use crate::model::lists::{array, separated};
use crate::model::numbers;
use crate::model::topology::{ArcIndex, Grid, Node, Rings, Shape, Topology, Transform};

pub(super) const HEAD: &[u8] =
    br#"{"type":"Topology","objects":{"output":{"type":"GeometryCollection","geometries":["#;
pub(super) const MIDDLE: &[u8] = br#"]}},"arcs":["#;

pub(super) fn write<'a>(
    topology: &Topology,
    properties: impl Iterator<Item = Properties<'a>>,
    context: &EncodeContext,
    out: &mut Vec<u8>,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    out.extend_from_slice(HEAD);
    for (index, (shape, properties)) in topology.shapes().zip(properties).enumerate() {
        context.check()?;
        if index > 0 {
            out.push(b',');
        }
        before_properties(&shape, out);
        serde_json::to_writer(&mut *out, &properties)?;
        after_properties(&shape, topology.grid(), |arc| arc, out);
    }
    out.extend_from_slice(MIDDLE);
    separated(topology.arcs(), out, |nodes, out| arc(nodes, topology.grid(), out));
    end(topology.grid(), topology.grid().map(Grid::bbox), out);
    Ok(())
}

/// Appends a topology without geometries. It has all members that statically typed readers expect.
pub(super) fn write_empty(on_grid: bool, context: &EncodeContext, out: &mut Vec<u8>) {
    out.extend_from_slice(HEAD);
    out.extend_from_slice(MIDDLE);
    out.push(b']');
    if on_grid {
        out.extend_from_slice(br#","transform":{"scale":[1,1],"translate":[0,0]}"#);
    }
    match context.bounds {
        Some(bounds) => bbox(bounds, out),
        None => out.extend_from_slice(br#","bbox":[0,0,0,0]"#),
    }
    out.push(b'}');
}

pub(super) fn before_properties(shape: &Shape<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(match shape {
        Shape::Point(_) => br#"{"type":"Point","properties":"#,
        Shape::LineString(_) => br#"{"type":"LineString","properties":"#,
        Shape::Polygon(_) => br#"{"type":"Polygon","properties":"#,
        Shape::MultiPolygon(_) => br#"{"type":"MultiPolygon","properties":"#,
    });
}

/// Writes the rest of a geometry after its properties; `renumber` returns the arc's number in the document.
pub(super) fn after_properties(
    shape: &Shape<'_>,
    grid: Option<&Grid>,
    mut renumber: impl FnMut(ArcIndex) -> ArcIndex,
    out: &mut Vec<u8>,
) {
    let mut line = |arcs: &[ArcIndex], out: &mut Vec<u8>| {
        array(arcs, out, |&arc, out| numbers::integer(renumber(arc).number(), out));
    };
    let mut rings = |rings: Rings<'_>, out: &mut Vec<u8>| array(rings, out, &mut line);
    match shape.clone() {
        Shape::Point(node) => {
            out.extend_from_slice(br#","coordinates":"#);
            match exact(grid) {
                Some(grid) => degrees(grid, node, out),
                None => numbers::pair([node.x, node.y], out),
            }
            out.push(b'}');
            return;
        }
        Shape::LineString(arcs) => {
            out.extend_from_slice(br#","arcs":"#);
            line(arcs, out);
        }
        Shape::Polygon(polygon) => {
            out.extend_from_slice(br#","arcs":"#);
            rings(polygon, out);
        }
        Shape::MultiPolygon(polygons) => {
            out.extend_from_slice(br#","arcs":"#);
            array(polygons, out, rings);
        }
    }
    out.push(b'}');
}

pub(super) fn arc(nodes: impl ExactSizeIterator<Item = Node>, grid: Option<&Grid>, out: &mut Vec<u8>) {
    match exact(grid) {
        Some(grid) => array(nodes, out, |node, out| degrees(grid, node, out)),
        None => steps(nodes, out),
    }
}

/// Appends an arc as its first position and the steps between positions. Steps of zero length occur only in collapsed arcs, and
/// give rings the four positions that readers require.
fn steps(mut nodes: impl Iterator<Item = Node>, out: &mut Vec<u8>) {
    let Some(first) = nodes.next() else { return out.extend_from_slice(b"[]") };
    out.push(b'[');
    numbers::pair([first.x, first.y], out);
    let mut last = first;
    for node in nodes {
        out.push(b',');
        numbers::pair([node.x - last.x, node.y - last.y], out);
        last = node;
    }
    out.push(b']');
}

/// Returns the grid if its positions are written in degrees, without a transform.
fn exact(grid: Option<&Grid>) -> Option<&Grid> {
    grid.filter(|grid| grid.transform().is_none())
}

fn degrees(grid: &Grid, node: Node, out: &mut Vec<u8>) {
    let at = grid.position(node);
    numbers::position(at.x, at.y, out);
}

/// Closes the list of arcs, and writes the transform and the bounding box if there are any.
pub(super) fn end(grid: Option<&Grid>, bounds: Option<[f64; 4]>, out: &mut Vec<u8>) {
    out.push(b']');
    if let Some(Transform { scale, translate }) = grid.and_then(Grid::transform) {
        out.extend_from_slice(br#","transform":{"scale":"#);
        floats(&scale, out);
        out.extend_from_slice(br#","translate":"#);
        floats(&translate, out);
        out.push(b'}');
    }
    if let Some(bounds) = bounds {
        bbox(bounds, out);
    }
    out.push(b'}');
}

fn bbox(bounds: [f64; 4], out: &mut Vec<u8>) {
    out.extend_from_slice(br#","bbox":"#);
    floats(&bounds, out);
}

fn floats(numbers: &[f64], out: &mut Vec<u8>) {
    array(numbers, out, |&number, out| numbers::float(number, out));
}
