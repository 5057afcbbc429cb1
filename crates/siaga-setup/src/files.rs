//! The files of the folder, except the database.

use std::path::Path;

use serde_json::Value;
use toml::Table;
use url::Url;

use crate::SetupError;
use crate::city::City;
use crate::features::{collection, feature};
use crate::options::{Form, HazardChoice, Proxy, Review};
use crate::prepare::is_local;

/// Everything that was answered.
pub(crate) struct CitySettings {
    pub(crate) agency: String,
    pub(crate) contact: String,
    pub(crate) emergency: String,
    pub(crate) base_url: Url,
    pub(crate) language: String,
    pub(crate) time_zone: String,
    pub(crate) form: Form,
    pub(crate) review: Review,
    pub(crate) officer: String,
    pub(crate) proxy: Proxy,
    pub(crate) hazards: HazardChoice,
}

/// A file's path in the folder, and its content.
pub(crate) type File = (String, Vec<u8>);

const HAZARDS: &str = include_str!("../../../country/id/hazards.toml");
/// The languages whose texts are known. The first one has all texts.
const TEXTS: [(&str, &str); 4] = [
    ("en", include_str!("../../../country/id/texts/en.json")),
    ("id", include_str!("../../../country/id/texts/id.json")),
    ("de", include_str!("../../../country/de/texts/de.json")),
    ("tl", include_str!("../../../examples/country/ph/texts/tl.json")),
];
/// What the English texts say about Indonesia alone, and what holds elsewhere.
const INDONESIAN: [(&str, &str); 2] = [
    ("neighbourhood (RW)", "neighbourhood"),
    ("PLN (the electricity company) on 123", "the electricity company"),
];
const ATTRIBUTION: &str = "© OpenStreetMap contributors";

/// Whether there are texts in a language.
pub(crate) fn is_translated(language: &str) -> bool {
    TEXTS.iter().any(|(code, _)| *code == language)
}

/// Returns all files of a folder.
pub(crate) fn files(folder: &Path, city: &City, settings: &CitySettings) -> Result<Vec<File>, SetupError> {
    let mut files = data(city);
    files.extend(country(city, settings)?);
    files.push(("Rocket.toml".to_owned(), configuration(folder, city, settings).into_bytes()));
    if let (Proxy::Caddy, Some(host)) = (settings.proxy, settings.base_url.host_str()) {
        files.push((
            "Caddyfile".to_owned(),
            include_str!("templates/Caddyfile").replace("@HOST@", host).into_bytes(),
        ));
    }
    Ok(files)
}

fn data(city: &City) -> Vec<File> {
    let named = |code: &str, name: &str, geometry: &Value| {
        feature(serde_json::json!({ "code": code, "name": name }), geometry.clone())
    };
    let cities: Vec<_> = city.boundary.iter().map(|shape| named(&city.code, &city.name, shape)).collect();
    let regions = city
        .regions
        .iter()
        .filter_map(|region| Some(named(&region.code, &region.name, region.geometry.as_ref()?)));
    let regions: Vec<_> = regions.collect();
    let all = [
        ("areas", &city.areas),
        ("cities", &cities),
        ("regions", &regions),
        ("infrastructure", &city.waterways),
        ("basemap", &city.basemap),
    ];
    let written = all.into_iter().filter(|(_, features)| !features.is_empty());
    written.map(|(name, features)| (format!("data/{name}.geojson"), collection(features))).collect()
}

fn country(city: &City, settings: &CitySettings) -> Result<Vec<File>, SetupError> {
    let failed = |error: &dyn std::fmt::Display| SetupError::failed("the texts of the program", error);
    let mut hazards: Table = HAZARDS.parse().map_err(|error| failed(&error))?;
    if settings.hazards == HazardChoice::Flood {
        let (kept, attributes) = (["flood"], ["flood_depth"]);
        for (key, names) in [("hazard", &kept[..]), ("attribute", &attributes[..])] {
            if let Some(list) = hazards.get_mut(key).and_then(toml::Value::as_array_mut) {
                list.retain(|entry| {
                    entry.get("name").and_then(toml::Value::as_str).is_some_and(|name| names.contains(&name))
                });
            }
        }
    }
    let mut languages = vec![settings.language.as_str(), "en"];
    languages.dedup();
    let mut regions = "kind,code,mapped,name\n".to_owned();
    let row =
        |kind: &str, code: &str, name: &str| format!("{kind},{code},yes,\"{}\"\n", name.replace('"', "\"\""));
    regions.push_str(&row("city", &city.code, &city.name));
    regions.extend(city.regions.iter().map(|region| row("province", &region.code, &region.name)));
    let mut table = Table::new();
    table.insert("languages".to_owned(), languages.clone().into());
    table.insert("time_zone".to_owned(), settings.time_zone.clone().into());
    table.insert("emergency".to_owned(), settings.emergency.clone().into());
    let about = "# docs/country.md explains the files of this folder.\n";
    let mut files = vec![
        ("country/country.toml".to_owned(), format!("{about}{table}").into_bytes()),
        ("country/hazards.toml".to_owned(), hazards.to_string().into_bytes()),
        ("country/regions.csv".to_owned(), regions.into_bytes()),
    ];
    for language in languages {
        let texts = texts(language, city, settings).map_err(|error| failed(&error))?;
        files.push((format!("country/texts/{language}.json"), texts));
    }
    Ok(files)
}

