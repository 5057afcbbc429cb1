//! Template formats, declared in the configuration. `docs/templates.md` describes their variables, filters, escaping and limits.

mod bounded;
mod budget;
mod engine;
mod error;
mod escaping;
mod features;
mod live;
mod options;
mod shape_text;
mod shapes;
mod snippet;
mod source;
mod times;

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mime::Mime;
use minijinja::{Environment, Error, Value};
use ubyte::ByteUnit;

use self::bounded::Bounded;
use self::budget::Budget;
use self::error::Failure;
pub use self::error::InvalidTemplate;
use self::escaping::Escaping;
use self::features::Features;
pub(crate) use self::live::LiveTemplate;
pub use self::options::{Kind, Options};
pub(crate) use self::snippet::Snippet;
use super::{Container, EncodeContext, EncodeError, Format};
use crate::model::{Layer, LayerKind};
use crate::schema::resources::{Sample, sample};

/// The number of engine steps that a template may take per second of `max_time`. Templates that mainly print need far fewer.
const STEPS_PER_SECOND: u64 = 20_000_000;

/// Writes layers with a template. The cost depends on the template's operations and on the number of features that it reads.
#[derive(Debug)]
pub struct Template {
    name: String,
    file: PathBuf,
    container: Container,
    media_type: String,
    layers: Vec<LayerKind>,
    escaping: Escaping,
    engine: Environment<'static>,
    uses_now: bool,
    version: u64,
    max_bytes: ByteUnit,
    max_time: Duration,
}

pub(crate) fn read(
    templates: &BTreeMap<String, Options>,
    context: &EncodeContext,
) -> Result<Vec<Arc<LiveTemplate>>, InvalidTemplate> {
    let format =
        |(name, options): (&String, &Options)| LiveTemplate::read(name, options, context).map(Arc::new);
    templates.iter().map(format).collect()
}

/// Returns the formats of all templates from their settings, without reading the template files. These formats write nothing.
pub(crate) fn from_settings(
    templates: &BTreeMap<String, Options>,
) -> Result<Vec<Arc<dyn Format>>, InvalidTemplate> {
    let format = |(name, options): (&String, &Options)| {
        Template::with_source(name, options, |_| Ok(String::new()))
            .map(|template| Arc::new(template) as Arc<dyn Format>)
    };
    templates.iter().map(format).collect()
}

impl Template {
    /// Reads the template of a format.
    ///
    /// # Errors
    ///
    /// If a key has a wrong value, or the file cannot be read or is not a template.
    pub fn new(name: &str, options: &Options) -> Result<Self, InvalidTemplate> {
        Self::with_source(name, options, source::read)
    }

    fn checked(name: &str, options: &Options, context: &EncodeContext) -> Result<Self, InvalidTemplate> {
        let template = Self::new(name, options)?;
        template.check_samples(context)?;
        Ok(template)
    }

    fn with_source(
        name: &str,
        options: &Options,
        source: impl FnOnce(&Path) -> Result<String, Failure>,
    ) -> Result<Self, InvalidTemplate> {
        let plain = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        if name.is_empty() || !plain {
            return Err(invalid(name, "the name must be of lower-case letters and digits"));
        }
        let fault = |key: &str, reason: &str| invalid(&format!("{name}.{key}"), reason);
        let Options { media_type, container, layers, max_bytes, max_time, .. } = options;
        let parsed = media_type.parse::<Mime>().ok();
        let parsed = parsed.filter(|parsed| parsed.type_() != mime::STAR && parsed.subtype() != mime::STAR);
        let parsed = parsed.ok_or_else(|| fault("media_type", "must be a media type such as text/csv"))?;
        let escaping = Escaping::for_media_type(&parsed);
        let container = container.unwrap_or(escaping.container());
        if container == Kind::Json && escaping != Escaping::Json {
            return Err(fault("container", "json needs a media type of JSON, such as application/json"));
        }
        if layers.is_empty() {
            let kinds = LayerKind::ALL.map(LayerKind::name).join(", ");
            return Err(fault("layers", &format!("must name at least one of [{kinds}]")));
        }
        for (key, is_none) in [("max_bytes", *max_bytes == 0), ("max_time", max_time.is_zero())] {
            if is_none {
                return Err(fault(key, "must be more than 0"));
            }
        }
        let file = options.path();
        let source = source(&file).map_err(|failure| fault("file", &failure.to_string()))?;
        let millis = u64::try_from(max_time.as_millis()).unwrap_or(u64::MAX);
        // The engine counts steps with a signed number.
        let steps = millis.saturating_mul(STEPS_PER_SECOND / 1000).clamp(1, i64::MAX as u64);
        let mut engine = engine::engine(escaping, steps);
        let unreadable = |error: &Error| fault("file", &Failure::from_engine(&file, error).to_string());
        let mut version = DefaultHasher::new();
        source.hash(&mut version);
        engine.add_template_owned(name.to_owned(), source).map_err(|error| unreadable(&error))?;
        let template = engine.get_template(name).map_err(|error| unreadable(&error))?;
        let uses_now = template.undeclared_variables(false).contains("now");
        Ok(Self {
            name: name.to_owned(),
            container: container.into(),
            media_type: media_type.clone(),
            layers: layers.clone(),
            escaping,
            uses_now,
            version: version.finish(),
            max_bytes: *max_bytes,
            max_time: *max_time,
            file,
            engine,
        })
    }

