//! The examples of the page are configuration: all of them together, but for keys that exclude each other.

use std::collections::BTreeMap;

use figment::Figment;
use figment::providers::{Format, Toml};
use siaga::Builder;
use siaga::config::Config;

use crate::keys::expanded;
use crate::page::{self, Example};

/// Ways to verify tokens; a configuration has one of them.
const VERIFIERS: [&str; 3] = ["auth.jwt.secret", "auth.jwt.public_key", "auth.jwt.jwks"];

/// The examples that are written in TOML; the others are links.
fn written() -> impl Iterator<Item = (String, &'static str)> {
    let code = |Example { pattern, text }: Example| {
        let value = text.strip_prefix('`').and_then(|text| text.strip_suffix('`'))?;
        Some(expanded(pattern).into_iter().map(move |key| (key, value)))
    };
    page::examples().into_iter().filter_map(code).flatten()
}

/// The examples as the text of a file, with those of one verifier.
fn file(verifier: &str) -> String {
    let chosen = |key: &str| match key {
        // The algorithm of the example is none of a secret.
        "auth.jwt.algorithm" => verifier != "auth.jwt.secret",
        _ => key == verifier || !VERIFIERS.contains(&key),
    };
    let is_rockets = |key: &str| key.starts_with("databases.") || ["ident", "ip_header"].contains(&key);
    let line = |(key, value): (String, &str)| {
        let place = if is_rockets(&key) { "default" } else { "default.siaga" };
        // The keys of a list of tables, in the form in which dots are allowed everywhere.
        match key.split_once(".<>.").filter(|(list, _)| *list == "auth.api_keys") {
            Some((list, rest)) => format!("[[{place}.{list}]]\n{rest} = {value}\n"),
            None => format!("{place}.{} = {value}\n", key.replace("<>", "x")),
        }
    };
    let mut lists = BTreeMap::<String, String>::new();
    let mut text = String::new();
    for line in written().filter(|(key, _)| chosen(key)).map(line) {
        match line.split_once("]]\n") {
            Some((list, rest)) => lists.entry(list.to_owned()).or_default().push_str(rest),
            None => text.push_str(&line),
        }
    }
    lists.into_iter().fold(text, |text, (list, rest)| format!("{text}{list}]]\n{rest}"))
}

#[test]
fn the_examples_of_the_page_together_are_a_configuration() {
    for verifier in VERIFIERS {
        let figment = Figment::from(rocket::Config::default()).merge(Toml::string(&file(verifier)).nested());
        let read = Config::extract(&figment);
        assert!(read.is_ok(), "{}", read.unwrap_err());
        // The files that are named do not exist here, so only what is Rocket's is checked as at startup.
        let rockets = Figment::from(rocket::Config::default())
            .merge(("siaga.store", "postgres"))
            .merge(("siaga.images.signing_key", "of the test"))
            .merge(("databases", figment.find_value("databases").unwrap()));
        let checked = Builder::default().figment(rockets).check();
        assert!(checked.is_ok(), "{}", checked.unwrap_err());
    }
}

#[test]
fn an_example_differs_from_the_default() {
    let same = ["areas.supported.boundaries.city", "ip_header"];
    let defaults = page::of_the_service().into_iter().chain(page::of_rocket());
    let examples: BTreeMap<_, _> = written().collect();
    for documented in defaults.filter(|documented| !same.contains(&&*documented.key)) {
        let Some(example) = examples.get(&documented.key) else { continue };
        let bare = |text: &str| text.replace(['`', '"', '[', ']'], "");
        assert_ne!(bare(example), bare(&documented.default), "{}", documented.key);
    }
}
