//! What an extract has about every place in it: three passes over the file, one for each kind of object.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::SetupError;
use crate::basemap::AreaRelation;
use crate::boundaries::Boundary;
use crate::extract::{Extract, Kind};
use crate::positions::Positions;

pub(crate) struct Survey {
    pub(crate) extract: Extract,
    pub(crate) boundaries: Vec<Boundary>,
    pub(crate) area_relations: Vec<AreaRelation>,
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
        let (boundaries, area_relations): (Vec<_>, Vec<_>) = relations.into_iter().unzip();
        let mut boundaries: Vec<_> = boundaries.into_iter().flatten().collect();
        let area_relations = area_relations.into_iter().flatten().collect();
        let mut seen = HashSet::new();
        boundaries.retain(|boundary| seen.insert(boundary.id));
        let border: HashSet<i64> =
            boundaries.iter().flat_map(|boundary| boundary.ways.iter().copied()).collect();
        let ways = extract.read_ways("Reading borders", |way| border.contains(&way.id()))?;
        let ways: HashMap<_, _> = ways.into_iter().map(|way| (way.id, way.nodes)).collect();
        let positions = Positions::new(ways.values().flatten().copied().collect());
        extract.read(Kind::Node, "Reading positions", |block| positions.fill(block))?;
        for boundary in &mut boundaries {
            boundary.assemble(&ways, &positions);
        }
        Ok(Self { extract, boundaries, area_relations })
    }
}
