//! What an extract has about every place in it: three passes over the file, one for each kind of object.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use geo::Coord;

use crate::SetupError;
use crate::basemap::{AreaRelation, BasemapKind};
use crate::boundaries::Boundary;
use crate::extract::{Extract, Kind};
use crate::positions::{Positions, degrees, for_each_node};

pub(crate) struct Survey {
    pub(crate) extract: Extract,
    pub(crate) boundaries: Vec<Boundary>,
    pub(crate) area_relations: Vec<AreaRelation>,
    /// Names of towns and quarters.
    pub(crate) places: Vec<(String, Coord)>,
    /// The positions of a sample of the nodes of roads, waters and parks.
    pub(crate) samples: Positions,
}

/// Every 16th node of a way and its last one tell where the way is: roads and rivers have a node at least every 100 m.
const SAMPLE: usize = 16;

pub(crate) fn samples<T>(nodes: &[T]) -> impl Iterator<Item = &T> {
    nodes.iter().step_by(SAMPLE).chain(nodes.last())
}

impl Survey {
    pub(crate) fn new(path: &Path) -> Result<Self, SetupError> {
        let extract = Extract::open(path)?;
        let relations = extract.read(Kind::Relation, "Reading boundaries", |block| {
            let relations = || block.groups().flat_map(|group| group.relations());
            let boundaries: Vec<_> = relations().filter_map(|relation| Boundary::new(&relation)).collect();
            let areas: Vec<_> = relations().filter_map(|relation| AreaRelation::new(&relation)).collect();
            (boundaries, areas)
        })?;
        let (mut boundaries, mut area_relations) = (Vec::new(), Vec::new());
        for (mut some_boundaries, mut some_areas) in relations {
            boundaries.append(&mut some_boundaries);
            area_relations.append(&mut some_areas);
        }
        let border: HashSet<i64> =
            boundaries.iter().flat_map(|boundary| boundary.ways.iter().copied()).collect();
        let members: HashSet<i64> =
            area_relations.iter().flat_map(|area| area.ways.iter().copied()).collect();
        let ways = extract.read(Kind::Way, "Reading borders", |block| {
            let (mut of_borders, mut sampled) = (Vec::new(), Vec::new());
            for way in block.groups().flat_map(|group| group.ways()) {
                let nodes = || way.refs().collect::<Vec<_>>();
                if border.contains(&way.id()) {
                    of_borders.push((way.id(), nodes()));
                }
                if members.contains(&way.id()) || BasemapKind::of_way(&way).is_some() {
                    sampled.extend(samples(&nodes()));
                }
            }
            (of_borders, sampled)
        })?;
        let (mut of_borders, mut wanted) = (HashMap::new(), Vec::new());
        for (some_borders, mut some_samples) in ways {
            of_borders.extend(some_borders);
            wanted.append(&mut some_samples);
        }
        wanted.extend(of_borders.values().flatten());
        let samples = Positions::new(wanted);
        let places = extract.read(Kind::Node, "Reading places", |block| {
            samples.fill(block);
            let mut places = Vec::new();
            for_each_node(block, |_, (lon, lat), tags| places.extend(place(tags, degrees(lon, lat))));
            places
        })?;
        for boundary in &mut boundaries {
            boundary.assemble(&of_borders, &samples);
        }
        Ok(Self {
            extract,
            boundaries,
            area_relations,
            places: places.into_iter().flatten().collect(),
            samples,
        })
    }
}

/// Returns the name and position of a node that is a place where people live.
fn place(tags: &mut dyn Iterator<Item = (&str, &str)>, at: Coord) -> Option<(String, Coord)> {
    const PLACES: [&str; 6] = ["city", "town", "suburb", "quarter", "neighbourhood", "village"];
    let (mut is_place, mut name) = (false, None);
    for (key, value) in tags {
        match key {
            "place" => is_place = PLACES.contains(&value),
            "name" => name = Some(value.to_owned()),
            _ => {}
        }
    }
    name.filter(|_| is_place).map(|name| (name, at))
}
