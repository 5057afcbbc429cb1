//! Lines of positions, in ten-millionths of a degree: longitude, then latitude.

use std::collections::HashMap;

pub(super) type Point = [i32; 2];
pub(super) type Line = Vec<Point>;

/// Joins two lines where no other line ends. Maps split roads wherever a property changes; simplifying needs the whole road.
pub(super) fn join(lines: Vec<Line>) -> Vec<Line> {
    let mut ends: HashMap<Point, Vec<usize>> = HashMap::with_capacity(lines.len());
    for (number, line) in lines.iter().enumerate() {
        for end in [line.first(), line.last()].into_iter().flatten() {
            ends.entry(*end).or_default().push(number);
        }
    }
    let mut unjoined: Vec<Option<Line>> = lines.into_iter().map(Some).collect();
    let mut joined = Vec::new();
    for number in 0..unjoined.len() {
        let Some(mut line) = unjoined[number].take() else { continue };
        // Extend the end, then the beginning.
        for _ in 0..2 {
            while let Some(next) = next(&line, &ends, &mut unjoined) {
                line.extend(next);
            }
            line.reverse();
        }
        joined.push(line);
    }
    joined
}

/// Removes the line that continues this one from `unjoined`. Returns it without the shared position.
fn next(line: &Line, ends: &HashMap<Point, Vec<usize>>, unjoined: &mut [Option<Line>]) -> Option<Line> {
    let end = *line.last()?;
    let &[one, other] = ends.get(&end)?.as_slice() else { return None };
    let mut next = unjoined[one].take().or_else(|| unjoined[other].take())?;
    if next.first() != Some(&end) {
        next.reverse();
    }
    next.remove(0);
    Some(next)
}

/// Removes positions that are closer than `tolerance` to the simplified line (Douglas-Peucker).
pub(super) fn simplify(line: &[Point], tolerance: f64) -> Line {
    let Some(last) = line.len().checked_sub(1) else { return Line::new() };
    let mut is_kept = vec![false; line.len()];
    is_kept[0] = true;
    is_kept[last] = true;
    let mut parts = vec![(0, last)];
    while let Some((from, to)) = parts.pop() {
        let between = (from + 1..to).map(|at| (distance_squared(line[at], line[from], line[to]), at));
        let Some((far, at)) = between.max_by(|(one, _), (other, _)| one.total_cmp(other)) else { continue };
        if far > tolerance * tolerance {
            is_kept[at] = true;
            parts.extend([(from, at), (at, to)]);
        }
    }
    line.iter().zip(is_kept).filter_map(|(place, is_kept)| is_kept.then_some(*place)).collect()
}

fn distance_squared(point: Point, from: Point, to: Point) -> f64 {
    let [[x, y], [ax, ay], [bx, by]] = [point, from, to].map(|point| point.map(f64::from));
    let (dx, dy) = (bx - ax, by - ay);
    let length_squared = dx * dx + dy * dy;
    let fraction = if length_squared > 0.0 {
        (((x - ax) * dx + (y - ay) * dy) / length_squared).clamp(0.0, 1.0)
    } else {
        0.0
    };
    (x - ax - fraction * dx).powi(2) + (y - ay - fraction * dy).powi(2)
}

/// Returns the bounds of lines: west, south, east, north.
pub(super) fn bounds<'a>(lines: impl IntoIterator<Item = &'a Line>) -> [i32; 4] {
    let none = [i32::MAX, i32::MAX, i32::MIN, i32::MIN];
    lines.into_iter().flatten().fold(none, |[west, south, east, north], &[x, y]| {
        [west.min(x), south.min(y), east.max(x), north.max(y)]
    })
}

pub(super) fn length(line: &[Point]) -> f64 {
    let step = |pair: &[Point]| {
        let [dx, dy] = [0, 1].map(|axis| f64::from(pair[1][axis]) - f64::from(pair[0][axis]));
        dx.hypot(dy)
    };
    line.windows(2).map(step).sum()
}

/// Returns the parts of a line that may touch a box.
pub(super) fn clip_line(line: &[Point], [west, south, east, north]: [i32; 4]) -> Vec<Line> {
    let touches = |[one, other]: [Point; 2]| {
        one[0].min(other[0]) <= east
            && one[0].max(other[0]) >= west
            && one[1].min(other[1]) <= north
            && one[1].max(other[1]) >= south
    };
    let mut clipped: Vec<Line> = Vec::new();
    let mut is_open = false;
    for pair in line.windows(2) {
        if !touches([pair[0], pair[1]]) {
            is_open = false;
            continue;
        }
        match clipped.last_mut().filter(|_| is_open) {
            Some(part) => part.push(pair[1]),
            None => clipped.push(pair.to_vec()),
        }
        is_open = true;
    }
    clipped
}

