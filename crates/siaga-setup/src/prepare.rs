//! What setup asks, in which order, and with which defaults.

use std::fs;
use std::path::{Path, PathBuf, absolute};

use chrono_tz::Tz;
use url::{Host, Url};

use crate::city::{City, is_region_code, regions};
use crate::files::{self, CitySettings, is_translated};
use crate::folder::{Prepared, Record};
use crate::options::{Form, HazardChoice, Proxy, Review};
use crate::own_file::{self, Columns};
use crate::place::Place;
use crate::questions::{Questions, ensure};
use crate::survey::Survey;
use crate::{Options, SetupError, zones};

const DEMO: &str = "demo";
const DEMO_AREAS: &[u8] = include_bytes!("../../../demo/areas.geojson");
const DEMO_BASEMAP: &str = include_str!("../../../demo/basemap.geojson");

/// A city, with what the place itself proposes.
struct Proposal {
    city: City,
    language: String,
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
        // Without a slash at the end, which `rename` does not take.
        let folder: PathBuf = folder.components().collect();
        let record = Record::read(&folder)?;
        let earlier = record.as_ref().map(|record| record.options.clone()).unwrap_or_default();
        let mut options =
            self.or(earlier).map_err(|error| SetupError::failed("the options of the folder", error))?;
        let mut questions = Questions::new(options.yes);
        let proposal = options.propose(&mut questions)?;
        let settings = options.settle(&mut questions, &proposal)?;
        let city = &proposal.city;
        let files = files::files(&folder, city, &settings)?;
        let lines = lines(&folder, city, &settings);
        let options =
            serde_json::to_value(&options).map_err(|error| SetupError::failed("the options", error))?;
        Ok(Prepared {
            folder,
            officer: settings.officer,
            areas: city.areas.len(),
            lines,
            files,
            record,
            options,
        })
    }

    fn propose(&mut self, questions: &mut Questions) -> Result<Proposal, SetupError> {
        questions.say("1. Where? An OpenStreetMap extract (.osm.pbf), a GeoJSON file in WGS 84, or demo.");
        let asked = questions.is_asking().then_some(DEMO);
        let from = questions.answer(&mut self.from, "--from FILE", "File", asked, check_file)?;
        let is_extract = from.is_empty() || is_extract(&from);
        let has_place = self.place.is_some() || self.place_id.is_some() || self.whole_file == Some(true);
        if !questions.is_asking() {
            // A large file is read only if the place in it is known.
            let missing =
                [(is_extract && !has_place, "--place NAME"), (self.agency.is_none(), "--agency NAME")];
            questions.add_missing(missing.into_iter().filter(|(is, _)| *is).map(|(_, name)| name.to_owned()));
            if is_extract && !has_place {
                questions.finish()?;
            }
        }
        let proposal = if is_extract {
            self.propose_in_extract(Path::new(&from), questions)
        } else {
            self.propose_own(&from, questions)
        };
        if let Err(SetupError::Missing(missing)) = &proposal {
            questions.add_missing(missing.iter().cloned());
            // Without the region, the time zone is not known either.
            questions.add_missing(self.time_zone.is_none().then(|| "--time-zone ZONE".to_owned()));
            questions.finish()?;
        }
        // The next run may be in another folder.
        if from != DEMO {
            self.from = absolute(&from).ok().map(|path| path.display().to_string());
        }
        proposal
    }

    fn propose_in_extract(&mut self, from: &Path, questions: &mut Questions) -> Result<Proposal, SetupError> {
        let survey = Survey::new(from)?;
        let boundaries = &survey.boundaries;
        let place = if self.whole_file == Some(true) {
            Place::whole_file(boundaries)
        } else {
            if self.place_id.is_none() {
                let closed = boundaries.iter().filter(|boundary| boundary.closed().is_some());
                let largest = closed.min_by_key(|boundary| (boundary.level, boundary.id));
                let largest = largest.map(|boundary| boundary.name.as_str());
                let find = |name: &str| Place::find(name, self.level, boundaries);
                // A name that was given is checked below, where the message is whole.
                if self.place.is_none() {
                    let check = |name: &str| find(name).map(drop).map_err(|error| error.to_string());
                    let name = questions.answer(&mut self.place, "--place NAME", "Place", largest, check)?;
                    self.place = Some(name);
                }
            }
            let name = self.place_id.as_deref().or(self.place.as_deref()).unwrap_or_default();
            Place::find(name, self.level, boundaries)?
        };
        let level = self.choose_levels(&place, questions)?;
        let areas = place.areas(level, boundaries)?;
        let default = place.language();
        let language = questions.answer(
            &mut self.language,
            "--language CODE",
            "Language of the pages",
            Some(default.as_deref().unwrap_or("en")),
            check_language,
        )?;
        let regions = regions(&areas, boundaries);
        if self.region_code.is_none() && regions.iter().any(Option::is_none) {
            let text = "Code of the province (ISO 3166-2)";
            questions.answer(&mut self.region_code, "--region-code CODE", text, None, check_region)?;
            questions.finish()?;
        }
        let stem = from.file_name().unwrap_or_default().to_string_lossy();
        let file_name = stem.split('.').next().unwrap_or_default();
        let name = match place.boundary {
            Some(boundary) => boundary.name_in(&language),
            None => self.place.as_deref().unwrap_or(file_name),
        };
        let city = City::new(&survey, &place, areas.iter().copied().zip(regions), self, name, &language)?;
        let country = city.regions.first().map(|region| region.code.chars().take(2).collect::<String>());
        let inside = areas[0].closed().map(|area| area.inside);
        let time_zone = country.zip(inside).and_then(|(country, at)| zones::nearest(&country, at.into()));
        Ok(Proposal { city, language, time_zone })
    }

    /// Returns the level of the areas.
    fn choose_levels(&mut self, place: &Place<'_>, questions: &mut Questions) -> Result<u8, SetupError> {
        if place.levels.is_empty() {
            return Err(SetupError::failed(
                "--place",
                "the extract has no closed smaller areas in it, or is cut off",
            ));
        }
        for (level, areas) in &place.levels {
            let names: Vec<_> = areas.iter().take(3).map(|area| area.name.as_str()).collect();
            questions.say(format!("   level {level}: {} areas, such as {}", areas.len(), names.join(", ")));
        }
        let is_level = |answer: &str| {
            let level = answer.parse::<u8>();
            ensure(level.is_ok_and(|level| place.levels.contains_key(&level)), "one of the levels")
        };
        let level = if let Some(level) = self.level {
            level
        } else {
            let proposed = place.proposed_level().map(|level| level.to_string());
            let text = "Level of the neighbourhoods";
            let level = questions.answer(&mut None, "--level LEVEL", text, proposed.as_deref(), is_level)?;
            questions.finish()?;
            level.parse().unwrap_or_default()
        };
        // Kept even if it is the default: another level would be other areas.
        self.level = Some(level);
        let has_larger = place.levels.keys().any(|other| *other < level);
        if self.larger_area_level.is_none() && questions.is_asking() && has_larger {
            let check = |answer: &str| if answer == "none" { Ok(()) } else { is_level(answer) };
            let text = "Level of the larger areas, or none";
            let larger =
                questions.answer(&mut None, "--larger-area-level LEVEL", text, Some("none"), check)?;
            self.larger_area_level = larger.parse().ok();
        }
        if self.larger_area_level.is_some_and(|larger| larger >= level) {
            let rule = format!("must be less than the level of the areas, {level}");
            return Err(SetupError::failed("--larger-area-level", rule));
        }
        Ok(level)
    }

    fn propose_own(&mut self, from: &str, questions: &mut Questions) -> Result<Proposal, SetupError> {
        let is_demo = from == DEMO;
        let content = if is_demo { Ok(DEMO_AREAS.to_vec()) } else { fs::read(from) };
        let content = content.map_err(|error| SetupError::failed(from, error))?;
        let stem = Path::new(from).file_stem().unwrap_or_default().to_string_lossy();
        let name =
            self.place.clone().unwrap_or_else(|| if is_demo { "Demo".to_owned() } else { stem.into_owned() });
        let language = questions.answer(
            &mut self.language,
            "--language CODE",
            "Language of the pages",
            Some(if is_demo { "id" } else { "en" }),
            check_language,
        )?;
        let read = |options: &Self| {
            let columns = Columns {
                id: options.id_column.as_deref(),
                name: options.name_column.as_deref(),
                parent: options.parent_column.as_deref(),
            };
            own_file::read(from, &content, &columns, &name, options.region_code.as_deref())
        };
        let mut city = read(self);
        if let (Err(SetupError::Missing(missing)), true) = (&city, questions.is_asking()) {
            for option in missing.clone() {
                let (given, text) = match option.split(' ').next() {
                    Some("--id-column") => (&mut self.id_column, "Property with the numbers of the areas"),
                    Some("--name-column") => (&mut self.name_column, "Property with the names of the areas"),
                    _ => (&mut self.region_code, "Code of the province (ISO 3166-2)"),
                };
                let is_code = text.starts_with("Code");
                let check = |text: &str| if is_code { check_region(text) } else { Ok(()) };
                questions.answer(given, &option, text, None, check)?;
            }
            city = read(self);
        }
        let mut city = city?;
        if is_demo {
            let lines = DEMO_BASEMAP.lines().map(|line| line.trim_end_matches(','));
            city.basemap =
                lines.filter(|line| line.starts_with("{\"type\":\"Feature\",")).map(str::to_owned).collect();
        }
        Ok(Proposal { city, language, time_zone: is_demo.then(|| "Asia/Jakarta".to_owned()) })
    }

    fn settle(&mut self, questions: &mut Questions, proposal: &Proposal) -> Result<CitySettings, SetupError> {
        questions.say("2. Who speaks?");
        // With `--yes`, nobody has seen a default name.
        let place = questions.is_asking().then_some(&*proposal.city.name);
        let agency = match &self.agency {
            None if !questions.is_asking() => String::new(),
            _ => questions.answer(&mut self.agency, "--agency NAME", "Agency", place, check_name)?,
        };
        let text = "Address of the service";
        let base_url = questions
            .answer(&mut self.base_url, "--base-url URL", text, Some(LOCAL), |url| address(url).map(drop))?;
        let base_url = address(&base_url).map_err(|reason| SetupError::failed("--base-url", reason))?;
        let own = format!("{}/", base_url.origin().ascii_serialization());
        let text = "Web address of the agency";
        let contact = questions
            .answer(&mut self.contact, "--contact URL", text, Some(&own), |url| address(url).map(drop))?;
        let text = "Emergency number";
        let emergency =
            questions.answer(&mut self.emergency, "--emergency NUMBER", text, Some("112"), check_number)?;
        let zone = proposal.time_zone.as_deref();
        let time_zone =
            questions.answer(&mut self.time_zone, "--time-zone ZONE", "Time zone", zone, check_zone)?;
        questions.say("3. What may residents do?");
        let form = questions.choice(&mut self.form, "Form for reports: on, off", Form::On)?;
        let text = "Reports that officers review first: all, after (a number in an hour), none";
        let review = questions.choice(&mut self.review, text, Review::After)?;
        let text = "What they report: flood, all (also earthquakes, fires …)";
        let hazards = questions.choice(&mut self.hazards, text, HazardChoice::Flood)?;
        questions.say("4. Who is first at the desk? A name; setup makes a key for it.");
        let officer =
            questions.answer(&mut self.officer, "--officer NAME", "Name", Some("desk"), check_name)?;
        questions
            .say("5. Where does it run? none: this machine, or a proxy that you configure (docs/https.md).");
        let is_public = base_url.scheme() == "https" && base_url.port().is_none() && !is_local(&base_url);
        let proxy = if is_public { Proxy::Caddy } else { Proxy::None };
        let proxy = questions.choice(&mut self.proxy, "Proxy: none, caddy", proxy)?;
        if proxy == Proxy::Caddy && !is_public {
            questions.add_missing(["--base-url URL, an https address without a port".to_owned()]);
        }
        questions.finish()?;
        let language = proposal.language.clone();
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

const LOCAL: &str = "http://127.0.0.1:8000";

fn lines(folder: &Path, city: &City, settings: &CitySettings) -> Vec<String> {
    let mut lines = city.notes.clone();
    let language = &settings.language;
    if !is_translated(language) {
        lines.push(format!(
            "There are no texts in {language} yet: translate country/texts/{language}.json, which is English."
        ));
    }
    if language == "de" {
        lines.push("No native reader has checked the German texts: read country/texts/de.json.".to_owned());
    }
    let folder = folder.display();
    lines.push(format!(
        "Made {} areas in {folder}. Emergency number: {}.",
        city.areas.len(),
        settings.emergency
    ));
    if settings.proxy == Proxy::Caddy {
        lines.push("For HTTPS, add Caddyfile to /etc/caddy/Caddyfile and reload Caddy.".to_owned());
    }
    lines.push(format!("Start it: cd '{folder}' && siaga"));
    let origin = settings.base_url.origin().ascii_serialization();
    let report = if settings.form == Form::On { format!(" and {origin}/report") } else { String::new() };
    lines.push(format!("Then open {origin}/map, {origin}/desk{report}."));
    lines.push("All alerts are marked as a test, until you remove `status` from Rocket.toml.".to_owned());
    lines
}

fn is_extract(from: &str) -> bool {
    Path::new(from).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("pbf"))
}

