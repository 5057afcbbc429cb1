//! Reads an OpenStreetMap extract (`.osm.pbf`) on all cores, as often as needed, without keeping it in memory.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::thread;

use indicatif::{ProgressBar, ProgressStyle};
use osmpbf::{BlobReader, BlobType, ByteOffset, PrimitiveBlock, Way};

use crate::SetupError;
use crate::boundaries::on_one_line;

/// Features of files that this reader supports. Others, such as the history of objects, would be misread.
const FEATURES: [&str; 2] = ["OsmSchema-V0.6", "DenseNodes"];

/// The kinds of objects, as bits.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Node = 1,
    Way = 2,
    Relation = 4,
}

/// A part of the file that can be read alone. `kinds` has all bits until the block is read for the first time.
struct Block {
    offset: u64,
    kinds: AtomicU8,
}

pub(crate) struct Extract {
    path: PathBuf,
    blocks: Vec<Block>,
}

impl Extract {
    /// Finds the blocks of a file.
    pub(crate) fn open(path: &Path) -> Result<Self, SetupError> {
        let damaged = |error: osmpbf::Error| damaged(path, &error);
        let file = File::open(path).map_err(|error| SetupError::failed(path.display(), error))?;
        let mut reader = BlobReader::new_seekable(BufReader::new(file)).map_err(damaged)?;
        let header = reader.next().transpose().map_err(damaged)?.map(|blob| blob.to_headerblock());
        let Some(header) = header.transpose().map_err(damaged)? else {
            return Err(SetupError::failed(path.display(), "the file is empty"));
        };
        let unknown = header.required_features().iter().find(|name| !FEATURES.contains(&name.as_str()));
        if let Some(name) = unknown {
            return Err(SetupError::failed(
                path.display(),
                format!("has the feature {name}, which is not supported: use an extract without it"),
            ));
        }
        let mut blocks = Vec::new();
        while let Some(header) = reader.next_header_skip_blob() {
            let (header, offset) = header.map_err(damaged)?;
            // A negative size would lead back, again and again.
            if header.get_blob_size() < 0 {
                return Err(SetupError::failed(path.display(), "is damaged: download it again"));
            }
            if header.blob_type() == BlobType::OsmData {
                blocks.push(Block {
                    offset: offset.map_or(0, |offset| offset.0),
                    kinds: AtomicU8::new(u8::MAX),
                });
            }
        }
        Ok(Self { path: path.to_owned(), blocks })
    }

    /// Returns the ways that fulfil a condition.
    pub(crate) fn read_ways(
        &self,
        task: &str,
        is_wanted: impl Fn(&Way<'_>) -> bool + Sync,
    ) -> Result<Vec<ExtractWay>, SetupError> {
        let found = self.read(Kind::Way, task, |block| {
            let ways = block.groups().flat_map(|group| group.ways()).filter(|way| is_wanted(way));
            let keep = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
            ways.map(|way| ExtractWay {
                id: way.id(),
                nodes: way.refs().collect(),
                tags: way.tags().map(keep).collect(),
            })
            .collect::<Vec<_>>()
        })?;
        Ok(found.into_iter().flatten().collect())
    }

    /// Calls `read` with each block that has objects of a kind, on all cores, and returns the results in the order of the file.
    pub(crate) fn read<T: Send>(
        &self,
        kind: Kind,
        task: &str,
        read: impl Fn(&PrimitiveBlock) -> T + Sync,
    ) -> Result<Vec<T>, SetupError> {
        let wanted = |block: &&Block| block.kinds.load(Ordering::Relaxed) & kind as u8 != 0;
        let blocks: Vec<_> = self.blocks.iter().filter(wanted).collect();
        // The bar is drawn only on a terminal.
        let style = ProgressStyle::with_template("{msg:24} {wide_bar} {percent} %, {eta} to go");
        let bar = ProgressBar::new(blocks.len() as u64).with_message(task.to_owned());
        let bar = style.map_or(bar.clone(), |style| bar.with_style(style));
        let next = AtomicUsize::new(0);
        let work = || {
            let mut reader = BlobReader::from_path(&self.path)?;
            let mut results = Vec::new();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(block) = blocks.get(index) else { return Ok(results) };
                let decoded = reader.blob_from_offset(ByteOffset(block.offset))?.to_primitiveblock()?;
                block.kinds.store(kinds(&decoded), Ordering::Relaxed);
                results.push((index, read(&decoded)));
                bar.inc(1);
            }
        };
        let workers = thread::available_parallelism().map_or(1, usize::from);
        let results: Vec<Result<_, osmpbf::Error>> = thread::scope(|scope| {
            let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
            workers.into_iter().filter_map(|worker| worker.join().ok()).collect()
        });
        bar.finish_and_clear();
        let mut ordered = Vec::with_capacity(blocks.len());
        for result in results {
            ordered.extend(result.map_err(|error| damaged(&self.path, &error))?);
        }
        // A worker ends early only if the reader of the file panics at wrong numbers in it.
        if ordered.len() < blocks.len() {
            return Err(damaged(&self.path, &"it has wrong numbers"));
        }
        ordered.sort_unstable_by_key(|(index, _)| *index);
        Ok(ordered.into_iter().map(|(_, result)| result).collect())
    }
}

/// A way with its tags, apart from the block that it was read from.
pub(crate) struct ExtractWay {
    pub(crate) id: i64,
    pub(crate) nodes: Vec<i64>,
    tags: Vec<(String, String)>,
}

impl ExtractWay {
    pub(crate) fn tags(&self) -> impl Iterator<Item = (&str, &str)> {
        self.tags.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }
}

/// Returns the name in a language, or else the local name.
pub(crate) fn name_of<'t>(tags: impl Iterator<Item = (&'t str, &'t str)>, language: &str) -> Option<String> {
    let mut local = None;
    for (key, value) in tags {
        if key.strip_prefix("name:") == Some(language) {
            return Some(on_one_line(value));
        }
        if key == "name" {
            local = Some(on_one_line(value));
        }
    }
    local
}

fn damaged(path: &Path, error: &dyn std::fmt::Display) -> SetupError {
    SetupError::failed(path.display(), format!("is not a complete .osm.pbf file, download it again: {error}"))
}

fn kinds(block: &PrimitiveBlock) -> u8 {
    let groups = block.groups().map(|group| {
        let has_nodes = group.nodes().next().is_some() || group.dense_nodes().next().is_some();
        let kinds = [
            (has_nodes, Kind::Node),
            (group.ways().next().is_some(), Kind::Way),
            (group.relations().next().is_some(), Kind::Relation),
        ];
        kinds.into_iter().filter(|(has, _)| *has).fold(0, |bits, (_, kind)| bits | kind as u8)
    });
    groups.fold(0, |all, kinds| all | kinds)
}
