//! The web pages: front page, live map, report form, desk, alerts, and their common layout.

mod alerts;
mod archive;
mod assets;
mod desk;
mod docs;
mod drawing;
mod flood_reports;
mod larger_areas;
pub(crate) mod layout;
mod logo;
mod map;
mod problem;
mod report;
mod root;

use rocket::{Build, Rocket, Route, routes};

pub use self::alerts::Page as AlertsPage;
pub(crate) use self::desk::Desk;
pub(crate) use self::problem::problem_page;
pub(crate) use self::root::redirect_to_front;
use crate::changes::State;
use crate::config::Config;
use crate::data::country::Translations;
use crate::data::statements::Sentence;
use crate::model::{Area, Timestamp};
use crate::sources::SourceReport;

/// Returns the routes of the pages, with the desk if enabled.
pub(crate) fn routes(with_desk: bool) -> Vec<Route> {
    let mut all = routes![
        root::show,
        archive::list_archive,
        archive::find_month_file,
        archive::find_archive_file,
        map::show,
        map::find_file,
        map::picture::draw,
        map::list_names,
        map::streets::find_streets,
        map::trend::show_trend,
        map::push::show_notifications,
        map::push::find_push_settings,
        map::push::find_manifest,
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
        report::find_place,
        report::find_file,
    ];
    if with_desk {
        all.extend(desk::routes());
    }
    all
}

pub(crate) fn manage_state(rocket: Rocket<Build>, config: &Config) -> Rocket<Build> {
    rocket
        .manage(root::FreshnessCache::default())
        .manage(docs::Files::default())
        .manage(assets::Assets::default())
        .manage(map::Pages::default())
        .manage(map::NameIndex::default())
        .manage(map::Pictures::default())
        .manage(map::Trends::default())
        .manage(report::ReportLimits::new(config))
}

/// Returns the dry areas that were flooded before, and when their floods ended.
fn ended_floods(state: Option<&State>) -> impl Iterator<Item = (&Area, Timestamp)> {
    state.into_iter().flat_map(State::ended_floods)
}

/// Returns the sentence that qualifies "no flood recorded": a source is silent, or no source is configured.
fn uncertainty(
    sentences: &[Sentence],
    silent: Option<&SourceReport>,
    texts: &Translations,
    moment: impl Fn(Timestamp) -> String,
) -> Option<(Sentence, String)> {
    let doubts = [Sentence::SilentSince, Sentence::SilentAlways, Sentence::Unwatched];
    let key = doubts.into_iter().find(|key| sentences.contains(key))?;
    let last_heard = silent.and_then(|source| source.last_heard).map(moment).unwrap_or_default();
    let name = silent.map_or("", |source| &source.name);
    Some((key, key.text(texts, None).replace("{source}", name).replace("{age}", &last_heard)))
}
