use std::collections::{BTreeMap, HashMap};

use geo::{Area, Contains, Coord, InteriorPoint, LineString, MultiPolygon, Polygon};

use super::{Grid, Node, Topology};

impl Topology {
    /// Returns the union of each group of geometries: `groups` has the group of each geometry, below `count`.
    ///
    /// Borders inside a group disappear. All other positions stay as they are on the grid. Where geometries leave a gap, the
    /// union has a hole. Outer rings run counter-clockwise (RFC 7946 §3.1.6). Costs O(positions), and O(holes × rings) within a
    /// group.
    #[must_use]
    pub fn dissolved(&self, groups: &[usize], count: usize) -> Vec<MultiPolygon<f64>> {
        let mut uses = vec![BTreeMap::new(); count];
        for (shape, group) in self.shapes().zip(groups) {
            for arc in shape.polygons().flatten().flatten() {
                // Both sides of a border inside the group use it in opposite directions.
                *uses[*group].entry(arc.arc()).or_insert(0) += if arc.is_reversed() { -1 } else { 1 };
            }
        }
        let Some(grid) = self.grid() else { return vec![MultiPolygon::new(Vec::new()); count] };
        let arcs: Vec<Vec<Node>> = self.arcs().map(Iterator::collect).collect();
        uses.into_iter().map(|uses| surface(rings(&border(&uses, &arcs)), grid)).collect()
    }
}

/// Returns the arcs that a group is on one side of, in the direction in which the group is on their right.
fn border(uses: &BTreeMap<usize, i32>, arcs: &[Vec<Node>]) -> Vec<Vec<Node>> {
    let outside = uses.iter().filter(|(_, uses)| **uses != 0);
    let directed = outside.map(|(arc, uses)| {
        let nodes = arcs[*arc].iter().copied();
        if *uses > 0 { nodes.collect() } else { nodes.rev().collect() }
    });
    directed.filter(|nodes: &Vec<Node>| nodes.len() > 1).collect()
}

/// Joins arcs to rings that pass no node twice.
fn rings(arcs: &[Vec<Node>]) -> Vec<Vec<Node>> {
    let mut from: HashMap<Node, Vec<usize>> = HashMap::new();
    for (index, nodes) in arcs.iter().enumerate() {
        from.entry(nodes[0]).or_default().push(index);
    }
    let mut used = vec![false; arcs.len()];
    let mut rings = Vec::new();
    for first in 0..arcs.len() {
        // The arcs passed since the last ring was closed.
        let mut path: Vec<usize> = Vec::new();
        let mut next = Some(first).filter(|first| !used[*first]);
        while let Some(arc) = next {
            used[arc] = true;
            path.push(arc);
            let end = arcs[arc][arcs[arc].len() - 1];
            if let Some(begin) = path.iter().position(|passed| arcs[*passed][0] == end) {
                rings.push(joined(path.drain(begin..).map(|arc| &arcs[arc])));
            }
            let onward = from.get(&end).into_iter().flatten().copied().filter(|next| !used[*next]);
            next = onward.min_by(|a, b| turn(&arcs[arc], &arcs[*a]).total_cmp(&turn(&arcs[arc], &arcs[*b])));
        }
    }
    rings
}

/// Returns the angle by which one turns left, from -π to π, where an arc ends and another begins.
fn turn(arc: &[Node], next: &[Node]) -> f64 {
    let direction = |from: Node, to: Node| f64::from(to.y - from.y).atan2(f64::from(to.x - from.x));
    let into = direction(arc[arc.len() - 2], arc[arc.len() - 1]);
    let angle = direction(next[0], next[1]) - into;
    angle.sin().atan2(angle.cos())
}

fn joined<'a>(arcs: impl Iterator<Item = &'a Vec<Node>>) -> Vec<Node> {
    let mut ring: Vec<Node> = arcs.flatten().copied().collect();
    ring.dedup();
    ring
}

/// Makes polygons of rings: those that run clockwise are outer rings, the others are holes in them.
fn surface(rings: Vec<Vec<Node>>, grid: &Grid) -> MultiPolygon<f64> {
    let positions =
        |ring: Vec<Node>| ring.into_iter().map(|node| grid.position(node)).collect::<Vec<Coord<f64>>>();
    let closed = rings.into_iter().map(|ring| Polygon::new(LineString(positions(ring)), Vec::new()));
    let with_inside = closed.filter(|ring| ring.signed_area() != 0.0);
    let (mut outer, holes): (Vec<_>, Vec<_>) = with_inside.partition(|ring| ring.signed_area() < 0.0);
    // The smallest outer ring around a hole is the one that has it.
    outer.sort_by(|a, b| a.unsigned_area().total_cmp(&b.unsigned_area()));
    let mut polygons: Vec<_> = outer.into_iter().map(reversed).collect();
    for hole in holes {
        let inside = hole.interior_point();
        let around = polygons.iter_mut().find(|polygon| {
            inside
                .is_some_and(|inside| Polygon::new(polygon.exterior().clone(), Vec::new()).contains(&inside))
        });
        if let Some(around) = around {
            around.interiors_push(reversed(hole).into_inner().0);
        }
    }
    MultiPolygon::new(polygons)
}

fn reversed(ring: Polygon<f64>) -> Polygon<f64> {
    let (mut ring, _) = ring.into_inner();
    ring.0.reverse();
    Polygon::new(ring, Vec::new())
}
