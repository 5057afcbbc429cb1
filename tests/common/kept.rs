//! Services, as processes, on a store that keeps its data, and commands of the program on the same store.

#![allow(dead_code, reason = "few test targets use all of it")]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use siaga::folder::{Folder, FolderFile};
use siaga::stores::file::OpenFile;
use siaga::stores::{OpenStore, Replace};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, Executor, PgConnection, SqliteConnection};

use crate::fixture::block_on;
use crate::running::{KEY, PROGRAM, Running, keys, request, send};
use crate::store_file::StoreFile;

/// The last line that is printed at startup.
pub(crate) const LAST: &str = "The map: ";

/// The settings of a service by which it finds its data.
#[derive(Clone, Debug)]
pub(crate) struct Kept(Vec<(&'static str, String)>);

impl Kept {
    /// In the database of this address.
    pub(crate) fn in_database(url: &str) -> Self {
        Self(vec![("SIAGA_STORE", "postgres".to_owned()), ("DATABASE_URL", url.to_owned())])
            .with("SIAGA_IMAGES__SIGNING_KEY", "a key for uploads")
    }

    /// In one file.
    pub(crate) fn in_file(path: &Path) -> Self {
        let path = path.to_str().unwrap().to_owned();
        Self(vec![("SIAGA_STORE", "file".to_owned()), ("SIAGA_FILE__PATH", path)])
            .with("SIAGA_IMAGES__SIGNING_KEY", "a key for uploads")
    }

    /// With a setting more, which takes the place of an earlier one.
    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.0.retain(|(known, _)| *known != name);
        self.0.push((name, value.to_owned()));
        self
    }

    /// Without a setting.
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.0.retain(|(known, _)| *known != name);
        self
    }

    /// Starts a service that accepts `KEY`, and logs nothing of Rocket's.
    pub(crate) fn start(&self) -> Running {
        self.run(Command::new(PROGRAM))
    }

    /// The same, by a command that runs the program.
    pub(crate) fn run(&self, command: Command) -> Running {
        let keys = keys();
        let own = [("SIAGA_AUTH__API_KEYS", &*keys), ("ROCKET_LOG_LEVEL", "critical")];
        let variables: Vec<_> = own.into_iter().chain(self.variables()).collect();
        Running::spawn(command, &variables, LAST, "")
    }

    /// Makes a command of the program, in a folder that has no configuration.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(arguments).current_dir("/").env_clear().envs(self.variables());
        command
    }

    /// Runs a command of the program.
    pub(crate) fn siaga(&self, arguments: &[&str]) -> Output {
        let elsewhere = tempfile::tempdir().unwrap();
        self.command(arguments).current_dir(&elsewhere).output().unwrap()
    }

    fn variables(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.iter().map(|(name, value)| (*name, value.as_str()))
    }
}

/// Returns the status and body of a response that came whole to a request with these headers; `None` when there was none.
pub(crate) fn ask_under(
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

/// The same with the key that allows everything.
pub(crate) fn ask(authority: &str, method: &str, target: &str, body: &Value) -> Option<(u16, Value)> {
    ask_under(&format!("X-Api-Key: {KEY}\r\n"), authority, method, target, body)
}

impl Running {
    /// Returns the status and body of the response to a request with a key.
    pub(crate) fn ask(&self, key: &str, method: &str, target: &str, body: &Value) -> (u16, Value) {
        let headers = format!("X-Api-Key: {key}\r\n");
        let response = ask_under(&headers, &self.authority, method, target, body);
        response.unwrap_or_else(|| panic!("{method} {target}"))
    }

    /// Returns the body of the response to a request that succeeds, with the key that allows everything.
    pub(crate) fn expect_ok(&self, method: &str, target: &str, body: &Value) -> Value {
        let (status, body) = self.ask(KEY, method, target, body);
        assert_eq!(status, 200, "{method} {target}: {body}");
        body
    }

    /// Returns the status of the response to a request that sets the state of an area.
    pub(crate) fn set(&self, key: &str, area: u64, state: u64) -> u16 {
        self.ask(key, "PUT", &format!("/v1/floods/{area}"), &json!({ "state": state })).0
    }
}

/// Starts a service on a file.
pub(crate) fn start(path: &Path) -> Running {
    Kept::in_file(path).start()
}

/// Runs a command on a file.
pub(crate) fn siaga(path: &Path, arguments: &[&str]) -> Output {
    Kept::in_file(path).siaga(arguments)
}

/// Makes a file with the areas 1 to 100, which are all the same.
pub(crate) fn file_with_areas() -> StoreFile {
    let file = StoreFile::none();
    let folder = tempfile::tempdir().unwrap();
    let ring = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]];
    let areas = (1..=100).map(|number| {
        let properties =
            json!({ "area_id": number, "area_name": "RW", "city": "jbd", "instance_region_code": "ID-JK" });
        let geometry = json!({ "type": "Polygon", "coordinates": [ring] });
        json!({ "type": "Feature", "properties": properties, "geometry": geometry })
    });
    let collection = json!({ "type": "FeatureCollection", "features": areas.collect::<Vec<_>>() });
    std::fs::write(folder.path().join(FolderFile::Areas.name()), collection.to_string()).unwrap();
    let folder = Folder::open(folder.path()).unwrap();
    block_on(async {
        let upkeep = OpenFile.upkeep().unwrap();
        upkeep.import(&file.settings(), &folder, Replace::Nothing).await.unwrap();
    });
    file
}

/// Makes the same areas in a database, which gets its schema first.
pub(crate) fn add_areas(url: &str) {
    drop(Kept::in_database(url).start());
    block_on(async {
        let mut connection = PgConnection::connect(url).await.unwrap();
        let areas = "INSERT INTO areas
            SELECT number, '', 'RW', '', '', 'jbd', 'ID-JK', ST_Multi(ST_MakeEnvelope(0, 0, 1, 1, 4326))
            FROM generate_series(1, 100) AS number";
        connection.execute(areas).await.unwrap();
    });
}

/// Opens a file as another program does.
pub(crate) async fn connect(path: &Path) -> SqliteConnection {
    SqliteConnectOptions::new().filename(path).disable_statement_logging().connect().await.unwrap()
}
