//! Formats that are templates: declared in the configuration, without a line of Rust.
//!
//! ```toml
//! [default.siaga.formats]
//! enabled = ["topojson", "geojson", "cap", "kml"]
//!
//! [default.siaga.formats.template.kml]
//! file = "templates/kml.xml"
//! media_type = "application/vnd.google-earth.kml+xml"
//! layers = ["floods", "reports", "gauges"]
//! ```
//!
//! A template is written in the language of [MiniJinja](https://docs.rs/minijinja/latest/minijinja/syntax/), with its filters
//! and tests; there is no way from one to another file. It is read once, at the start. One that cannot be read, has a fault, or
//! fails on a made-up layer of a kind it is declared for, or on an empty one, stops the start with its file and line; so does
//! one that makes of these what is not the XML or JSON its media type says.
//!
//! What is JSON stands in the envelope, as all JSON does, unless `container` is `text`.
//!
//! Browsers accept `text/html`, `application/xhtml+xml` and `application/xml` before all else: where nobody names a format, they
//! get a template of one of these types.
//!
//! # What a template gets
//!
//! | variable | |
//! |---|---|
//! | `layer` | `floods`, `reports`, `gauges`, `infrastructure` or `boundaries` |
//! | `features` | the features, in the order of the interface: `{% for feature in features %}`, `features\|length` |
//! | `feature.properties` | the properties as the interface has them in JSON, in their order: `feature.properties.area_name`, `{% for name, value in feature.properties\|items %}` |
//! | `feature.geometry` | the geometry as GeoJSON has it: `type`, `coordinates` |
//! | `feature.wkt` | the geometry as well-known text |
//! | `now` | the time of the request; a template that mentions it is written anew every second, as the CAP feed is |
//! | `base_url` | the public base address, without a slash at its end |
//! | `time_zone` | the configured zone, in which dates are written; `{% set time_zone = "UTC" %}` changes it |
//!
//! Times (`now`, `last_updated`, `created_at`, `f1`) are texts. As in the interface, `state` and `last_updated` of an area
//! without a state are null. What does not exist is an error, never an empty text; what may be missing, such as an entry of
//! `report_data`, is asked for by `is defined` or the filter `default`.
//!
//! # Filters beside those of the language
//!
//! | filter | of | gives |
//! |---|---|---|
//! | `polygons` | a geometry | its polygons, none of a point or a line: each with `outer`, a ring, and `inner`, a list of rings |
//! | `place` | a geometry | a place on it, `lng` and `lat`: within a surface, on a line; null if it has no extent at all |
//! | `kml` | a place, a ring, the geometry of a point or a line | `106.8,-6.2 106.9,-6.1`: longitude first |
//! | `gml` | the same | `-6.2 106.8 -6.1 106.9`: latitude first, as in `gml:posList` and `GeoRSS` |
//! | `wkt` | the same, and the geometry of a surface | `POLYGON ((106.8 -6.2,…))`; a ring is a `LINESTRING` |
//! | `date(format)`, `date(format, zone)` | a time | the time by [`strftime`](chrono::format::strftime), in the variable `time_zone` or the named zone: `{{ now\|date("%d %b %Y %H:%M %Z") }}` |
//! | `rfc3339`, `rfc3339(zone)` | a time | `2016-12-19T20:53:52+07:00`, as in Atom and KML |
//! | `rfc822`, `rfc822(zone)` | a time | `Mon, 19 Dec 2016 20:53:52 +0700`, as in RSS |
//! | `severity` | a flood state, 1 to 4 | `Unknown`, `Minor`, `Moderate`, `Severe` |
//! | `urlencode` | a text | the text for a query: `?name={{ name\|urlencode }}` |
//!
//! A ring is a list of places, the last the same as the first.
//!
//! # Escaping
//!
//! Every value is escaped where it is printed, as the media type wants it. A block that is captured (`{% set %}…{% endset %}`)
//! and what a macro makes are not escaped again. Only `safe` and `{% autoescape false %}` print a value as it is.
//!
//! | media type | a value is printed as |
//! |---|---|
//! | `…/xml`, `…+xml`, `text/html` | text in which `<`, `>`, `&` and quotes are escaped, and characters that XML 1.0 forbids are `U+FFFD`; fit for content and for attributes in quotes |
//! | `…/json`, `…+json`; JSON in lines and sequences | a JSON value: `"title": {{ title }}`, without quotes around it |
//! | `text/csv` | one field, in quotes where it needs them (RFC 4180). A text that a spreadsheet would run as a formula, since it begins with `=`, `+`, `-` or `@`, blanks before it or not, or with a tab or a line break, gets an apostrophe before it; numbers do not |
//! | any other | the value as it is |
//!
//! But in JSON null is printed as nothing, and what is neither text nor number nor `true` or `false` as JSON.
//!
//! # Bounds
//!
//! What a template makes of one layer is at most `max_bytes` long and takes at most `max_time`. Its steps are counted as well, of
//! which `max_time` allows 20 million a second, so that a loop that prints nothing ends too. Beyond, as after any other failure, the
//! request is answered 500, and the log says in which line of which file.

