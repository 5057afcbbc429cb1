use std::path::{Path, PathBuf};
use std::{env, fs};

use figment::providers::Env;
use figment::value::{Dict, Map, Value};
use figment::{Error, Metadata, Profile, Provider};

use super::Config;

/// Reads environment variables such as `SIAGA_STORE` and `SIAGA_FORMATS__DEFAULT`, with `__` between levels.
///
/// Values that start with a bracket, a brace or a quote, and `true` and `false`, are parsed as TOML. All others, and secrets, are
/// text. Keys that need a number also accept it as text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SiagaEnv;

const PREFIX: &str = "SIAGA_";
/// Prefixes of keys whose value is always text.
const TEXTS: [&str; 5] =
    ["auth.jwt.secret", "auth.jwt.public_key", "images.signing_key", "images.options.", "metrics.token"];

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
            insert_at(&mut dict, &key, value);
        }
        let table = Dict::from([(Config::KEY.to_owned(), Value::from(dict))]);
        // Overrides all profiles: the environment is specific to this run.
        Ok(Map::from([(Profile::Global, table)]))
    }
}

/// Whether a container platform may have set the variable for a service named `siaga`, such as `SIAGA_PORT=tcp://…`,
/// `SIAGA_PORT_8000_TCP_ADDR`, `SIAGA_SERVICE_HOST` or `SIAGA_SERVICE_PORT_HTTP`.
fn is_injected(key: &str, text: &str) -> bool {
    // Report a plain number: a person set it, and confused `SIAGA_PORT` with Rocket's port.
    let is_address = key == "port" && text.parse::<u16>().is_err();
    is_address || key.starts_with("port_") || key.starts_with("service_")
}

/// Reads the environment variable `DATABASE_URL`, which platforms set, as the key `databases.siaga.url`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DatabaseUrl;

impl Provider for DatabaseUrl {
    fn metadata(&self) -> Metadata {
        Metadata::named("the environment, DATABASE_URL")
    }

    fn data(&self) -> Result<Map<Profile, Dict>, Error> {
        let mut dict = Dict::new();
        if let Some(url) = Env::var("DATABASE_URL").filter(|url| !url.is_empty()) {
            insert_at(&mut dict, "databases.siaga.url", Value::from(url));
        }
        Ok(Map::from([(Profile::Global, dict)]))
    }
}

/// Checks that the file in `ROCKET_CONFIG` exists. Otherwise the service would silently use defaults.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamedFile;

impl NamedFile {
    const VARIABLE: &'static str = "ROCKET_CONFIG";
    const LOCAL: &'static str = "Rocket.toml";
    pub(crate) const INSTALLED: &'static str = "/etc/siaga/Rocket.toml";

    /// Returns the path of the configuration file: `ROCKET_CONFIG`, or else `Rocket.toml` if found, or else
    /// [`INSTALLED`](Self::INSTALLED). As in Rocket, a relative path is searched in the working directory and all directories
    /// above.
    #[must_use]
    pub(crate) fn path() -> String {
        let local = if find_upwards(Self::LOCAL).is_some() { Self::LOCAL } else { Self::INSTALLED };
        Env::var_or(Self::VARIABLE, local)
    }

    /// Returns the file that is read, if there is one.
    pub(crate) fn found() -> Option<PathBuf> {
        find_upwards(&Self::path())
    }

    pub(crate) fn is_installed() -> bool {
        Self::found().is_some_and(|path| path == Path::new(Self::INSTALLED))
    }

    /// Returns the name of a file in the working directory that differs from `Rocket.toml` in capital letters, and is not read.
    pub(crate) fn in_wrong_case() -> Option<String> {
        let names = fs::read_dir(".").ok()?.flatten().map(|entry| entry.file_name());
        let mut names = names.filter_map(|name| name.into_string().ok());
        names.find(|name| name != Self::LOCAL && name.eq_ignore_ascii_case(Self::LOCAL))
    }
}

fn find_upwards(path: &str) -> Option<PathBuf> {
    let current = env::current_dir().unwrap_or_default();
    current.ancestors().map(|folder| folder.join(path)).find(|path| path.is_file())
}

impl Provider for NamedFile {
    fn metadata(&self) -> Metadata {
        Metadata::named("the environment, ROCKET_CONFIG")
    }

    fn data(&self) -> Result<Map<Profile, Dict>, Error> {
        match Env::var(Self::VARIABLE) {
            Some(path) if find_upwards(&path).is_none() => {
                Err(Error::from(format!("{path}: there is no such file")))
            }
            _ => Ok(Map::new()),
        }
    }
}

fn insert_at(dict: &mut Dict, path: &str, value: Value) {
    let Some((first, rest)) = path.split_once('.') else {
        dict.insert(path.to_owned(), value);
        return;
    };
    let table = dict.entry(first.to_owned()).or_insert_with(|| Value::from(Dict::new()));
    if !matches!(table, Value::Dict(..)) {
        *table = Value::from(Dict::new());
    }
    if let Value::Dict(_, table) = table {
        insert_at(table, rest, value);
    }
}
