//! The pages for people: the front page, the live map, the form for residents, the desk, alerts, and what all pages have in common.

mod alerts;
mod archive;
mod desk;
mod docs;
mod files;
pub(crate) mod layout;
mod logo;
mod map;
mod problem;
mod report;
mod reported;
mod root;

use rocket::{Build, Rocket, Route, routes};

pub use self::alerts::Page as AlertsPage;
pub(crate) use self::desk::Desk;
pub(crate) use self::problem::problem_page;
pub(crate) use self::root::lead_to_front;
use crate::changes::State;
use crate::config::Config;
use crate::data::country::Translations;
use crate::data::statements::Sentence;
use crate::model::{Area, Timestamp};
use crate::sources::SourceReport;

/// Returns the routes of the pages, with those of the desk if wanted.
pub(crate) fn routes(with_desk: bool) -> Vec<Route> {
    let mut all = routes![
        root::show,
        archive::list_archive,
        archive::find_month_file,
        archive::find_archive_file,
        map::show,
        map::find_file,
        map::list_names,
        map::list_hazards,
        map::find_worker,
        docs::show,
        docs::find_file,
        logo::show,
        report::show,
        report::show_card,
        report::send,
        report::send_card,
        report::thank,
        report::send_photo,
        report::find_places,
        report::find_file,
    ];
    if with_desk {
        all.extend(desk::routes());
    }
    all
}

/// Adds what the pages keep.
pub(crate) fn managed(rocket: Rocket<Build>, config: &Config) -> Rocket<Build> {
    rocket
        .manage(root::Front::default())
        .manage(docs::Files::default())
        .manage(files::Files::default())
        .manage(map::Pages::default())
        .manage(map::Names::default())
        .manage(report::Limits::new(config))
}

/// Returns since when the floods of dry areas are over, as they were last read.
fn over(state: Option<&State>) -> impl Iterator<Item = (&Area, Timestamp)> {
    state.into_iter().flat_map(State::ended_floods)
}

/// Returns what makes "no flood recorded" less than certain, in words: a silent source of floods, or that no source is watched.
fn doubt(
    says: &[Sentence],
    silent: Option<&SourceReport>,
    texts: &Translations,
    moment: impl Fn(Timestamp) -> String,
) -> Option<(Sentence, String)> {
    let doubts = [Sentence::SilentSince, Sentence::SilentAlways, Sentence::Unwatched];
    let key = doubts.into_iter().find(|key| says.contains(key))?;
    let heard = silent.and_then(|of| of.last_heard).map(moment).unwrap_or_default();
    let name = silent.map_or("", |of| &of.name);
    Some((key, key.text(texts, None).replace("{source}", name).replace("{age}", &heard)))
}