mod bounded;
mod check;
mod engine;
mod error;
mod escaping;
mod features;
mod options;
mod shape_text;
mod shapes;
mod times;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use minijinja::{Environment, Error, Value};
use rocket::http::MediaType;

use self::bounded::Bounded;
use self::error::Failure;
pub use self::error::InvalidTemplate;
use self::escaping::Escaping;
use self::features::Features;
pub use self::options::{Kind, Options};
use super::sample::{Sample, empty};
use super::{Container, EncodeContext, EncodeError, Format};
use crate::model::{Layer, LayerKind};

/// How many steps a template may take for each second of `max_time`: many times what one takes that prints what it makes.
const STEPS_PER_SECOND: u64 = 20_000_000;

/// Writes layers by a template.
///
/// Costs what the template makes of each feature, which is made when the template comes to it.
#[derive(Debug)]
pub struct Template {
    name: String,
    file: PathBuf,
    container: Container,
    media_type: String,
    layers: Vec<LayerKind>,
    escaping: Escaping,
    engine: Environment<'static>,
    /// Whether it tells the time.
    tells_time: bool,
    max_bytes: usize,
    max_time: Duration,
}

/// The formats of all templates, each tried in a context on what it can be asked to write.
///
/// # Errors
///
/// [`InvalidTemplate`] of the first that cannot be one.
pub fn read(
    templates: &BTreeMap<String, Options>,
    context: &EncodeContext,
) -> Result<Vec<Arc<dyn Format>>, InvalidTemplate> {
    let format = |(name, options): (&String, &Options)| {
        let template = Template::new(name, options)?;
        template.rehearse(context)?;
        Ok(Arc::new(template) as Arc<dyn Format>)
    };
    templates.iter().map(format).collect()
}

impl Template {
    /// Reads the template of a format.
    ///
    /// # Errors
    ///
    /// When a key has a wrong value, or the file cannot be read or is no template.
    pub fn new(name: &str, options: &Options) -> Result<Self, InvalidTemplate> {
        let plain = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        if name.is_empty() || !plain {
            return Err(invalid(name, "the name must be of lower-case letters and digits"));
        }
        let wrong = |key: &str, reason: &str| invalid(&format!("{name}.{key}"), reason);
        let Options { media_type, container, layers, max_bytes, max_time, .. } = options;
        let parsed = media_type.parse::<MediaType>().ok();
        let parsed = parsed.filter(|parsed| parsed.top() != "*" && parsed.sub() != "*");
        let parsed = parsed.ok_or_else(|| wrong("media_type", "must be a media type such as text/csv"))?;
        let escaping = Escaping::of(&parsed);
        let container = container.unwrap_or(escaping.container());
        if container == Kind::Json && escaping != Escaping::Json {
            return Err(wrong("container", "json needs a media type of JSON, such as application/json"));
        }
        if layers.is_empty() {
            let kinds = LayerKind::ALL.map(LayerKind::name).join(", ");
            return Err(wrong("layers", &format!("must name at least one of [{kinds}]")));
        }
        for (key, is_none) in [("max_bytes", *max_bytes == 0), ("max_time", max_time.is_zero())] {
            if is_none {
                return Err(wrong(key, "must be more than 0"));
            }
        }
        let file = options.path();
        let failed = |what: &str| wrong("file", &Failure::new(&file, what).to_string());
        let source = fs::read(&file).map_err(|error| failed(&format!(": {error}")))?;
        let source = String::from_utf8(source).map_err(|error| {
            let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = before.split(|&byte| byte == b'\n').count();
            failed(&format!(", line {line}: is not UTF-8"))
        })?;
        let millis = u64::try_from(max_time.as_millis()).unwrap_or(u64::MAX);
        // The engine counts with a sign.
        let steps = millis.saturating_mul(STEPS_PER_SECOND / 1000).clamp(1, i64::MAX as u64);
        let mut engine = engine::engine(escaping, steps);
        let unreadable = |error: &Error| wrong("file", &Failure::of(&file, error).to_string());
        engine.add_template_owned(name.to_owned(), source).map_err(|error| unreadable(&error))?;
        let template = engine.get_template(name).map_err(|error| unreadable(&error))?;
        let tells_time = template.undeclared_variables(false).contains("now");
        Ok(Self {
            name: name.to_owned(),
            container: container.into(),
            media_type: media_type.clone(),
            layers: layers.clone(),
            escaping,
            tells_time,
            // What does not fit into memory does not fit into a smaller limit either.
            max_bytes: max_bytes.as_u64().try_into().unwrap_or(usize::MAX),
            max_time: *max_time,
            file,
            engine,
        })
    }

