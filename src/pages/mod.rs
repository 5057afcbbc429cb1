//! The pages for people: the front page, the live map, and the description of the interface.

mod desk;
mod docs;
mod files;
mod logo;
mod map;
mod report;
mod root;

use rocket::{Build, Rocket, Route, routes};

pub(crate) use self::desk::Desk;
pub(crate) use self::root::{lead_to_front, to_try};
use crate::config::Config;

/// Returns the routes of the pages, with those of the desk if wanted.
pub(crate) fn routes(with_desk: bool) -> Vec<Route> {
    let mut all = routes![
        root::show,
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
        .manage(report::Limits::of(config))
}
