//! The situation report: the flooded areas by larger area, and the changes of the last six hours. As a page, and as CSV.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use minijinja::context;
use minijinja::value::Serde;
use rocket::form::FromFormField;
use rocket::http::{ContentType, Header, Status};
use rocket::{Responder, State, get};
use serde_json::{Value, json};

use super::desk_request::{DeskPage, DeskRequest};
use super::session::{Desk, Officer};
use crate::http::content::CacheControl;
use crate::http::error::Problem;
use crate::model::{
    Area, AreaId, AreaLimit, CurrentState, FloodLayer, FloodState, LoggedChange, Timestamp, UndoneChanges,
};
use crate::pages::layout::PageTemplate;
use crate::stores::{FloodLogQuery, FloodQuery, Store};

const PAGE: PageTemplate = PageTemplate::new("situation.html", include_str!("situation.html"));
/// The period of the listed changes, because officers report every six hours.
const RECENT: Duration = Duration::from_hours(6);
/// The maximum number of listed changes. A truncated report has the newest changes, and the time since which it is complete.
const MAX_CHANGES: u32 = 10_000;

/// Single changes within this time are listed as one: an officer sets one area after the other.
const ONE_ORDER: Duration = Duration::from_mins(10);

const CHANGES: &str = "changes_of_six_hours";

struct Situation {
    at: Timestamp,
    layer: FloodLayer,
    changes: Vec<LoggedChange>,
    undone: UndoneChanges,
    limit: AreaLimit,
    /// The time before which changes are missing, if any.
    truncated_before: Option<Timestamp>,
}

struct AreaSituation<'s> {
    area: &'s Area,
    current: Option<CurrentState>,
    changes: Vec<&'s LoggedChange>,
}

impl Situation {
    async fn read(store: &dyn Store, at: Timestamp, limit: AreaLimit) -> Result<Self, Problem> {
        let query = FloodLogQuery {
            since: Some(at.saturating_sub(RECENT)),
            most: MAX_CHANGES,
            ..FloodLogQuery::default()
        };
        let mut changes = store.all_flood_changes(&query).await?;
        let layer = store.floods(&FloodQuery::default()).await?.value;
        let truncated_before = truncated_before(&changes);
        let areas = layer.areas();
        changes.retain(|logged| {
            let area = areas.find(logged.change.area).map(Into::into);
            limit.outside([(logged.change.area, area)]).is_empty()
        });
        let undone = UndoneChanges::new(&changes);
        Ok(Self { at, layer, changes, undone, limit, truncated_before })
    }

    /// Groups the changes, newest first: those of a batch by state and whether they were undone, and others by state, author and ten
    /// minutes. The changes of a batch are adjacent in the list.
    fn changes_by_batch(&self) -> Vec<Vec<&LoggedChange>> {
        let mut batches: Vec<Vec<&LoggedChange>> = Vec::new();
        for logged in &self.changes {
            let is_near = |batch: &&mut Vec<&LoggedChange>| {
                logged.batch.is_some() && batch[0].batch == logged.batch
                    || batch[0].change.at.saturating_duration_since(logged.change.at) <= ONE_ORDER
            };
            let mut near = batches.iter_mut().rev().take_while(is_near);
            let is_same = |batch: &[&LoggedChange]| {
                let first = batch[0];
                (first.change.state, first.batch, &first.note)
                    == (logged.change.state, logged.batch, &logged.note)
                    && first.change.by == logged.change.by
                    && self.undone.has(first) == self.undone.has(logged)
                    && batch.iter().all(|other| other.change.area != logged.change.area)
            };
            match near.find(|batch| is_same(batch)) {
                Some(batch) => batch.push(logged),
                None => batches.push(vec![logged]),
            }
        }
        batches
    }

    fn batch_json(&self, batch: &[&LoggedChange], view: &DeskRequest<'_>) -> Value {
        let areas = self.layer.areas();
        let mut places: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for logged in batch {
            let id = logged.change.area;
            let area = areas.find(id);
            let name = area.map(|area| area.name.clone()).filter(|name| !name.is_empty());
            let parent = area.map(|area| area.parent_name.as_str()).unwrap_or_default();
            places.entry(parent).or_default().push(name.unwrap_or_else(|| id.to_string()));
        }
        let LoggedChange { change, note, .. } = batch[0];
        let (first, last) = (view.short_time(batch[batch.len() - 1].change.at), view.short_time(change.at));
        json!({
            "at": if first == last { last } else { format!("{first} – {last}") },
            "state": change.state,
            "depth": view.change_text(batch[0]),
            "is_undone": self.undone.has(batch[0]),
            "by": change.by.name(),
            "note": note,
            "places": places.into_iter().map(|(parent, names)| json!([parent, names])).collect::<Value>(),
        })
    }