    /// Writes a made-up layer of each kind, and an empty one.
    fn rehearse(&self, context: &EncodeContext) -> Result<(), InvalidTemplate> {
        for &kind in &self.layers {
            let layers = [("made-up", Sample::Hostile.layer(kind, context.now)), ("empty", empty(kind))];
            for (which, layer) in layers {
                let mut out = Vec::new();
                let written = self.write(&layer, context, &mut out).map_err(|failure| failure.to_string());
                let sound = written.and_then(|()| {
                    let told =
                        |fault: String| Failure::new(&self.file, &format!(": makes {fault}")).to_string();
                    self.escaping.check(&out).map_err(told)
                });
                sound.map_err(|fault| {
                    let key = format!("{}.file", self.name);
                    invalid(&key, &format!("{fault} (of a layer of {} that is {which})", kind.name()))
                })?;
            }
        }
        Ok(())
    }

    fn write(&self, layer: &Layer, context: &EncodeContext, out: &mut Vec<u8>) -> Result<(), Failure> {
        let variables = [
            ("layer", Value::from(layer.kind().name())),
            ("features", Value::from_object(Features(Arc::new(layer.clone())))),
            ("base_url", Value::from(&*context.base_url)),
            ("time_zone", Value::from(context.time_zone.name())),
        ];
        // Who does not mention it cannot come to it by another way, which `time_step` would not know.
        let now = self.tells_time.then(|| ("now", Value::from(context.now.to_string())));
        let variables = Value::from_pairs(variables.into_iter().chain(now));
        let mut bounded = Bounded::new(out, self.max_bytes, self.max_time);
        let rendered = self
            .engine
            .get_template(&self.name)
            .and_then(|template| template.render_captured_to(variables, &mut bounded).map(drop));
        rendered.map_err(|error| match bounded.exceeded() {
            Some(bound) => Failure::new(&self.file, &format!(": {bound}")),
            None => Failure::of(&self.file, &error),
        })
    }
}

impl Format for Template {
    fn name(&self) -> &str {
        &self.name
    }

    fn container(&self) -> Container {
        self.container
    }

    fn media_type(&self) -> &str {
        &self.media_type
    }

    fn carries(&self, kind: LayerKind) -> bool {
        self.layers.contains(&kind)
    }

    fn time_step(&self) -> Option<Duration> {
        self.tells_time.then_some(Duration::from_secs(1))
    }

    fn encode(&self, layer: &Layer, context: &EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        self.write(layer, context, out)
            .map_err(|failure| EncodeError { format: self.name.clone(), source: failure.into() })
    }
}

fn invalid(key: &str, reason: &str) -> InvalidTemplate {
    InvalidTemplate { key: key.to_owned(), reason: reason.to_owned() }
}
