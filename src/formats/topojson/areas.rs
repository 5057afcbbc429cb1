//! Writes areas. Everything except states and labels is rendered once per set of areas.

use geo::Rect;
use rustc_hash::FxHashMap;

use super::Quantization;
use super::document;
use crate::formats::area_text::{AreaText, TrailingProperties};
use crate::formats::memo::LazyValue;
use crate::model::lists::separated;
use crate::model::topology::{self, ArcIndex, Grid, Shapes, Topology};
use crate::model::{Area, AreaSelector, AreaSet, union_rect};

/// The size from which a set counts as large. Its topology takes 0.1 s or more to build, so small selections do not wait for it.
const LARGE: usize = 10_000;

/// The topologies of a set: of each city and of the whole, built on first use. A selection in one city uses that of the city.
#[derive(Debug)]
pub(super) struct Scopes {
    /// For each area, the index of its city, and the area's index within the city.
    position_in_city: Vec<(usize, usize)>,
    areas_per_city: Vec<usize>,
    cities: Vec<LazyValue<Scope>>,
    whole: LazyValue<Scope>,
}

impl Scopes {
    pub(super) fn new(set: &AreaSet) -> Self {
        let mut city_indices: FxHashMap<&str, usize> = FxHashMap::default();
        let mut sizes = Vec::new();
        let mut positions = Vec::with_capacity(set.len());
        for area in set {
            let next = sizes.len();
            let city = *city_indices.entry(&area.city_code).or_insert(next);
            if city == next {
                sizes.push(0);
            }
            positions.push((city, sizes[city]));
            sizes[city] += 1;
        }
        let cities = sizes.iter().map(|_| LazyValue::default()).collect();
        Self { position_in_city: positions, areas_per_city: sizes, cities, whole: LazyValue::default() }
    }

    /// Writes areas from the topology of their city or of the whole set, or from a topology built for this selection.
    pub(super) fn write(
        &self,
        set: &AreaSet,
        selected: impl ExactSizeIterator<Item = (usize, TrailingProperties)> + Clone,
        quantization: Quantization,
        out: &mut Vec<u8>,
    ) -> serde_json::Result<()> {
        match self.city(selected.clone().map(|(position, _)| position)) {
            Some(city) => {
                let areas =
                    || set.iter().zip(&self.position_in_city).filter(|(_, position)| position.0 == city);
                let build_scope = || Scope::new(None, areas().map(|(area, _)| area), quantization);
                self.cities[city].get(build_scope)?.write(
                    selected,
                    |position| self.position_in_city[position].1,
                    out,
                )
            }
            None if self.is_worth_a_topology(selected.len()) => {
                let around = set.around(&AreaSelector::default());
                let areas = selected.clone().map(|(position, _)| &set[position]);
                let selected = selected.enumerate().map(|(index, (_, last))| (index, last));
                Scope::new(around, areas, quantization)?.write_some(selected, out)
            }
            None => {
                let whole = self.whole.get(|| Scope::new(None, set.iter(), quantization))?;
                whole.write(selected, |position| position, out)
            }
        }
    }

    /// Returns whether a topology of the selection alone is faster: the set is large, its topology is not built yet, and the
    /// selection is small. Both topologies use the same grid, so they have the same positions.
    fn is_worth_a_topology(&self, selected: usize) -> bool {
        let all = self.position_in_city.len();
        all >= LARGE && selected <= all / 8 && self.whole.built().is_none()
    }

    fn city(&self, selected: impl Iterator<Item = usize>) -> Option<usize> {
        let mut cities = selected.map(|position| self.position_in_city[position].0);
        let first = cities.next()?;
        (self.areas_per_city.len() > 1 && cities.all(|city| city == first)).then_some(first)
    }
}

/// The rendered topology of some areas, without their last properties.
#[derive(Debug)]
struct Scope {
    features: AreaText,
    shapes: Shapes,
    bounds: Vec<Option<Rect<f64>>>,
    arcs: Vec<u8>,
    /// For each arc, the offset in `arcs` at which its text ends.
    ends: Vec<usize>,
    grid: Option<Grid>,
}