/// Returns the texts of a language, with English ones where it has none: the first language must have all.
fn texts(language: &str, city: &City, settings: &CitySettings) -> Result<Vec<u8>, serde_json::Error> {
    let mut english = TEXTS[0].1.to_owned();
    if !city.regions.iter().any(|region| region.code.starts_with("ID")) {
        english = INDONESIAN.iter().fold(english, |text, (here, elsewhere)| text.replace(here, elsewhere));
    }
    let mut texts: Value = serde_json::from_str(&english)?;
    texts["messages"]["language"] = language.into();
    if let Some((_, own)) = TEXTS[1..].iter().find(|(code, _)| *code == language) {
        overlay(&mut texts, serde_json::from_str(own)?);
    }
    if let Some(example) = &city.example {
        texts["desk"]["search_example"] = example.as_str().into();
    }
    if settings.hazards == HazardChoice::Flood {
        for (group, kept) in
            [("names", &["flood", "prep"][..]), ("types", &["flood"]), ("attributes", &["flood_depth"])]
        {
            if let Some(group) = texts["hazards"][group].as_object_mut() {
                group.retain(|name, _| kept.contains(&name.as_str()));
            }
        }
    }
    let mut text = serde_json::to_vec_pretty(&texts)?;
    text.push(b'\n');
    Ok(text)
}

/// Replaces texts by those of a language. A language may have texts of hazards that this country does not have.
fn overlay(under: &mut Value, over: Value) {
    match (under, over) {
        (Value::Object(under), Value::Object(over)) => {
            for (name, value) in over {
                if let Some(text) = under.get_mut(&name) {
                    overlay(text, value);
                }
            }
        }
        (under, over) => *under = over,
    }
}

fn configuration(folder: &Path, city: &City, settings: &CitySettings) -> String {
    let text = |text: &str| toml::Value::from(text).to_string();
    let path = |name: &str| text(&folder.join(name).display().to_string());
    let base_url = &settings.base_url;
    let host = base_url.host_str().unwrap_or_default();
    let port = if is_local(base_url) { base_url.port_or_known_default().unwrap_or(8000) } else { 8000 };
    let is_default = host == "127.0.0.1" && base_url.path() == "/v1";
    let base_url_line =
        if is_default { String::new() } else { format!("base_url = {}\n", text(base_url.as_str())) };
    let licence =
        if city.is_openstreetmap { OPENSTREETMAP } else { "terms = \"Free to use with attribution.\"" };
    let values = [
        ("@PORT@", port.to_string()),
        ("@BASE_URL@", base_url_line),
        ("@DATABASE@", path("siaga.db")),
        ("@COUNTRY@", path("country")),
        ("@SITE@", text(&format!("Siaga {}", city.name))),
        ("@AGENCY@", text(&settings.agency)),
        ("@CONTACT@", text(&settings.contact)),
        ("@FORM@", (settings.form == Form::On).to_string()),
        ("@OFFICER@", text(&settings.officer)),
        ("@HOST@", text(host)),
        ("@WEB@", text(&format!("{}/", base_url.origin().ascii_serialization()))),
        ("@LICENCE@", licence.to_owned()),
    ];
    let lines = include_str!("templates/Rocket.toml").split_inclusive('\n').map(|line| {
        let found = values.iter().find(|(name, _)| line.contains(name));
        found.map_or_else(|| line.to_owned(), |(name, value)| line.replace(name, value))
    });
    let mut lines: Vec<String> = lines.collect();
    match settings.review {
        Review::All => lines.push("\n[default.siaga.report]\nreview = true\n".to_owned()),
        Review::None => {
            lines.push("\n[default.siaga.report]\nreviewed_after = 0\nreviewed_total = 0\n".to_owned());
        }
        Review::After => {}
    }
    if !city.basemap.is_empty() {
        let attribution = text(if city.is_openstreetmap { ATTRIBUTION } else { "" });
        let file = path("data/basemap.geojson");
        lines.push(format!("\n[default.siaga.map.basemap]\nfile = {file}\nattribution = {attribution}\n"));
    }
    if settings.proxy == Proxy::Caddy {
        lines.push("\n[default.siaga.quota]\ntrusted_proxies = [\"127.0.0.1\", \"::1\"]\n".to_owned());
    }
    lines.concat()
}

const OPENSTREETMAP: &str = "\
terms = \"Free to use with attribution. Boundaries and base map: © OpenStreetMap contributors, ODbL 1.0.\"
url = \"https://www.openstreetmap.org/copyright\"";
