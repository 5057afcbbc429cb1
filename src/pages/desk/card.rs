//! The card of the shift: one page to print, in the officer's language, with the names that the buttons of the desk have.

use minijinja::context;
use minijinja::value::Serde;
use rocket::get;
use rocket::http::Status;
use serde_json::{Value, json};

use super::desk_request::{DeskPage, DeskRequest};
use super::session::Officer;
use crate::http::error::Problem;
use crate::pages::layout::PageTemplate;

const PAGE: PageTemplate = PageTemplate::new("card.html", include_str!("card.html"));

#[get("/desk/card")]
pub(super) async fn show(_officer: Officer, view: DeskRequest<'_>) -> Result<DeskPage, Problem> {
    let words = view.desk_texts();
    let values = context! {
        card => Serde(with_names(&words["card"], &words)),
        address => view.config.desk_url(),
        operator => view.config.desk.operator.clone(),
    };
    view.render(PAGE, "/desk/card", Status::Ok, values).await
}

/// Returns the texts, each split into pieces: plain ones, and names of buttons and lists of the desk in place of their placeholders.
fn with_names(texts: &Value, words: &Value) -> Value {
    match texts {
        Value::String(text) => pieces(text, words).into(),
        Value::Array(list) => list.iter().map(|text| with_names(text, words)).collect(),
        Value::Object(texts) => {
            texts.iter().map(|(key, text)| (key.clone(), with_names(text, words))).collect()
        }
        other => other.clone(),
    }
}

fn pieces(text: &str, words: &Value) -> Vec<Value> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((plain, name, after)) = split_placeholder(rest) {
        let word = [&words[name], &words["script"][name]].into_iter().find_map(Value::as_str);
        pieces.push(json!({ "text": plain }));
        pieces.push(json!({ "name": without_placeholders(word.unwrap_or(name)) }));
        rest = after;
    }
    pieces.push(json!({ "text": rest }));
    pieces
}

/// Splits a text at its first placeholder: what is before it, its name, and what is after it.
fn split_placeholder(text: &str) -> Option<(&str, &str, &str)> {
    let (plain, rest) = text.split_once('{')?;
    let (name, after) = rest.split_once('}')?;
    Some((plain, name, after))
}

/// The names of some buttons have a number or a name, which is different each time.
fn without_placeholders(word: &str) -> String {
    match split_placeholder(word) {
        Some((before, _, after)) => format!("{before}…{after}"),
        None => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::config::Config;

    #[test]
    fn every_placeholder_of_the_card_is_a_name_of_the_desk() {
        for texts in Config::default().country.data().languages() {
            let words = texts.group("desk");
            let (card, mut used) = (words["card"].to_string(), BTreeSet::new());
            let mut rest = &card[1..card.len() - 1];
            while let Some((_, name, after)) = split_placeholder(rest) {
                rest = after;
                used.insert(name.to_owned());
            }
            assert!(used.len() > 10, "{used:?}");
            for name in used {
                assert!(words[&name].is_string() || words["script"][&name].is_string(), "{name}");
            }
        }
    }

    #[test]
    fn a_name_stands_in_place_of_its_placeholder() {
        let words = json!({ "set": "Set", "script": { "chooseAll": "Choose all {count} shown" } });
        let found = with_names(&json!(["Press {chooseAll}, then {set}."]), &words);
        let expected = json!([[
            { "text": "Press " }, { "name": "Choose all … shown" }, { "text": ", then " }, { "name": "Set" }, { "text": "." },
        ]]);
        assert_eq!(found, expected);
    }
}
