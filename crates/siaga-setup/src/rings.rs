//! Joins ways to rings, and rings to polygons.

use std::collections::HashMap;

use geo::coordinate_position::{CoordPos, coord_pos_relative_to_ring};
use geo::orient::{Direction, Orient};
use geo::{Area, BoundingRect, Contains, Coord, LineString, MultiPolygon, Polygon};

/// Ways joined at their ends, as numbers of nodes.
#[derive(Debug, Default)]
pub(crate) struct Joined {
    /// Each begins and ends with the same node, and does not touch itself at another end of a way.
    pub(crate) rings: Vec<Vec<i64>>,
    pub(crate) open: Vec<Vec<i64>>,
}

/// Joins ways, each of which has at least two nodes.
pub(crate) fn join(ways: &[&[i64]]) -> Joined {
    let mut at: HashMap<i64, Vec<usize>> = HashMap::new();
    for (index, way) in ways.iter().enumerate() {
        at.entry(way[0]).or_default().push(index);
        at.entry(way[way.len() - 1]).or_default().push(index);
    }
    let mut used = vec![false; ways.len()];
    let mut joined = Joined::default();
    for start in 0..ways.len() {
        if !used[start] {
            used[start] = true;
            let mut path = Path::new(ways[start]);
            joined.rings.extend(path.cut_ring());
            // Extends the end of the path, and then its beginning.
            for _ in 0..2 {
                while let Some(&next) = at[&path.end()].iter().find(|index| !used[**index]) {
                    used[next] = true;
                    path.extend(ways[next]);
                    joined.rings.extend(path.cut_ring());
                }
                path.reverse();
            }
            if path.nodes.len() > 1 {
                joined.open.push(path.nodes);
            }
        }
    }
    joined
}

struct Path {
    nodes: Vec<i64>,
    /// The indices in `nodes` at which ways end.
    ends: Vec<usize>,
}

impl Path {
    fn new(way: &[i64]) -> Self {
        Self { nodes: way.to_vec(), ends: vec![0, way.len() - 1] }
    }

    fn end(&self) -> i64 {
        self.nodes[self.nodes.len() - 1]
    }

    /// Appends a way that begins or ends at the end of the path.
    fn extend(&mut self, way: &[i64]) {
        if way[0] == self.end() {
            self.nodes.extend(&way[1..]);
        } else {
            self.nodes.extend(way.iter().rev().skip(1));
        }
        self.ends.push(self.nodes.len() - 1);
    }

    /// Cuts off the ring at the end of the path, if the path has come back to an end of one of its ways.
    fn cut_ring(&mut self) -> Option<Vec<i64>> {
        let (_, earlier) = self.ends.split_last()?;
        let found = earlier.iter().rposition(|index| self.nodes[*index] == self.end())?;
        let begin = self.ends[found];
        let ring = self.nodes[begin..].to_vec();
        self.nodes.truncate(begin + 1);
        self.ends.truncate(found + 1);
        Some(ring)
    }

    fn reverse(&mut self) {
        self.nodes.reverse();
        let last = self.nodes.len() - 1;
        self.ends.iter_mut().for_each(|index| *index = last - *index);
        self.ends.reverse();
    }
}

/// Makes polygons of closed rings: a ring in an odd number of others is a hole.
pub(crate) fn polygons(rings: Vec<LineString>) -> MultiPolygon {
    let mut rings: Vec<_> = rings.into_iter().map(|ring| Polygon::new(ring, Vec::new())).collect();
    rings.sort_by(|one, other| other.unsigned_area().total_cmp(&one.unsigned_area()));
    let boxes: Vec<_> = rings.iter().map(BoundingRect::bounding_rect).collect();
    let is_in = |inner: usize, outer: usize| match (boxes[inner], boxes[outer]) {
        (Some(one), Some(other)) => other.contains(&one) || one == other,
        _ => false,
    };
    let mut polygons: Vec<(usize, Polygon)> = Vec::new();
    for (index, ring) in rings.iter().enumerate() {
        let outer = (0..index).filter(|outer| is_in(index, *outer) && is_inside(ring, &rings[*outer]));
        let outer: Vec<_> = outer.collect();
        if outer.len() % 2 == 0 {
            polygons.push((index, ring.clone()));
        } else if let Some((_, polygon)) = polygons.iter_mut().rfind(|(other, _)| outer.contains(other)) {
            polygon.interiors_push(ring.exterior().clone());
        }
    }
    MultiPolygon::new(polygons.into_iter().map(|(_, polygon)| polygon).collect()).orient(Direction::Default)
}

/// Whether a ring lies in another one, which it may touch. Decides by the first position that is not on the border.
fn is_inside(ring: &Polygon, outer: &Polygon) -> bool {
    let position = |at: &Coord| match coord_pos_relative_to_ring(*at, outer.exterior()) {
        CoordPos::Inside => Some(true),
        CoordPos::Outside => Some(false),
        CoordPos::OnBoundary => None,
    };
    ring.exterior().0.iter().find_map(position).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_in_any_order_and_direction_become_one_ring() {
        let joined = join(&[&[3, 4, 1], &[3, 2], &[1, 2]]);
        assert_eq!((joined.rings.len(), joined.open.len()), (1, 0));
        assert_eq!(joined.rings[0].len(), 5);
    }

    #[test]
    fn rings_that_touch_at_a_node_stay_apart() {
        // An eight, whose ways all end at node 1.
        let joined = join(&[&[1, 2, 3], &[3, 1], &[1, 5, 4], &[4, 1]]);
        let mut lengths: Vec<_> = joined.rings.iter().map(Vec::len).collect();
        lengths.sort_unstable();
        assert_eq!((lengths, joined.open.len()), (vec![4, 4], 0));
    }

    #[test]
    fn a_missing_way_leaves_one_open_path() {
        let joined = join(&[&[1, 2], &[3, 4], &[4, 1], &[10, 11, 12, 10]]);
        assert_eq!((joined.rings.len(), joined.open.len()), (1, 1));
        assert_eq!(joined.open[0].len(), 4);
    }

    fn square(from: f64, size: f64) -> LineString {
        let to = from + size;
        vec![(from, from), (to, from), (to, to), (from, to), (from, from)].into()
    }

    #[test]
    fn a_ring_in_a_ring_is_a_hole_and_a_ring_in_a_hole_an_island() {
        let found = polygons(vec![square(2.0, 1.0), square(0.0, 10.0), square(1.0, 5.0), square(20.0, 1.0)]);
        assert_eq!(found.0.len(), 3);
        assert_eq!(found.0[0].interiors().len(), 1);
        assert_eq!(found.unsigned_area(), 100.0 - 25.0 + 1.0 + 1.0);
    }

    #[test]
    fn a_hole_that_touches_the_border_is_a_hole() {
        let hole = vec![(0.0, 0.0), (5.0, 1.0), (5.0, 5.0), (0.0, 0.0)].into();
        let found = polygons(vec![square(0.0, 10.0), hole]);
        assert_eq!((found.0.len(), found.0[0].interiors().len()), (1, 1));
    }
}
