//! A mesh of irregular quadrilaterals that covers the city.

use geo::{Contains, Coord, LineString, Polygon};

use super::noise::noise;

/// Side of a cell before its corners are moved, in degrees (about 500 m).
const SIDE: f64 = 0.00448;
const WEST: f64 = 106.68;
const SOUTH: f64 = -6.38;
const COLUMNS: usize = 67;
const ROWS: usize = 67;
/// How far a corner may move, in sides.
const CORNER_JITTER: f64 = 0.27;
/// How far the middle of a border bends, as a fraction of the border; each halving of the border halves it.
const BEND: f64 = 0.13;
/// A border is halved this many times: 2³ segments.
const HALVINGS: u32 = 3;

/// The approximate boundary of the city: the coast is in the north; counter-clockwise from the north-east.
const OUTLINE: [(f64, f64); 24] = [
    (106.972, -6.098),
    (106.945, -6.092),
    (106.908, -6.106),
    (106.872, -6.101),
    (106.832, -6.121),
    (106.800, -6.106),
    (106.760, -6.104),
    (106.722, -6.091),
    (106.690, -6.096),
    (106.688, -6.122),
    (106.691, -6.166),
    (106.716, -6.191),
    (106.716, -6.226),
    (106.741, -6.236),
    (106.756, -6.291),
    (106.790, -6.321),
    (106.800, -6.364),
    (106.842, -6.356),
    (106.871, -6.369),
    (106.919, -6.366),
    (106.911, -6.331),
    (106.921, -6.286),
    (106.946, -6.250),
    (106.956, -6.191),
];

/// A place in the mesh: one neighbourhood.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    pub(super) column: usize,
    pub(super) row: usize,
}

/// A place where four cells meet, by column and row.
type Corner = (usize, usize);

/// Returns the approximate boundary of the city. An area belongs to the city if its centre is within it.
pub(super) fn outline() -> Polygon<f64> {
    let ring = OUTLINE.iter().map(|&(x, y)| Coord { x, y }).collect();
    Polygon::new(LineString(ring), Vec::new())
}

/// Returns the cells whose centre lies within the boundary.
pub(super) fn cells() -> Vec<Cell> {
    let outline = outline();
    (0..ROWS)
        .flat_map(|row| (0..COLUMNS).map(move |column| Cell { column, row }))
        .filter(|cell| outline.contains(&cell.centre()))
        .collect()
}

impl Cell {
    /// Returns the centre of the cell before its corners were moved.
    pub(super) fn centre(self) -> Coord<f64> {
        Coord { x: WEST + SIDE * (self.column as f64 + 0.5), y: SOUTH + SIDE * (self.row as f64 + 0.5) }
    }

    /// Returns the border, closed, counter-clockwise.
    pub(super) fn ring(self) -> Vec<Coord<f64>> {
        let Self { column, row } = self;
        let south_west = (column, row);
        let south_east = (column + 1, row);
        let north_east = (column + 1, row + 1);
        let north_west = (column, row + 1);
        let mut ring = vec![place(south_west)];
        for (from, to) in [
            (south_west, south_east),
            (south_east, north_east),
            (north_east, north_west),
            (north_west, south_west),
        ] {
            border(from, to, &mut ring);
        }
        ring
    }
}

/// Returns where a corner lies.
fn place((column, row): Corner) -> Coord<f64> {
    let jitter = |axis| CORNER_JITTER * noise([column as u64, row as u64, axis]);
    rounded(Coord {
        x: WEST + SIDE * (column as f64 + jitter(0)),
        y: SOUTH + SIDE * (row as f64 + jitter(1)),
    })
}

/// Adds the border between two neighbouring corners to `ring`, without its first position.
///
/// Both cells at the border draw it from the lower corner, so that both get the same line.
fn border(from: Corner, to: Corner, ring: &mut Vec<Coord<f64>>) {
    let (first, last) = (from.min(to), from.max(to));
    let key = [first.0 as u64, first.1 as u64, u64::from(first.0 == last.0)];
    let mut line = vec![place(first), place(last)];
    for level in 0..HALVINGS {
        line = halved(&line, key, level);
    }
    if from == first {
        ring.extend(line.into_iter().skip(1));
    } else {
        ring.extend(line.into_iter().rev().skip(1));
    }
}

/// Returns the line with every segment bent at its middle.
fn halved(line: &[Coord<f64>], [column, row, direction]: [u64; 3], level: u32) -> Vec<Coord<f64>> {
    let bend = BEND / f64::from(1 << level);
    let mut halved = vec![line[0]];
    for (index, pair) in (0u64..).zip(line.windows(2)) {
        let (from, to) = (pair[0], pair[1]);
        let by = bend * noise([column << 32 | row, direction, u64::from(level) << 32 | index]);
        let middle = Coord {
            x: f64::midpoint(from.x, to.x) - by * (to.y - from.y),
            y: f64::midpoint(from.y, to.y) + by * (to.x - from.x),
        };
        halved.extend([rounded(middle), to]);
    }
    halved
}

/// Rounds to 7 decimals, about a centimetre.
fn rounded(coord: Coord<f64>) -> Coord<f64> {
    let round = |degrees: f64| (degrees * 1e7).round() / 1e7;
    Coord { x: round(coord.x), y: round(coord.y) }
}
