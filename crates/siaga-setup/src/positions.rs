use std::sync::atomic::{AtomicU64, Ordering};

use geo::{Coord, LineString};
use osmpbf::PrimitiveBlock;

/// The positions of chosen nodes: 16 bytes for each.
pub(crate) struct Positions {
    /// Sorted.
    ids: Vec<i64>,
    /// Longitude and latitude in units of 1e-7 degrees, in one number so that several threads can fill the table.
    packed: Vec<AtomicU64>,
}

/// No node has this position.
const UNKNOWN: u64 = pack(i32::MIN, i32::MIN);

const fn pack(lon: i32, lat: i32) -> u64 {
    (lon.cast_unsigned() as u64) << 32 | lat.cast_unsigned() as u64
}

impl Positions {
    pub(crate) fn new(mut ids: Vec<i64>) -> Self {
        ids.sort_unstable();
        ids.dedup();
        ids.shrink_to_fit();
        let packed = ids.iter().map(|_| AtomicU64::new(UNKNOWN)).collect();
        Self { ids, packed }
    }

    /// Stores the positions of the chosen nodes in a block. Fast if the nodes are sorted, as in nearly all files.
    pub(crate) fn fill(&self, block: &PrimitiveBlock) {
        let (mut index, mut last) = (0, i64::MAX);
        for_each_node(block, |id, (lon, lat), _| {
            if id < last {
                index = self.ids.partition_point(|other| *other < id);
            }
            last = id;
            while self.ids.get(index).is_some_and(|other| *other < id) {
                index += 1;
            }
            if self.ids.get(index) == Some(&id) {
                self.packed[index].store(pack(lon, lat), Ordering::Relaxed);
            }
        });
    }

    /// Returns the position of a node; `None` if it was not chosen or the file does not have it.
    pub(crate) fn get(&self, id: i64) -> Option<Coord> {
        let packed = self.packed[self.ids.binary_search(&id).ok()?].load(Ordering::Relaxed);
        let (lon, lat) = ((packed >> 32) as i32, packed as i32);
        (packed != UNKNOWN).then(|| degrees(lon, lat))
    }

    /// Returns the positions of those nodes that have one.
    pub(crate) fn line(&self, nodes: &[i64]) -> LineString {
        nodes.iter().filter_map(|node| self.get(*node)).collect()
    }
}

pub(crate) fn degrees(lon: i32, lat: i32) -> Coord {
    Coord { x: f64::from(lon) / 1e7, y: f64::from(lat) / 1e7 }
}

/// Calls `each` with the number, the position (longitude, latitude in 1e-7 degrees) and the tags of each node.
pub(crate) fn for_each_node(
    block: &PrimitiveBlock,
    mut each: impl FnMut(i64, (i32, i32), &mut dyn Iterator<Item = (&str, &str)>),
) {
    for group in block.groups() {
        for node in group.nodes() {
            each(node.id(), (node.decimicro_lon(), node.decimicro_lat()), &mut node.tags());
        }
        for node in group.dense_nodes() {
            each(node.id(), (node.decimicro_lon(), node.decimicro_lat()), &mut node.tags());
        }
    }
}
