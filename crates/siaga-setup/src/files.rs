//! The files of the folder, except the database.

use std::path::Path;

use serde_json::Value;
use toml::Table;
use url::Url;

use crate::SetupError;
use crate::city::City;
use crate::features::{collection, feature};
use crate::options::{Form, HazardChoice, Proxy, Review};

/// Everything that was answered.
pub(crate) struct CitySettings {
    pub(crate) agency: String,
    pub(crate) contact: String,
    pub(crate) emergency: String,
    /// `None` for this machine only.
    pub(crate) base_url: Option<Url>,
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
    if let (Proxy::Caddy, Some(host)) = (settings.proxy, settings.base_url.as_ref().and_then(Url::host_str)) {
        files.push(("Caddyfile".to_owned(), CADDYFILE.replace("HOST", host).into_bytes()));
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
        let texts = texts(language, settings.hazards).map_err(|error| failed(&error))?;
        files.push((format!("country/texts/{language}.json"), texts));
    }
    Ok(files)
}

/// Returns the texts of a language, with English ones where it has none: the first language must have all.
fn texts(language: &str, hazards: HazardChoice) -> Result<Vec<u8>, serde_json::Error> {
    let mut texts: Value = serde_json::from_str(TEXTS[0].1)?;
    if let Some((_, own)) = TEXTS.iter().find(|(code, _)| *code == language) {
        overlay(&mut texts, serde_json::from_str(own)?);
    }
    if hazards == HazardChoice::Flood {
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

fn overlay(under: &mut Value, over: Value) {
    match (under, over) {
        (Value::Object(under), Value::Object(over)) => {
            for (name, value) in over {
                overlay(under.entry(name).or_insert(Value::Null), value);
            }
        }
        (under, over) => *under = over,
    }
}

fn configuration(folder: &Path, city: &City, settings: &CitySettings) -> String {
    let path = |name: &str| toml::Value::from(folder.join(name).display().to_string()).to_string();
    let text = |text: &str| toml::Value::from(text).to_string();
    let origin = settings.base_url.as_ref().map(|url| url.origin().ascii_serialization());
    let origin = origin.unwrap_or_else(|| "http://127.0.0.1:8000".to_owned());
    let host = settings.base_url.as_ref().and_then(Url::host_str).unwrap_or("localhost");
    let base_url = settings.base_url.as_ref().map(|url| format!("base_url = {}\n", text(url.as_str())));
    let mut lines = format!(
        "# Made by `siaga setup`. docs/configuration.md lists all keys; `siaga check` prints them with their values.\n\
         \n[default]\naddress = \"127.0.0.1\"\nport = 8000\n\
         \n[default.siaga]\nstore = \"file\"\n{}\
         \n[default.siaga.file]\npath = {}\n\
         \n[default.siaga.country]\nfolder = {}\n\
         \n[default.siaga.site]\nname = {}\nagency = {}\ncontact = {}\n\
         \n[default.siaga.cards]\nopen = {}\n\
         \n# If the desk confirms nothing for longer than three times this, the map says that floods may be missing.\n\
         [default.siaga.sources.desk]\nsubject = {}\nevery = \"12h\"\ncovers = [\"floods\"]\n\
         \n[default.siaga.formats.cap]\n\
         # Marks all alerts as a test. Remove it when alerts shall count.\nstatus = \"Test\"\n\
         # Hubs find earlier alerts by this name: do not change it later.\nsender = {}\nweb = {}\n\
         \n[default.siaga.alerts]\ncontact = {}\n",
        base_url.unwrap_or_default(),
        path("siaga.db"),
        path("country"),
        text(&format!("Siaga {}", city.name)),
        text(&settings.agency),
        text(&settings.contact),
        settings.form == Form::On,
        text(&settings.officer),
        text(host),
        text(&format!("{origin}/")),
        text(&settings.contact),
    );
    match settings.review {
        Review::All => lines.push_str("\n[default.siaga.report]\nreview = true\n"),
        Review::None => lines.push_str("\n[default.siaga.report]\nreviewed_after = 0\nreviewed_total = 0\n"),
        Review::After => {}
    }
    if !city.basemap.is_empty() {
        let attribution = text(if city.is_openstreetmap { ATTRIBUTION } else { "" });
        let file = path("data/basemap.geojson");
        let basemap = format!("\n[default.siaga.map.basemap]\nfile = {file}\nattribution = {attribution}\n");
        lines.push_str(&basemap);
    }
    lines.push_str("\n[default.siaga.licence]\n");
    lines.push_str(if city.is_openstreetmap {
        OPENSTREETMAP
    } else {
        "terms = \"Free to use with attribution.\"\n"
    });
    if settings.proxy == Proxy::Caddy {
        lines.push_str("\n[default.siaga.quota]\ntrusted_proxies = [\"127.0.0.1\", \"::1\"]\n");
    }
    lines
}

const OPENSTREETMAP: &str = "\
terms = \"Free to use with attribution. Boundaries and base map: © OpenStreetMap contributors, ODbL 1.0.\"
url = \"https://www.openstreetmap.org/copyright\"
";

const CADDYFILE: &str = "\
{
	servers {
		timeouts {
			read_header 10s
			read_body 15m
			idle 1m
		}
	}
}

HOST {
	request_body {
		max_size 20MiB
	}
	reverse_proxy 127.0.0.1:8000
}
";