    /// Checks the output for sample features and for an empty layer. The two outputs must differ.
    fn check_samples(&self, context: &EncodeContext) -> Result<(), InvalidTemplate> {
        for &kind in &self.layers {
            let output =
                self.check_sample(&sample(kind, Sample::Hostile, context.now), "made-up", context)?;
            if output == self.check_sample(&Layer::empty(kind), "empty", context)? {
                let reason = format!(": it writes nothing of {}", kind.name());
                return Err(self.at_fault(&Failure::new(&self.file, &reason).to_string()));
            }
        }
        Ok(())
    }

    /// Returns the output for the layer after checking that it is valid and matches the media type.
    fn check_sample(
        &self,
        layer: &Layer,
        which: &str,
        context: &EncodeContext,
    ) -> Result<Vec<u8>, InvalidTemplate> {
        let case = format!("(of a layer of {} that is {which})", layer.kind().name());
        let mut out = Vec::new();
        self.write(layer, context, &mut out)
            .map_err(|failure| self.at_fault(&format!("{failure} {case}")))?;
        self.escaping.check(&out).map_err(|fault| {
            let failure = Failure::new(&self.file, &format!(": makes {fault}"));
            self.at_fault(&format!("{failure} {case}"))
        })?;
        let parsed = self.media_type.parse::<Mime>().ok();
        match parsed.and_then(|media_type| self.escaping.mismatch(&media_type, &out)) {
            Some(reason) => Err(invalid(&format!("{}.media_type", self.name), &reason)),
            None => Ok(out),
        }
    }

    fn at_fault(&self, reason: &str) -> InvalidTemplate {
        invalid(&format!("{}.file", self.name), reason)
    }

    fn write(&self, layer: &Layer, context: &EncodeContext, out: &mut Vec<u8>) -> Result<(), Failure> {
        let budget = Arc::new(Budget::new(self.max_bytes, self.max_time, context.stop.clone()));
        let variables = [
            ("layer", Value::from(layer.kind().name())),
            ("features", Value::from_object(Features::new(layer, &budget))),
            ("base_url", Value::from(&*context.base_url)),
            ("time_zone", Value::from(context.time_zone.name())),
            (Budget::VARIABLE, Value::from_dyn_object(Arc::clone(&budget))),
        ];
        // Only templates that use `now` get the variable: `time_step` assumes that time does not change the output of the others.
        let now = self.uses_now.then(|| ("now", Value::from(context.now.to_string())));
        let variables = Value::from_pairs(variables.into_iter().chain(now));
        let rendered = self.engine.get_template(&self.name).and_then(|template| {
            template.render_captured_to(variables, Bounded::new(out, &budget)).map(drop)
        });
        rendered.map_err(|error| match budget.exceeded() {
            Some(bound) => Failure::at(&self.file, &error, bound),
            None => Failure::from_engine(&self.file, &error),
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

    fn version(&self) -> u64 {
        self.version
    }

    fn supports(&self, kind: LayerKind) -> bool {
        self.layers.contains(&kind)
    }

    fn time_step(&self) -> Option<Duration> {
        self.uses_now.then_some(Duration::from_secs(1))
    }

    fn encode(&self, layer: &Layer, context: &EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        self.write(layer, context, out).map_err(|failure| EncodeError::new(&self.name, failure))
    }
}

fn invalid(key: &str, reason: &str) -> InvalidTemplate {
    InvalidTemplate { key: key.to_owned(), reason: reason.to_owned() }
}
