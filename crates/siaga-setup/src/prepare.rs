//! The conversation: what is asked, in which order, and with which defaults.

use std::fs;
use std::path::{Path, absolute};

use chrono_tz::Tz;
use url::{Host, Url};

use crate::boundaries::fold;
use crate::city::{Choice, City, region};
use crate::files::{self, CitySettings, is_translated};
use crate::folder::{Prepared, Record};
use crate::options::{Form, HazardChoice, Proxy, Review};
use crate::own_file::{self, Columns};
use crate::place::Place;
use crate::questions::{Prompt, Questions, name};
use crate::survey::Survey;
use crate::{Options, SetupError, zones};

const DEMO: &str = "demo";
const DEMO_AREAS: &[u8] = include_bytes!("../../../demo/areas.geojson");
const DEMO_BASEMAP: &str = include_str!("../../../demo/basemap.geojson");

/// What is known about the place before anything is asked about it.
struct Proposal {
    city: City,
    language: Option<String>,
    time_zone: Option<String>,
}

impl Options {
    /// Asks what is not given, reads the file, and prepares the folder. Writes nothing.
    ///
    /// # Errors
    ///
    /// [`SetupError::Missing`] if answers without a default are missing, and nobody can be asked. [`SetupError::Failed`] if an answer
    /// or the file is wrong.
    pub fn prepare(self) -> Result<Prepared, SetupError> {
        let folder =
            absolute(&self.folder).map_err(|error| SetupError::failed(self.folder.display(), error))?;
        let record = Record::read(&folder)?;
        let earlier = record.as_ref().map(|record| record.options.clone()).unwrap_or_default();
        let mut options =
            self.or(earlier).map_err(|error| SetupError::failed("the options of the folder", error))?;
        let mut questions = Questions::new(options.yes);
        options.require(&mut questions)?;
        let found = match options.find(&mut questions) {
            Err(SetupError::Missing(mut missing)) => {
                // Nobody can tell the time zone without the region.
                missing.extend(options.time_zone.is_none().then(|| "--time-zone ZONE".to_owned()));
                return Err(SetupError::Missing(missing));
            }
            found => found?,
        };
        let settings = options.answer(&mut questions, &found)?;
        let files = files::files(&folder, &found.city, &settings)?;
        let lines = lines(&folder, &found.city, &settings);
        let options =
            serde_json::to_value(&options).map_err(|error| SetupError::failed("the options", error))?;
        let areas = found.city.areas.len();
        Ok(Prepared { folder, officer: settings.officer, areas, lines, files, record, options })
    }

    /// Notes all answers without a default at once, before a large file is read.
    fn require(&self, questions: &mut Questions) -> Result<(), SetupError> {
        if questions.is_asking() {
            return Ok(());
        }
        let is_extract = self.from.as_ref().is_none_or(|from| is_extract(from));
        let has_place = self.place.is_some() || self.place_id.is_some() || self.whole_file == Some(true);
        let missing = [
            (self.from.is_none(), "--from FILE"),
            (is_extract && !has_place, "--place NAME"),
            (self.agency.is_none(), "--agency NAME"),
            (self.proxy == Some(Proxy::Caddy) && self.base_url.is_none(), "--base-url URL"),
        ];
        missing
            .into_iter()
            .filter(|(is_missing, _)| *is_missing)
            .for_each(|(_, option)| questions.miss(option));
        questions.finish()
    }

    fn find(&mut self, questions: &mut Questions) -> Result<Proposal, SetupError> {
        questions.say("1. Where? An OpenStreetMap extract (.osm.pbf), a GeoJSON file in WGS 84, or demo.");
        let question = Prompt { option: "--from FILE", text: "File", default: Some(DEMO.to_owned()) };
        let from = questions.answer(question, self.from.clone(), check_file)?;
        let found =
            if is_extract(&from) { self.find_in_extract(&from, questions)? } else { self.read_own(&from)? };
        // An earlier run may have been in another folder.
        self.from = Some(absolute(&from).map_or(from.clone(), |path| path.display().to_string()).clone());
        if from == DEMO {
            self.from = Some(from);
        }
        Ok(found)
    }

