//! Writes small OpenStreetMap extracts (`.osm.pbf`): squares as administrative boundaries, and ways between places.

use std::fs;
use std::path::Path;

/// A boundary: a square whose four sides are ways of its own.
#[derive(Clone, Debug)]
pub(crate) struct Square {
    pub(crate) id: i64,
    pub(crate) level: u8,
    pub(crate) name: &'static str,
    /// The longitude and latitude of the lower left corner, in hundredths of a degree.
    pub(crate) at: (i64, i64),
    /// The length of a side, in the same unit.
    pub(crate) size: i64,
    /// Further tags, and those that replace others.
    pub(crate) tags: Vec<(&'static str, &'static str)>,
    /// The sides that the file lacks: 0 to 3.
    pub(crate) missing: Vec<i64>,
    pub(crate) parts: Vec<i64>,
}

impl Square {
    pub(crate) fn new(id: i64, level: u8, name: &'static str, at: (i64, i64), size: i64) -> Self {
        Self { id, level, name, at, size, tags: Vec::new(), missing: Vec::new(), parts: Vec::new() }
    }

    fn node(&self, corner: i64) -> i64 {
        self.id * 10 + corner % 4
    }
}

/// A way through positions in hundredths of a degree.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) id: i64,
    pub(crate) tags: Vec<(&'static str, &'static str)>,
    pub(crate) at: Vec<(i64, i64)>,
}

/// Returns the content of a file. The nodes of lines have the numbers of the line times 1,000 and above.
pub(crate) fn extract(squares: &[Square], lines: &[Line]) -> Vec<u8> {
    let mut block = Block::default();
    for square in squares {
        let (x, y) = square.at;
        let to = (x + square.size, y + square.size);
        for (corner, at) in (0..).zip([(x, y), (to.0, y), to, (x, to.1)]) {
            block.node(square.node(corner), at);
        }
    }
    for line in lines {
        (line.id * 1000..).zip(&line.at).for_each(|(id, at)| block.node(id, *at));
    }
    for square in squares {
        for side in (0..4).filter(|side| !square.missing.contains(side)) {
            block.way(square.id * 10 + side, &[square.node(side), square.node(side + 1)], &[]);
        }
    }
    for line in lines {
        let mut nodes: Vec<_> = (line.id * 1000..).take(line.at.len()).collect();
        if let [first, .., last] = &mut nodes[..]
            && line.at.first() == line.at.last()
        {
            *last = *first;
        }
        block.way(line.id, &nodes, &line.tags);
    }
    for square in squares {
        let level = square.level.to_string();
        let mut tags = vec![
            ("type", "boundary"),
            ("boundary", "administrative"),
            ("admin_level", &level),
            ("name", square.name),
        ];
        tags.retain(|(key, _)| square.tags.iter().all(|(other, _)| other != key));
        tags.extend(&square.tags);
        let ways = (0..4).map(|side| (1, square.id * 10 + side, "outer"));
        let parts = square.parts.iter().map(|part| (2, *part, "subarea"));
        block.relation(square.id, &ways.chain(parts).collect::<Vec<_>>(), &tags);
    }
    let mut header = Message::default();
    for feature in ["OsmSchema-V0.6", "DenseNodes"] {
        header.bytes(4, feature.as_bytes());
    }
    [blob("OSMHeader", &header.0), blob("OSMData", &block.end())].concat()
}

/// Writes an extract with the place "Example" of level 6 and its four areas of level 8, numbered 2 to 5.
pub(crate) fn write(path: &Path) {
    let mut squares = vec![Square::new(1, 6, "Example", (10_680, -620), 4)];
    for (index, name) in (0..).zip(["North", "East", "South", "West"]) {
        squares.push(Square::new(2 + index, 8, name, (10_680 + 2 * (index % 2), -620 + 2 * (index / 2)), 2));
    }
    let road = Line {
        id: 90,
        tags: vec![("highway", "primary"), ("name", "Main road")],
        at: vec![(10_679, -619), (10_685, -617)],
    };
    fs::write(path, extract(&squares, &[road])).unwrap();
}

/// A protocol buffer.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value > 127 {
            self.0.push(value as u8 | 128);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn number(&mut self, field: u64, value: u64) {
        self.varint(field << 3);
        self.varint(value);
    }

    fn bytes(&mut self, field: u64, content: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(content.len() as u64);
        self.0.extend(content);
    }

    fn packed(&mut self, field: u64, values: impl IntoIterator<Item = u64>) {
        let mut all = Self::default();
        values.into_iter().for_each(|value| all.varint(value));
        self.bytes(field, &all.0);
    }
}

/// A signed number as an unsigned one, small if it is near zero.
fn signed(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

fn differences(values: impl IntoIterator<Item = i64>) -> Vec<u64> {
    let mut last = 0;
    let difference = |value| signed(value - std::mem::replace(&mut last, value));
    values.into_iter().map(difference).collect()
}

/// One block, with a group for each kind of object.
struct Block {
    texts: Vec<String>,
    groups: [Message; 3],
}

impl Default for Block {
    fn default() -> Self {
        // The first text is reserved.
        Self { texts: vec![String::new()], groups: Default::default() }
    }
}

impl Block {
    fn text(&mut self, text: &str) -> u64 {
        let known = self.texts.iter().position(|known| known == text);
        known.unwrap_or_else(|| {
            self.texts.push(text.to_owned());
            self.texts.len() - 1
        }) as u64
    }

    fn object(&mut self, id: u64, tags: &[(&str, &str)]) -> Message {
        let (keys, values): (Vec<_>, Vec<_>) =
            tags.iter().map(|(key, value)| (self.text(key), self.text(value))).unzip();
        let mut object = Message::default();
        object.number(1, id);
        object.packed(2, keys);
        object.packed(3, values);
        object
    }

    fn node(&mut self, id: i64, (lon, lat): (i64, i64)) {
        let mut node = self.object(signed(id), &[]);
        // In units of 100 nanodegrees.
        node.number(8, signed(lat * 100_000));
        node.number(9, signed(lon * 100_000));
        self.groups[0].bytes(1, &node.0);
    }

    fn way(&mut self, id: i64, nodes: &[i64], tags: &[(&str, &str)]) {
        let mut way = self.object(id.cast_unsigned(), tags);
        way.packed(8, differences(nodes.iter().copied()));
        self.groups[1].bytes(3, &way.0);
    }

    fn relation(&mut self, id: i64, members: &[(u64, i64, &str)], tags: &[(&str, &str)]) {
        let mut relation = self.object(id.cast_unsigned(), tags);
        let roles: Vec<_> = members.iter().map(|(_, _, role)| self.text(role)).collect();
        relation.packed(8, roles);
        relation.packed(9, differences(members.iter().map(|(_, id, _)| *id)));
        relation.packed(10, members.iter().map(|(kind, _, _)| *kind));
        self.groups[2].bytes(4, &relation.0);
    }

    fn end(self) -> Vec<u8> {
        let mut table = Message::default();
        self.texts.iter().for_each(|text| table.bytes(1, text.as_bytes()));
        let mut block = Message::default();
        block.bytes(1, &table.0);
        self.groups.iter().for_each(|group| block.bytes(2, &group.0));
        block.0
    }
}

fn blob(kind: &str, content: &[u8]) -> Vec<u8> {
    let (mut blob, mut header) = (Message::default(), Message::default());
    blob.bytes(1, content);
    header.bytes(1, kind.as_bytes());
    header.number(3, blob.0.len() as u64);
    let length = u32::try_from(header.0.len()).unwrap().to_be_bytes();
    [&length[..], &header.0, &blob.0].concat()
}
