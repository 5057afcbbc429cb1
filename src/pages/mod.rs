//! The pages for people: the front page, the live map, and the description of the interface.

mod docs;
mod logo;
mod map;
mod report;
mod root;

use rocket::{Build, Rocket, Route, routes};
use serde::Serialize;

pub(crate) use self::root::{lead_to_front, to_try};
use crate::config::Config;
use crate::guards::Language;

/// Returns the routes of the pages.
pub(crate) fn routes() -> Vec<Route> {
    routes![
        root::show,
        map::show,
        map::find_file,
        docs::show,
        docs::find_file,
        logo::show,
        report::show,
        report::show_card,
        report::send,
        report::send_card,
        report::thank,
        report::find_places,
        report::find_file,
    ]
}

/// Adds what the pages keep.
pub(crate) fn managed(rocket: Rocket<Build>, config: &Config) -> Rocket<Build> {
    rocket
        .manage(root::Front::default())
        .manage(docs::Files::default())
        .manage(map::Files::default())
        .manage(map::Pages::default())
        .manage(report::Files::default())
        .manage(report::Limits::of(config))
}

/// A language in which a page can be read, too.
#[derive(Debug, Serialize)]
struct Other<'a> {
    code: &'a str,
    name: &'a str,
}

/// Returns the other languages of the country.
fn others<'a>(language: &Language, config: &'a Config) -> Vec<Other<'a>> {
    let all = config.country.data().languages().iter();
    let others = all.filter(|texts| texts.code() != language.code());
    others.map(|texts| Other { code: texts.code(), name: texts.name() }).collect()
}