    /// Groups areas that are flooded or have recent changes by city and parent, in the order of names.
    fn areas_by_parent(&self) -> BTreeMap<(&str, &str), Vec<AreaSituation<'_>>> {
        let mut changes: HashMap<AreaId, Vec<&LoggedChange>> = HashMap::new();
        for logged in &self.changes {
            changes.entry(logged.change.area).or_default().push(logged);
        }
        let mut by_parent: BTreeMap<_, Vec<AreaSituation<'_>>> = BTreeMap::new();
        for flood in self.layer.features() {
            let (area, current) = (flood.area, flood.current);
            let changes = changes.remove(&area.id).unwrap_or_default();
            if (current.is_some() || !changes.is_empty()) && self.limit.contains(&area.into()) {
                let key = (area.city_name.as_str(), area.parent_name.as_str());
                by_parent.entry(key).or_default().push(AreaSituation { area, current, changes });
            }
        }
        for areas in by_parent.values_mut() {
            areas.sort_by(|one, other| one.area.name.cmp(&other.area.name));
        }
        by_parent
    }
}

/// Which areas a report covers: those of the officer, or all.
#[derive(Clone, Copy, PartialEq, Eq, FromFormField)]
pub(super) enum Coverage {
    Own,
    All,
}

impl Coverage {
    fn limit(self, officer: &Officer) -> AreaLimit {
        match self {
            Self::Own => officer.own_areas(),
            Self::All => AreaLimit::Everywhere,
        }
    }
}

#[get("/desk/situation?<areas>")]
pub(super) async fn show(
    officer: Officer,
    areas: Option<Coverage>,
    view: DeskRequest<'_>,
    desk: &State<Desk>,
) -> Result<DeskPage, Problem> {
    let coverage = areas.unwrap_or(Coverage::All);
    let situation = Situation::read(view.store, desk.now(), coverage.limit(&officer)).await?;
    let (mut groups, mut totals) = (Vec::new(), [0; 4]);
    for ((city, parent), lines) in situation.areas_by_parent() {
        let mut counts = [0; 4];
        for current in lines.iter().filter_map(|line| line.current) {
            counts[usize::from(current.state.code()) - 1] += 1;
        }
        counts.iter().zip(&mut totals).for_each(|(count, total)| *total += count);
        let current_states = || lines.iter().filter_map(|line| line.current);
        let since = current_states().filter_map(|current| current.flooded_since).min();
        let confirmed = current_states().filter_map(|current| current.confirmed).min();
        let flooded = lines.iter().filter_map(|line| Some((line, line.current?)));
        let flooded = flooded.map(|(line, current)| {
            json!({
                "name": line.area.name,
                "id": line.area.id,
                "state": current.state.code(),
                "depth": view.state_name(Some(current.state)),
            })
        });
        groups.push(json!({
            "city": city, "parent": parent, "counts": counts, "areas": flooded.collect::<Vec<_>>(),
            "since": since.map(|since| view.short_time(since)),
            "confirmed": confirmed.map(|confirmed| view.short_time(confirmed)),
        }));
    }
    let changes: Vec<_> =
        situation.changes_by_batch().iter().map(|batch| situation.batch_json(batch, &view)).collect();
    let values = context! {
        at => view.moment(situation.at),
        by => officer.name(),
        groups => Serde(groups.iter().filter(|group| group["areas"] != json!([])).collect::<Vec<_>>()),
        totals => totals.to_vec(),
        total => totals.iter().sum::<u32>(),
        changes => Serde(changes),
        left => situation.truncated_before.map(|at| view.truncation_text(at)),
        limited => officer.is_limited(),
        own => coverage == Coverage::Own,
    };
    view.render(PAGE, "/desk/situation", Status::Ok, values).await
}

#[derive(Responder)]
pub(super) struct Table {
    text: (ContentType, Vec<u8>),
    cache_control: Header<'static>,
    disposition: Header<'static>,
}