    fn find_in_extract(&mut self, from: &str, questions: &mut Questions) -> Result<Proposal, SetupError> {
        let survey = Survey::new(Path::new(from))?;
        let boundaries = &survey.boundaries;
        let stem = Path::new(from).file_name().unwrap_or_default().to_string_lossy();
        let mut name = stem.split('.').next().unwrap_or_default().to_owned();
        let place = if self.whole_file == Some(true) {
            name = self.place.clone().unwrap_or(name);
            Place::whole_file(boundaries)
        } else {
            if self.place.is_none() && self.place_id.is_none() {
                let largest = boundaries.iter().filter(|boundary| boundary.closed().is_some());
                let largest = largest.min_by_key(|boundary| (boundary.level, boundary.id));
                let default = largest.map(|boundary| boundary.name.clone());
                let question = Prompt { option: "--place NAME", text: "Place", default };
                let check = |name: &str| {
                    let found = Place::find(Some(name), None, self.level, boundaries);
                    found.map(drop).map_err(|error| error.to_string())
                };
                self.place = Some(questions.answer(question, None, check)?);
            }
            Place::find(self.place.as_deref(), self.place_id.as_deref(), self.level, boundaries)?
        };
        if place.levels.is_empty() {
            return Err(SetupError::failed(
                "--place",
                "the extract has no closed smaller areas in this place",
            ));
        }
        for (level, areas) in &place.levels {
            let names: Vec<_> = areas.iter().take(3).map(|area| area.name.as_str()).collect();
            questions.say(format!("   level {level}: {} areas, such as {}", areas.len(), names.join(", ")));
        }
        let is_level = |answer: &str| match answer.parse::<u8>() {
            Ok(level) if place.levels.contains_key(&level) => Ok(()),
            _ => Err("must be one of the levels".to_owned()),
        };
        let proposed = place.proposed_level().map(|level| level.to_string());
        let question =
            Prompt { option: "--level LEVEL", text: "Level of the neighbourhoods", default: proposed };
        let level = match self.level {
            Some(level) => level,
            None => questions.answer(question, None, is_level)?.parse().unwrap_or_default(),
        };
        questions.finish()?;
        if self.larger_area_level.is_none()
            && questions.is_asking()
            && place.levels.keys().any(|other| *other < level)
        {
            let is_level = |answer: &str| if answer == "none" { Ok(()) } else { is_level(answer) };
            let question = Prompt {
                option: "--larger-area-level LEVEL",
                text: "Level of the larger areas, or none",
                default: Some("none".to_owned()),
            };
            self.larger_area_level = questions.answer(question, None, is_level)?.parse().ok();
        }
        if self.larger_area_level.is_some_and(|larger| larger >= level) {
            return Err(SetupError::failed(
                "--larger-area-level",
                format!("must be less than --level {level}"),
            ));
        }
        self.level = Some(level);
        let proposed = place.language();
        let language = self.language.clone().or_else(|| proposed.clone()).unwrap_or_else(|| "en".to_owned());
        if let Some(boundary) = place.boundary {
            boundary.name_in(&language).clone_into(&mut name);
        }
        let first = place.areas(level, boundaries)?.0[0];
        if self.region_code.is_none() && region(first, boundaries, &language).is_none() {
            let question = Prompt {
                option: "--region-code CODE",
                text: "Code of the province (ISO 3166-2)",
                default: None,
            };
            self.region_code = Some(questions.answer(question, None, check_code)?);
            questions.finish()?;
        }
        let code = self
            .region_code
            .clone()
            .or_else(|| region(first, boundaries, &language).map(|region| region.code));
        let country = code.unwrap_or_default().chars().take(2).collect::<String>();
        let time_zone = first.closed().and_then(|area| zones::nearest(&country, area.inside.into()));
        let choice = Choice {
            name,
            level,
            larger_level: self.larger_area_level,
            language: &language,
            region: self.region_code.as_deref(),
        };
        Ok(Proposal { city: City::new(&survey, &place, &choice)?, language: proposed, time_zone })
    }

    fn read_own(&self, from: &str) -> Result<Proposal, SetupError> {
        let columns = Columns {
            id: self.id_column.as_deref(),
            name: self.name_column.as_deref(),
            parent: self.parent_column.as_deref(),
        };
        let region = self.region_code.as_deref();
        if from == DEMO {
            let mut city =
                own_file::read(DEMO, DEMO_AREAS, &columns, self.place.as_deref().unwrap_or("Demo"), region)?;
            let lines = DEMO_BASEMAP.lines().map(|line| line.trim_end_matches(','));
            city.basemap =
                lines.filter(|line| line.starts_with("{\"type\":\"Feature\",")).map(str::to_owned).collect();
            return Ok(Proposal {
                city,
                language: Some("id".to_owned()),
                time_zone: Some("Asia/Jakarta".to_owned()),
            });
        }
        let text = fs::read(from).map_err(|error| SetupError::failed(from, error))?;
        let stem = Path::new(from).file_stem().unwrap_or_default().to_string_lossy();
        let name = self.place.as_deref().unwrap_or(&stem);
        let city = own_file::read(from, &text, &columns, name, region)?;
        Ok(Proposal { city, language: None, time_zone: None })
    }

