//! Services as processes on a persistent store, and commands of the program on the same store.

#![allow(dead_code, reason = "few test targets use all of it")]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use siaga::folder::{Folder, FolderFile};
use siaga::stores::file::OpenFile;
use siaga::stores::{OpenStore, Replace};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, Executor, PgConnection, SqliteConnection};
use tempfile::TempDir;

use crate::fixture::block_on;
use crate::running::{KEY, PROGRAM, Running, keys, request, send};
use crate::store_file::StoreFile;

/// The last line that is printed at startup.
pub(crate) const LAST: &str = "The map: ";

/// The store settings of a service, as environment variables.
#[derive(Clone, Debug)]
pub(crate) struct ServiceConfig(Vec<(&'static str, String)>);

impl ServiceConfig {
    pub(crate) fn in_database(url: &str) -> Self {
        Self(vec![("SIAGA_STORE", "postgres".to_owned()), ("DATABASE_URL", url.to_owned())])
            .with("SIAGA_IMAGES__SIGNING_KEY", "a key for uploads")
    }

    pub(crate) fn in_file(path: &Path) -> Self {
        let path = path.to_str().unwrap().to_owned();
        Self(vec![("SIAGA_STORE", "file".to_owned()), ("SIAGA_FILE__PATH", path)])
            .with("SIAGA_IMAGES__SIGNING_KEY", "a key for uploads")
    }

    /// In memory, with the data of a folder.
    pub(crate) fn in_memory(folder: &Path) -> Self {
        let folder = folder.to_str().unwrap().to_owned();
        Self(vec![("SIAGA_STORE", "memory".to_owned()), ("SIAGA_DATASET", folder)])
    }

    /// Sets or replaces a variable.
    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.0.retain(|(known, _)| *known != name);
        self.0.push((name, value.to_owned()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.0.retain(|(known, _)| *known != name);
        self
    }

    /// Starts a service that accepts `KEY`, without Rocket's log.
    pub(crate) fn start(&self) -> Running {
        self.run(Command::new(PROGRAM))
    }

    pub(crate) fn run(&self, command: Command) -> Running {
        let keys = keys();
        let own = [("SIAGA_AUTH__API_KEYS", &*keys), ("ROCKET_LOG_LEVEL", "critical")];
        let variables: Vec<_> = own.into_iter().chain(self.variables()).collect();
        Running::spawn(command, &variables, LAST, "")
    }

    /// Builds a command of the program in a folder without configuration.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(arguments).current_dir("/").env_clear().envs(self.variables());
        command
    }

    pub(crate) fn siaga(&self, arguments: &[&str]) -> Output {
        let elsewhere = tempfile::tempdir().unwrap();
        self.command(arguments).current_dir(&elsewhere).output().unwrap()
    }

    fn variables(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.iter().map(|(name, value)| (*name, value.as_str()))
    }
}

/// Returns the status and body of a complete response to a request with these headers, if there was one.
pub(crate) fn request_json_with(
    headers: &str,
    authority: &str,
    method: &str,
    target: &str,
    body: &Value,
) -> Option<(u16, Value)> {
    let body = body.to_string();
    let rest = format!("{headers}Content-Length: {}\r\n\r\n{body}", body.len());
    let response = send(authority, &request(authority, method, target, &rest)).ok()?;
    let status = response.split(' ').nth(1)?.parse().ok()?;
    Some((status, serde_json::from_str(response.split_once("\r\n\r\n")?.1).ok()?))
}

/// The same with [`KEY`].
pub(crate) fn request_json(
    authority: &str,
    method: &str,
    target: &str,
    body: &Value,
) -> Option<(u16, Value)> {
    request_json_with(&format!("X-Api-Key: {KEY}\r\n"), authority, method, target, body)
}

impl Running {
    pub(crate) fn request_json(&self, key: &str, method: &str, target: &str, body: &Value) -> (u16, Value) {
        let headers = format!("X-Api-Key: {key}\r\n");
        let response = request_json_with(&headers, &self.authority, method, target, body);
        response.unwrap_or_else(|| panic!("{method} {target}"))
    }

    /// Sends a request with [`KEY`], asserts 200 and returns the body.
    pub(crate) fn expect_ok(&self, method: &str, target: &str, body: &Value) -> Value {
        let (status, body) = self.request_json(KEY, method, target, body);
        assert_eq!(status, 200, "{method} {target}: {body}");
        body
    }

    /// Sets the state of an area and returns the status.
    pub(crate) fn set(&self, key: &str, area: u64, state: u64) -> u16 {
        self.request_json(key, "PUT", &format!("/v1/floods/{area}"), &json!({ "state": state })).0
    }
}

pub(crate) fn start(path: &Path) -> Running {
    ServiceConfig::in_file(path).start()
}

pub(crate) fn siaga(path: &Path, arguments: &[&str]) -> Output {
    ServiceConfig::in_file(path).siaga(arguments)
}

/// Creates a folder with the areas 1 to `count`, all with the same geometry.
pub(crate) fn folder_with_areas(count: u64) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let ring = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]];
    let areas = (1..=count).map(|number| {
        let properties =
            json!({ "area_id": number, "area_name": "RW", "city": "jbd", "instance_region_code": "ID-JK" });
        let geometry = json!({ "type": "Polygon", "coordinates": [ring] });
        json!({ "type": "Feature", "properties": properties, "geometry": geometry })
    });
    let collection = json!({ "type": "FeatureCollection", "features": areas.collect::<Vec<_>>() });
    std::fs::write(folder.path().join(FolderFile::Areas.name()), collection.to_string()).unwrap();
    folder
}

/// Creates a store file with the areas 1 to 100, all with the same geometry.
pub(crate) fn file_with_areas() -> StoreFile {
    let (file, folder) = (StoreFile::none(), folder_with_areas(100));
    let folder = Folder::open(folder.path()).unwrap();
    block_on(async {
        let upkeep = OpenFile.upkeep().unwrap();
        upkeep.import(&file.settings(), &folder, Replace::Nothing).await.unwrap();
    });
    file
}

/// Creates the same areas in a database, after its schema.
pub(crate) fn add_areas(url: &str) {
    drop(ServiceConfig::in_database(url).start());
    block_on(async {
        let mut connection = PgConnection::connect(url).await.unwrap();
        let areas = "INSERT INTO areas
            SELECT number, '', 'RW', '', '', 'jbd', 'ID-JK', ST_Multi(ST_MakeEnvelope(0, 0, 1, 1, 4326))
            FROM generate_series(1, 100) AS number";
        connection.execute(areas).await.unwrap();
    });
}

/// Opens a store file without Siaga.
pub(crate) async fn connect(path: &Path) -> SqliteConnection {
    SqliteConnectOptions::new().filename(path).disable_statement_logging().connect().await.unwrap()
}