impl Scope {
    fn new<'a>(
        whole: Option<Rect<f64>>,
        areas: impl Iterator<Item = &'a Area> + Clone,
        quantization: Quantization,
    ) -> serde_json::Result<Self> {
        let geometries: Vec<_> = areas.clone().map(Area::geometry).collect();
        let topology = Topology::bounded(whole, &geometries, quantization.fineness(&geometries));
        let mut features = AreaText::new()?;
        for (area, shape) in areas.zip(topology.shapes()) {
            let before = |text: &mut Vec<u8>| document::before_properties(&shape, text);
            let after =
                |text: &mut Vec<u8>| document::after_properties(&shape, topology.grid(), |arc| arc, text);
            features.push(area, before, after)?;
        }
        // Most steps between positions are shorter than eight characters.
        let mut arcs = Vec::with_capacity(8 * topology.arcs().map(|arc| arc.len()).sum::<usize>());
        let mut ends = Vec::with_capacity(topology.arcs().len());
        for arc in topology.arcs() {
            if !arcs.is_empty() {
                arcs.push(b',');
            }
            document::arc(arc, topology.grid(), &mut arcs);
            ends.push(arcs.len());
        }
        let (grid, shapes, bounds) = topology.into_shapes();
        Ok(Self { features, shapes, bounds, arcs, ends, grid })
    }

    fn write(
        &self,
        selected: impl ExactSizeIterator<Item = (usize, TrailingProperties)> + Clone,
        index_in_scope: impl Fn(usize) -> usize,
        out: &mut Vec<u8>,
    ) -> serde_json::Result<()> {
        let selected = selected.map(|(position, last)| (index_in_scope(position), last));
        let all = self.features.len() == selected.len()
            && selected.clone().enumerate().all(|(number, (index, _))| index == number);
        if all { self.write_all(selected.map(|(_, last)| last), out) } else { self.write_some(selected, out) }
    }

    fn write_all(
        &self,
        all: impl ExactSizeIterator<Item = TrailingProperties>,
        out: &mut Vec<u8>,
    ) -> serde_json::Result<()> {
        // A state adds about 30 bytes to an area.
        out.reserve(self.features.size() + 32 * all.len() + self.arcs.len() + 512);
        out.extend_from_slice(document::HEAD);
        self.features.append_all(all, out)?;
        out.extend_from_slice(document::MIDDLE);
        out.extend_from_slice(&self.arcs);
        document::end(self.grid.as_ref(), self.grid.as_ref().map(Grid::bbox), out);
        Ok(())
    }

    fn write_some(
        &self,
        selected: impl Iterator<Item = (usize, TrailingProperties)>,
        out: &mut Vec<u8>,
    ) -> serde_json::Result<()> {
        let mut used = UsedArcs::default();
        let mut bounds: Option<Rect<f64>> = None;
        out.extend_from_slice(document::HEAD);
        let mut is_first = true;
        for (index, last) in selected {
            if !is_first {
                out.push(b',');
            }
            is_first = false;
            self.features.append_to_properties(index, last, out)?;
            let (shape, grid) = (self.shapes.get(index), self.grid.as_ref());
            document::after_properties(&shape, grid, |arc| used.number(arc), out);
            bounds = bounds.into_iter().chain(self.bounds[index]).reduce(union_rect);
        }
        out.extend_from_slice(document::MIDDLE);
        separated(&used.order, out, |&arc, out| out.extend_from_slice(self.arc(arc)));
        document::end(self.grid.as_ref(), bounds.map(topology::bbox), out);
        Ok(())
    }

    fn arc(&self, arc: usize) -> &[u8] {
        let start = arc.checked_sub(1).map_or(0, |before| self.ends[before] + 1);
        &self.arcs[start..self.ends[arc]]
    }
}

#[derive(Default)]
struct UsedArcs {
    numbers: FxHashMap<usize, u32>,
    order: Vec<usize>,
}

impl UsedArcs {
    /// Returns the arc with its number in the document. Its direction does not change.
    fn number(&mut self, arc: ArcIndex) -> ArcIndex {
        let number = *self.numbers.entry(arc.arc()).or_insert_with(|| {
            self.order.push(arc.arc());
            // The cast is lossless: a topology has fewer arcs than `i32::MAX`.
            (self.order.len() - 1) as u32
        });
        arc.with_arc(number as usize)
    }
}
