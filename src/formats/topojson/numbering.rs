use super::grid::Node;

/// The number of a node: equal positions have equal numbers.
pub(super) type NodeId = u32;

/// Nodes and their numbers, from 0 in the order of their first coming.
///
/// A hash table in which neighbours are near one another. The map is divided into cells; each has a part of the table to
/// itself, with room for all its positions, and nodes are found there by hash. Lines come one after the other and go
/// from neighbour to neighbour, so the parts that are asked for are in the processor's cache, however large the map
/// is: a table of one part would be out of it with every question. However nodes are dealt out to cells, a number is
/// found in O(1).
#[derive(Debug)]
pub(super) struct Numbering {
    /// The nodes by number.
    pub(super) nodes: Vec<Node>,
    cells: Cells,
    /// Where the part of each cell begins in `slots`; it ends where that of the next begins.
    parts: Vec<usize>,
    /// Numbers plus one; 0 is free.
    slots: Vec<u32>,
}

impl Numbering {
    /// A numbering that has room for these positions and those only.
    pub(super) fn for_positions(positions: &[Node], last: Node) -> Self {
        let cells = Cells::over(last, positions.len());
        let mut parts = vec![0; cells.count() + 1];
        for &node in positions {
            parts[cells.of(node) + 1] += 1;
        }
        // A quarter more than there are positions: enough if no two were equal, and mostly there are two of each.
        for cell in 1..parts.len() {
            parts[cell] += parts[cell - 1] + parts[cell] / 4 + 1;
        }
        // Zeroed memory is cheaper than memory filled with anything else.
        let slots = vec![0; parts.last().copied().unwrap_or(0)];
        // Most borders are shared by two.
        let nodes = Vec::with_capacity(positions.len() / 2);
        Self { nodes, cells, parts, slots }
    }

    /// The number of a node, a new one when it comes for the first time.
    pub(super) fn number(&mut self, node: Node) -> NodeId {
        let cell = self.cells.of(node);
        let part = &mut self.slots[self.parts[cell]..self.parts[cell + 1]];
        // The upper half of the hash, scaled down to the size of the part.
        let mut at = (((hash(node) >> 32) * part.len() as u64) >> 32) as usize;
        // A part is never full, so this ends.
        loop {
            match part[at].checked_sub(1) {
                None => {
                    // The number of positions in memory is far below u32::MAX: each takes 16 bytes.
                    let id = self.nodes.len() as NodeId;
                    self.nodes.push(node);
                    part[at] = id + 1;
                    return id;
                }
                Some(id) if self.nodes[id as usize] == node => return id,
                Some(_) => at = if at + 1 == part.len() { 0 } else { at + 1 },
            }
        }
    }
}

/// A hash whose upper half depends on all of the node (Knuth's multiplicative hashing).
fn hash(Node { x, y }: Node) -> u64 {
    ((u64::from(y as u32) << 32) | u64::from(x as u32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Squares of the grid, row by row, about one for 64 positions.
#[derive(Clone, Copy, Debug)]
struct Cells {
    /// The side of a cell is two to this power.
    shift: u32,
    columns: usize,
    rows: usize,
}

impl Cells {
    fn over(last: Node, positions: usize) -> Self {
        let enough = (positions / 64).max(1);
        let of = |shift: u32| {
            let along = |last: i32| (last >> shift) as usize + 1;
            Self { shift, columns: along(last.x), rows: along(last.y) }
        };
        // At 31 there is one cell.
        (0..31).map(of).find(|cells| cells.count() <= enough).unwrap_or_else(|| of(31))
    }

    fn count(&self) -> usize {
        self.columns * self.rows
    }

    fn of(&self, Node { x, y }: Node) -> usize {
        (y >> self.shift) as usize * self.columns + (x >> self.shift) as usize
    }
}