    fn answer(&mut self, questions: &mut Questions, found: &Proposal) -> Result<CitySettings, SetupError> {
        questions.say("2. Who speaks?");
        let question = |option, text, default: Option<&str>| Prompt {
            option,
            text,
            default: default.map(str::to_owned),
        };
        let place = Some(found.city.name.as_str());
        let agency =
            questions.answer(question("--agency NAME", "Agency", place), self.agency.take(), name)?;
        let local = "http://127.0.0.1:8000";
        let url = question("--base-url URL", "Address of the service", Some(local));
        let base_url = questions.answer(url, self.base_url.take(), |url| address(url).map(drop))?;
        let origin = address(&base_url).map(|url| format!("{}/", url.origin().ascii_serialization()));
        let url = question("--contact URL", "Address where people reach the agency", origin.as_deref().ok());
        let contact = questions.answer(url, self.contact.take(), |url| address(url).map(drop))?;
        let number = question("--emergency NUMBER", "Emergency number", Some("112"));
        let emergency = questions.answer(number, self.emergency.take(), check_number)?;
        let code = question(
            "--language CODE",
            "Language of the pages",
            Some(found.language.as_deref().unwrap_or("en")),
        );
        let language = questions.answer(code, self.language.take(), check_language)?;
        let zone = question("--time-zone ZONE", "Time zone", found.time_zone.as_deref());
        let time_zone = questions.answer(zone, self.time_zone.take(), check_zone)?;
        questions.say("3. What may residents do?");
        let form = questions.choice("--form", "Form for reports: on, off", self.form, Form::On)?;
        let review = "Reports that officers review first: all, after (a number in an hour), none";
        let review = questions.choice("--review", review, self.review, Review::After)?;
        let hazards = "What they report: flood, all (also earthquakes, fires …)";
        let hazards = questions.choice("--hazards", hazards, self.hazards, HazardChoice::Flood)?;
        questions.say("4. Who is first at the desk? A name; setup makes a key for it.");
        let officer =
            questions.answer(question("--officer NAME", "Name", Some("desk")), self.officer.take(), name)?;
        questions
            .say("5. Where does it run? none: this machine, or a proxy that you configure (docs/https.md).");
        let is_local = address(&base_url).is_ok_and(|url| is_local(&url));
        let proxy = if is_local { Proxy::None } else { Proxy::Caddy };
        let proxy = questions.choice("--proxy", "Proxy: none, caddy", self.proxy, proxy)?;
        questions.finish()?;
        (self.agency, self.base_url, self.contact) =
            (Some(agency.clone()), Some(base_url.clone()), Some(contact.clone()));
        (self.emergency, self.language) = (Some(emergency.clone()), Some(language.clone()));
        (self.time_zone, self.officer) = (Some(time_zone.clone()), Some(officer.clone()));
        (self.form, self.review, self.hazards, self.proxy) =
            (Some(form), Some(review), Some(hazards), Some(proxy));
        let base_url = address(&base_url).ok().filter(|url| url.as_str() != format!("{local}/v1"));
        Ok(CitySettings {
            agency,
            contact,
            emergency,
            base_url,
            language,
            time_zone,
            form,
            review,
            officer,
            proxy,
            hazards,
        })
    }
}

fn lines(folder: &Path, city: &City, settings: &CitySettings) -> Vec<String> {
    let mut lines = city.notes.clone();
    if !is_translated(&settings.language) {
        let language = &settings.language;
        lines.push(format!(
            "There are no texts in {language} yet: translate country/texts/{language}.json, which is English."
        ));
    }
    if settings.language == "de" {
        lines.push("No native reader has checked the German texts: read country/texts/de.json.".to_owned());
    }
    let origin = settings
        .base_url
        .as_ref()
        .map_or("http://127.0.0.1:8000".to_owned(), |url| url.origin().ascii_serialization());
    lines.push(format!("Made {} areas in {}.", city.areas.len(), folder.display()));
    if settings.proxy == Proxy::Caddy {
        lines.push("For HTTPS, copy Caddyfile to /etc/caddy/Caddyfile and reload Caddy.".to_owned());
    }
    lines.push(format!("Start it: cd {} && siaga", folder.display()));
    lines.push(format!("Then open {origin}/map, {origin}/desk and {origin}/report."));
    lines.push("All alerts are marked as a test, until you remove `status` from Rocket.toml.".to_owned());
    lines
}

fn is_extract(from: &str) -> bool {
    Path::new(from).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("pbf"))
}

fn check_file(from: &str) -> Result<(), String> {
    let path = Path::new(from);
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    match extension.as_str() {
        _ if from == DEMO => Ok(()),
        "shp" | "gpkg" | "zip" | "kml" => Err(format!(
            "must be GeoJSON: convert it with ogr2ogr -f GeoJSON -t_srs EPSG:4326 areas.geojson {from}"
        )),
        _ if !path.is_file() => Err("must be a file that exists, or demo".to_owned()),
        _ => Ok(()),
    }
}

/// Returns the base address of the interface; without a path, the path is `/v1`.
fn address(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let mut url = url.ok_or("must be an address such as https://flood.example.org")?;
    if url.path() == "/" {
        url.set_path("/v1");
    }
    Ok(url)
}

/// Whether only this machine reaches an address.
fn is_local(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

fn check_code(text: &str) -> Result<(), String> {
    let is_right = (2..=16).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if is_right { Ok(()) } else { Err("must be a code such as ID-JK".to_owned()) }
}

fn check_number(text: &str) -> Result<(), String> {
    let is_right = (2..=15).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_right { Ok(()) } else { Err("must have 2 to 15 digits".to_owned()) }
}

fn check_language(text: &str) -> Result<(), String> {
    let is_right = (2..=8).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_lowercase());
    if is_right && fold(text) == text { Ok(()) } else { Err("must be a code such as de".to_owned()) }
}

fn check_zone(text: &str) -> Result<(), String> {
    text.parse::<Tz>().map(drop).map_err(|_| "must be a time zone such as Europe/Vaduz".to_owned())
}
