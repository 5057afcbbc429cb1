//! The pages for people: the front page, the live map, and the description of the interface.

mod docs;
mod map;
mod root;
mod texts;

use rocket::{Build, Rocket, Route, routes};

pub(crate) use self::root::{lead_to_front, to_try};

/// Returns the routes of the pages.
pub(crate) fn routes() -> Vec<Route> {
    routes![root::show, map::show, map::find_file, docs::show, docs::find_file]
}

/// Adds what the pages keep.
pub(crate) fn managed(rocket: Rocket<Build>) -> Rocket<Build> {
    rocket
        .manage(root::Front::default())
        .manage(docs::Files::default())
        .manage(map::Files::default())
        .manage(map::Pages::default())
}