#[get("/desk/situation.csv?<areas>")]
pub(super) async fn table(
    officer: Officer,
    areas: Option<Coverage>,
    view: DeskRequest<'_>,
    desk: &State<Desk>,
) -> Result<Table, Problem> {
    let limit = areas.unwrap_or(Coverage::All).limit(&officer);
    let situation = Situation::read(view.store, desk.now(), limit).await?;
    let local = |at: Timestamp| at.to_utc().with_timezone(&view.config.time_zone);
    let format_time = |at: Timestamp| local(at).format("%Y-%m-%d %H:%M:%S %Z").to_string();
    let describe_change = |logged: &&LoggedChange| {
        let (change, text) = (&logged.change, view.change_text(logged));
        let after = if situation.undone.has(logged) {
            " ".to_owned() + &view.script_text("wasUndone")
        } else {
            String::new()
        };
        format!("{} {text} ({}){after}", format_time(change.at), change.by.name())
    };
    // The byte order mark makes spreadsheets read UTF-8.
    let mut table = csv::Writer::from_writer("\u{feff}".as_bytes().to_vec());
    let heads =
        ["city", "parent_name", "area_id", "area_name", "state", "depth", "since", "confirmed", CHANGES];
    table.write_record(heads).map_err(Problem::internal)?;
    for ((city, parent), lines) in situation.areas_by_parent() {
        for AreaSituation { area, current, changes } in lines {
            let state = current.map(|current| current.state);
            let row = [
                city.to_owned(),
                parent.to_owned(),
                area.id.to_string(),
                area.name.clone(),
                state.map(FloodState::code).map(|code| code.to_string()).unwrap_or_default(),
                view.state_name(state).to_owned(),
                current.and_then(|current| current.flooded_since).map(format_time).unwrap_or_default(),
                current.and_then(|current| current.confirmed).map(format_time).unwrap_or_default(),
                changes.iter().map(describe_change).collect::<Vec<_>>().join("; "),
            ];
            table.write_record(row.map(escape_formula)).map_err(Problem::internal)?;
        }
    }
    if let Some(at) = situation.truncated_before {
        let row = heads.map(|head| if head == CHANGES { view.truncation_text(at) } else { String::new() });
        table.write_record(row).map_err(Problem::internal)?;
    }
    let text = table.into_inner().map_err(|error| Problem::internal(error.to_string()))?;
    let name = local(situation.at).format("situation-%Y%m%d-%H%M.csv");
    Ok(Table {
        text: (ContentType::CSV, text),
        cache_control: Header::new("Cache-Control", CacheControl::NO_STORE),
        disposition: Header::new("Content-Disposition", format!("attachment; filename=\"{name}\"")),
    })
}

/// Returns the time before which changes are missing; `None` if the list is not truncated.
fn truncated_before(changes: &[LoggedChange]) -> Option<Timestamp> {
    changes.last().filter(|_| changes.len() >= MAX_CHANGES as usize).map(|logged| logged.change.at)
}

impl DeskRequest<'_> {
    /// Formats a time without its year and zone, which stand above the tables.
    fn short_time(&self, at: Timestamp) -> String {
        at.to_utc().with_timezone(&self.config.time_zone).format("%d-%m %H:%M").to_string()
    }

    /// Returns the state that a change has set or restored.
    fn change_text(&self, LoggedChange { change, undoes, .. }: &LoggedChange) -> String {
        let depth = self.state_name(change.state);
        match undoes {
            Some(_) => self.script_text("undoing").replace("{what}", depth),
            None => depth.to_owned(),
        }
    }

    fn truncation_text(&self, before: Timestamp) -> String {
        self.text("left_out")
            .replace("{at}", &self.moment(before))
            .replace("{count}", &MAX_CHANGES.to_string())
    }
}

/// Escapes a cell that a spreadsheet would evaluate as a formula.
fn escape_formula(cell: String) -> String {
    if cell.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{cell}") } else { cell }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Actor, FloodChange};

    #[test]
    fn a_truncated_report_has_the_time_since_which_it_is_complete() {
        let at = Timestamp::parse("2016-12-19T13:53:52.274Z").unwrap();
        let by = Actor { subject: "bpbd".to_owned(), username: None };
        let change = FloodChange { area: AreaId::EXERCISE, state: None, at, received: at, by };
        let mut changes =
            vec![LoggedChange { change, batch: None, note: None, undoes: None }; MAX_CHANGES as usize - 1];
        assert_eq!(truncated_before(&changes), None);
        changes.push(changes[0].clone());
        assert_eq!(truncated_before(&changes), Some(at));
    }
}
