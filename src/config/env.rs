use std::env;

use figment::providers::Env;
use figment::value::{Dict, Map, Value};
use figment::{Error, Metadata, Profile, Provider};

use super::Config;

/// The environment: `SIAGA_STORE`, `SIAGA_FORMATS__DEFAULT`, with `__` between levels.
///
/// A value in brackets, braces or quotes and the words `true` and `false` are read as in TOML; anything else, and a
/// secret whatever it looks like, is text. Keys that take a number take it as text too.
#[derive(Clone, Copy, Debug)]
pub struct SiagaEnv;

const PREFIX: &str = "SIAGA_";
/// What keys begin with whose value is taken as it stands.
const TEXTS: [&str; 6] = [
    "auth.jwt.secret",
    "auth.jwt.public_key",
    "auth.jwt.jwks",
    "images.signing_key",
    "images.options.",
    "metrics.token",
];

impl Provider for SiagaEnv {
    fn metadata(&self) -> Metadata {
        Metadata::named("the environment, SIAGA_…")
    }

    fn data(&self) -> Result<Map<Profile, Dict>, Error> {
        let mut dict = Dict::new();
        for (name, text) in Env::prefixed(PREFIX).iter() {
            let key = name.as_str().replace("__", ".").to_ascii_lowercase();
            if is_injected(&key, &text) {
                continue;
            }
            let structured = text.starts_with(['[', '{', '"']) || text == "true" || text == "false";
            let value = match text.parse() {
                Ok(value) if structured && !TEXTS.iter().any(|text| key.starts_with(text)) => value,
                _ => Value::from(text),
            };
            insert(&mut dict, &key, value);
        }
        let table = Dict::from([(Config::KEY.to_owned(), Value::from(dict))]);
        // Into the profile that overrides all others: what is in the environment is meant for this run.
        Ok(Map::from([(Profile::Global, table)]))
    }
}

/// Whether a container platform may have set the variable for a service of the name `siaga`:
/// `SIAGA_PORT=tcp://…`, `SIAGA_PORT_8000_TCP_ADDR`, `SIAGA_SERVICE_HOST`, `SIAGA_SERVICE_PORT_HTTP`.
fn is_injected(key: &str, text: &str) -> bool {
    // A plain number was written by somebody who means Rocket's port.
    let is_address = key == "port" && text.parse::<u16>().is_err();
    is_address || key.starts_with("port_") || key.starts_with("service_")
}

/// The environment: `DATABASE_URL`, which platforms set, as `databases.siaga.url`.
#[derive(Clone, Copy, Debug)]
pub struct DatabaseUrl;

impl Provider for DatabaseUrl {
    fn metadata(&self) -> Metadata {
        Metadata::named("the environment, DATABASE_URL")
    }

    fn data(&self) -> Result<Map<Profile, Dict>, Error> {
        let mut dict = Dict::new();
        if let Some(url) = Env::var("DATABASE_URL").filter(|url| !url.is_empty()) {
            insert(&mut dict, "databases.siaga.url", Value::from(url));
        }
        Ok(Map::from([(Profile::Global, dict)]))
    }
}

/// The environment: `ROCKET_CONFIG`, whose file must be there. Read without it the service would start with its defaults.
#[derive(Clone, Copy, Debug)]
pub struct NamedFile;

impl NamedFile {
    const VARIABLE: &'static str = "ROCKET_CONFIG";

    /// The path of the configuration file; as Rocket does, one that is relative is looked for in the folders above, too.
    #[must_use]
    pub fn path() -> String {
        Env::var_or(Self::VARIABLE, "Rocket.toml")
    }
}

impl Provider for NamedFile {
    fn metadata(&self) -> Metadata {
        Metadata::named("the environment, ROCKET_CONFIG")
    }

    fn data(&self) -> Result<Map<Profile, Dict>, Error> {
        let is_there = |path: &str| {
            let here = env::current_dir().unwrap_or_default();
            here.ancestors().any(|folder| folder.join(path).is_file())
        };
        match Env::var(Self::VARIABLE) {
            Some(path) if !is_there(&path) => Err(Error::from(format!("{path}: there is no such file"))),
            _ => Ok(Map::new()),
        }
    }
}

/// Puts a value at a path of keys with dots between them.
fn insert(dict: &mut Dict, path: &str, value: Value) {
    let Some((first, rest)) = path.split_once('.') else {
        dict.insert(path.to_owned(), value);
        return;
    };
    let table = dict.entry(first.to_owned()).or_insert_with(|| Value::from(Dict::new()));
    if !matches!(table, Value::Dict(..)) {
        *table = Value::from(Dict::new());
    }
    if let Value::Dict(_, table) = table {
        insert(table, rest, value);
    }
}
