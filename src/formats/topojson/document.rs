use serde::Serialize;
use serde::ser::{SerializeMap, SerializeSeq, Serializer};

use super::grid::{Grid, Node};
use super::topology::{Shape, Topology};
use crate::model::Properties;

/// Appends the topology to `out`, its geometries with the properties in the same order.
pub(super) fn write<'a>(
    topology: &Topology,
    properties: impl Iterator<Item = Properties<'a>> + Clone,
    out: &mut Vec<u8>,
) -> serde_json::Result<()> {
    serde_json::to_writer(out, &Document { topology, properties })
}

struct Document<'a, P> {
    topology: &'a Topology,
    properties: P,
}

impl<'a, P: Iterator<Item = Properties<'a>> + Clone> Serialize for Document<'_, P> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { topology, properties } = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", "Topology")?;
        map.serialize_entry("objects", &Objects { output: Collection { topology, properties } })?;
        map.serialize_entry("arcs", &Arcs(topology))?;
        if let Some(grid) = topology.grid() {
            map.serialize_entry("transform", &Transform::from(grid))?;
            map.serialize_entry("bbox", &grid.bbox())?;
        }
        map.end()
    }
}

#[derive(Serialize)]
struct Transform {
    scale: [f64; 2],
    translate: [f64; 2],
}

impl From<&Grid> for Transform {
    fn from(grid: &Grid) -> Self {
        Self { scale: grid.scale(), translate: grid.translate() }
    }
}

#[derive(Serialize)]
struct Objects<C> {
    output: C,
}

struct Collection<'a, P> {
    topology: &'a Topology,
    properties: &'a P,
}

impl<'a, P: Iterator<Item = Properties<'a>> + Clone> Serialize for Collection<'_, P> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("type", "GeometryCollection")?;
        map.serialize_entry("geometries", &Geometries(self))?;
        map.end()
    }
}

struct Geometries<'a, P>(&'a Collection<'a, P>);

impl<'a, P: Iterator<Item = Properties<'a>> + Clone> Serialize for Geometries<'_, P> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Collection { topology, properties } = self.0;
        serializer.collect_seq(
            topology
                .shapes()
                .zip((*properties).clone())
                .map(|(shape, properties)| Geometry { shape, properties }),
        )
    }
}

struct Geometry<'a, 'p> {
    shape: Shape<'a>,
    properties: Properties<'p>,
}

impl Serialize for Geometry<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let type_name = match self.shape {
            Shape::Point(_) => "Point",
            Shape::LineString(_) => "LineString",
            Shape::Polygon(_) => "Polygon",
            Shape::MultiPolygon(_) => "MultiPolygon",
        };
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("type", type_name)?;
        map.serialize_entry("properties", &self.properties)?;
        match &self.shape {
            Shape::Point(node) => map.serialize_entry("coordinates", &[node.x, node.y]),
            Shape::LineString(line) => map.serialize_entry("arcs", line),
            Shape::Polygon(rings) => map.serialize_entry("arcs", rings),
            Shape::MultiPolygon(polygons) => map.serialize_entry("arcs", polygons),
        }?;
        map.end()
    }
}

struct Arcs<'a>(&'a Topology);

impl Serialize for Arcs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let arcs = self.0.arcs();
        let mut seq = serializer.serialize_seq(Some(arcs.len()))?;
        for arc in arcs {
            seq.serialize_element(&differences(arc))?;
        }
        seq.end()
    }
}

/// An arc as its first position and the steps from each position to the next, without steps of no length but with
/// at least one, for an arc has two positions or more.
fn differences(arc: impl Iterator<Item = Node>) -> Vec<[i32; 2]> {
    let mut last = Node { x: 0, y: 0 };
    let mut steps: Vec<[i32; 2]> = Vec::new();
    for node in arc {
        let step = [node.x - last.x, node.y - last.y];
        if steps.is_empty() || step != [0, 0] {
            steps.push(step);
        }
        last = node;
    }
    if steps.len() == 1 {
        steps.push([0, 0]);
    }
    steps
}