fn check_file(from: &str) -> Result<(), String> {
    let extension = Path::new(from).extension().unwrap_or_default().to_ascii_lowercase();
    if ["shp", "gpkg", "zip", "kml"].iter().any(|other| extension == *other) {
        return Err(format!(
            "must be GeoJSON: convert it with ogr2ogr -f GeoJSON -t_srs EPSG:4326 areas.geojson {from}"
        ));
    }
    ensure(from == DEMO || Path::new(from).is_file(), "a file that exists, or demo")
}

/// Returns the base address of the interface; without a path, the path is `/v1`.
fn address(text: &str) -> Result<Url, String> {
    let is_right = |url: &Url| {
        let is_plain = url.query().is_none() && url.fragment().is_none() && url.username().is_empty();
        matches!(url.scheme(), "http" | "https") && url.has_host() && is_plain
    };
    let url = Url::parse(text).ok().filter(is_right);
    let mut url = url.ok_or("must be an address such as https://flood.example.org")?;
    if url.path() == "/" {
        url.set_path("/v1");
    }
    Ok(url)
}

/// Whether only this machine reaches an address.
pub(crate) fn is_local(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Accepts a name that pages can show.
fn check_name(text: &str) -> Result<(), String> {
    let is_right = !text.trim().is_empty() && text.chars().count() < 256 && !text.contains(char::is_control);
    ensure(is_right, "a text of 1 to 255 characters on one line")
}

fn check_region(text: &str) -> Result<(), String> {
    ensure(is_region_code(text), "a code such as ID-JK")
}

fn check_number(text: &str) -> Result<(), String> {
    ensure((2..=15).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit()), "2 to 15 digits")
}

fn check_language(text: &str) -> Result<(), String> {
    let is_right = (2..=8).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_lowercase());
    ensure(is_right, "a code such as de")
}

fn check_zone(text: &str) -> Result<(), String> {
    ensure(text.parse::<Tz>().is_ok(), "a time zone such as Europe/Vaduz")
}
