use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use figment::Figment;
use figment::providers::{Format, Toml};
use serde::Deserialize;
use url::Url;

use super::feed::{Feed, require};
use super::reader::FeedReader;
use super::siaga::SiagaClient;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    siaga: SiagaSettings,
    #[serde(rename = "feed")]
    feeds: Vec<Feed>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SiagaSettings {
    base: Url,
    key: Option<String>,
    key_file: Option<PathBuf>,
}

/// Returns a reader for each feed of a configuration. `timeout` limits each request with its response.
///
/// # Errors
///
/// If anything in the configuration is wrong: one line that names the key, what was found and what to do.
pub fn readers(configuration: &str, timeout: Duration) -> Result<Vec<FeedReader>, String> {
    let figment = Figment::from(Toml::string(configuration));
    let Config { siaga, feeds } = figment.extract().map_err(|error| one_line(&error))?;
    let (mut names, mut gaugeids) = (HashSet::new(), HashSet::new());
    for feed in &feeds {
        feed.check().map_err(|error| format!("feed {:?}: {error}", feed.name))?;
        require(names.insert(&feed.name), || format!("two feeds are named {:?}: rename one", feed.name))?;
        for id in feed.gauges.keys().map(|id| feed.gaugeid(id)) {
            require(gaugeids.insert(id.clone()), || format!("two gauges are {id:?}: change `as` of one"))?;
        }
    }
    let key = match (siaga.key, siaga.key_file) {
        (Some(key), None) => Ok(key),
        (None, Some(file)) => fs::read_to_string(&file).map_err(|error| format!("siaga.key_file: {error}")),
        _ => Err("write either siaga.key or siaga.key_file".to_owned()),
    };
    let client = Arc::new(SiagaClient::new(&siaga.base, &key?, timeout)?);
    feeds.into_iter().map(|feed| FeedReader::new(feed, Arc::clone(&client), timeout)).collect()
}

/// Leaves out the lines of the file that an error of TOML shows, because they can contain the key.
fn one_line(error: &figment::Error) -> String {
    let text = error.kind.to_string();
    let first = text.lines().next().unwrap_or_default();
    let last = text.lines().skip(1).last().map_or_else(String::new, |last| format!(": {last}"));
    let path: String = error.path.iter().map(|part| format!("{part}: ")).collect();
    format!("{path}{first}{last}")
}