/// Clips a ring to a box (Sutherland-Hodgman). Returns an empty line if nothing is left.
pub(super) fn clip_ring(ring: &[Point], [west, south, east, north]: [i32; 4]) -> Line {
    let mut ring: Line = ring.to_vec();
    for (axis, limit, is_least) in [(0, west, true), (0, east, false), (1, south, true), (1, north, false)] {
        let is_inside = |point: Point| if is_least { point[axis] >= limit } else { point[axis] <= limit };
        let mut cut = Line::with_capacity(ring.len());
        for pair in ring.windows(2) {
            let [from, to] = [pair[0], pair[1]];
            if is_inside(from) {
                cut.push(from);
            }
            if is_inside(from) != is_inside(to) {
                let cross = 1 - axis;
                let [along, across] = [axis, cross].map(|axis| f64::from(to[axis]) - f64::from(from[axis]));
                let fraction = (f64::from(limit) - f64::from(from[axis])) / along;
                let mut crossing = [limit; 2];
                crossing[cross] = (f64::from(from[cross]) + fraction * across).round() as i32;
                cut.push(crossing);
            }
        }
        if let Some(first) = cut.first().copied() {
            cut.push(first);
        }
        ring = cut;
    }
    ring
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_continue_each_other_become_one_and_crossings_stay() {
        let road = vec![vec![[0, 0], [1, 0]], vec![[3, 0], [2, 0]], vec![[1, 0], [2, 0]]];
        let all = join(road);
        assert_eq!(all.len(), 1, "{all:?}");
        assert!(matches!(
            all[0].as_slice(),
            [[0, 0], [1, 0], [2, 0], [3, 0]] | [[3, 0], [2, 0], [1, 0], [0, 0]]
        ));
        let crossing = vec![vec![[0, 0], [1, 0]], vec![[1, 0], [2, 0]], vec![[1, 0], [1, 1]]];
        assert_eq!(join(crossing.clone()), crossing, "three lines meet");
        let circle = vec![vec![[0, 0], [1, 0], [1, 1]], vec![[1, 1], [0, 1], [0, 0]]];
        assert_eq!(join(circle).iter().map(Vec::len).collect::<Vec<_>>(), [5], "it ends");
    }

    #[test]
    fn a_line_keeps_the_positions_that_lie_off_it() {
        assert_eq!(simplify(&[[0, 0], [50, 1], [100, 0]], 2.0), [[0, 0], [100, 0]]);
        assert_eq!(simplify(&[[0, 0], [50, 3], [100, 0]], 2.0), [[0, 0], [50, 3], [100, 0]]);
        let ring = [[0, 0], [100, 0], [100, 100], [0, 100], [0, 0]];
        assert_eq!(simplify(&ring, 2.0), ring);
        assert_eq!(simplify(&[], 2.0), Line::new());
        // `simplify` must not recurse, because lines may have any length.
        let steps: Line = (0..200_000).map(|at| [at, at % 2 * 10]).collect();
        assert_eq!(simplify(&steps[..2_000], 20.0).len(), 2);
    }

    #[test]
    fn lines_and_rings_are_clipped_to_a_box() {
        let line = [[0, 0], [10, 0], [50, 0], [90, 0], [100, 0]];
        assert_eq!(clip_line(&line, [20, -5, 40, 5]), [vec![[10, 0], [50, 0]]]);
        assert_eq!(clip_line(&line, [20, 5, 40, 9]), Vec::<Line>::new());
        let there_and_back = [[0, 0], [30, 0], [100, 0], [100, 20], [30, 4], [0, 4]];
        assert_eq!(clip_line(&there_and_back, [20, -5, 40, 5]).len(), 2, "it comes back");
        let ring = [[0, 0], [100, 0], [100, 100], [0, 100], [0, 0]];
        assert_eq!(
            clip_ring(&ring, [50, 50, 200, 200]),
            [[100, 50], [100, 100], [50, 100], [50, 50], [100, 50]]
        );
        assert_eq!(clip_ring(&ring, [200, 200, 300, 300]), Line::new());
    }
}
