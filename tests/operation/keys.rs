//! API keys in the database: key commands take effect on every server.

use std::process::Output;
use std::time::Duration;

use rocket::futures::future::join_all;
use rocket::http::Header;
use rocket::tokio::time;
use siaga::auth::KeyDigest;
use sqlx::{Connection, Executor, PgConnection};

use crate::cluster::Cluster;
use crate::eventually::{LONG, eventually};
use crate::fixture::block_on;
use crate::outcome::{printed, refusal};
use crate::postgres::Database;
use crate::server::Server;
use crate::service_config::ServiceConfig;

/// Limit until all servers see the changes of a command.
const SOON: Duration = Duration::from_secs(1);

fn siaga(url: &str, arguments: &[&str]) -> Output {
    ServiceConfig::in_database(url).siaga(arguments)
}

/// Creates a key and returns its secret.
fn create(url: &str, arguments: &[&str]) -> String {
    let text = printed(&siaga(url, &[&["key", "create"], arguments].concat()));
    let key = text.trim_end().rsplit(' ').next().unwrap().to_owned();
    assert!(key.len() == 64 && key.bytes().all(|byte| byte.is_ascii_hexdigit()), "{text}");
    key
}

async fn set(server: &Server, key: &str) -> u16 {
    let request = server.client.put("/v1/floods/5").header(Header::new("X-Api-Key", key.to_owned()));
    request.body(r#"{"state":2}"#).dispatch().await.status().code
}

/// Waits until a change with a key has this status on all servers.
async fn await_everywhere(servers: &[&Server], key: &str, expected: u16) {
    let statuses = async || join_all(servers.iter().map(|server| set(server, key))).await;
    let is_so = |statuses: &Vec<u16>| statuses.iter().all(|status| *status == expected);
    eventually(&format!("everywhere {expected}"), SOON, statuses, is_so).await;
}

#[rocket::async_test]
async fn key_commands_take_effect_on_every_server_within_a_second() {
    let database = Database::with_fixture().await;
    let url = database.url();
    let servers = [Server::on(&url).await, Server::on(&url).await];
    let servers = [&servers[0], &servers[1]];
    let key = create(&url, &["--name", "one", "--scope", "floods:write"]);
    await_everywhere(&servers, &key, 200).await;
    assert_eq!(printed(&siaga(&url, &["key", "revoke", "one"])), "");
    await_everywhere(&servers, &key, 403).await;
    let late = create(&url, &["--name", "late", "--scope", "admin"]);
    let third = Server::on(&url).await;
    assert_eq!(set(&third, &late).await, 200, "known from the start");
}

#[rocket::async_test]
async fn a_limited_key_changes_its_areas_alone_and_older_servers_refuse_it() {
    let database = Database::with_fixture().await;
    let url = database.url();
    let arguments = [
        "--name",
        "district",
        "--scope",
        "floods:write",
        "--parent",
        "grogol",
        "--city-name",
        "Jakarta Barat",
    ];
    let key = create(&url, &arguments);
    let server = Server::on(&url).await;
    assert_eq!(set(&server, &key).await, 200);
    let request = server.client.put("/v1/floods/30").header(Header::new("X-Api-Key", key.clone()));
    let refused = request.body(r#"{"state":2}"#).dispatch().await;
    let body: serde_json::Value = refused.into_json().await.unwrap();
    assert_eq!((&body["statusCode"], &body["outside"]), (&403.into(), &serde_json::json!(["30"])));
    // A server of an older version reads only this table.
    let mut connection = PgConnection::connect(&url).await.unwrap();
    let old = "SELECT name FROM api_keys WHERE sha256 = $1";
    let digest = KeyDigest::new(&key);
    let found = sqlx::query(old).bind(&digest.as_bytes()[..]).fetch_all(&mut connection).await.unwrap();
    assert_eq!(found.len(), 0);
    let list = printed(&siaga(&url, &["key", "list"]));
    assert!(list.contains(r#"city_name = "Jakarta Barat", parent = "grogol""#), "{list}");
}

#[test]
fn a_limit_that_no_area_meets_is_refused_with_the_nearest_value() {
    let database = block_on(Database::with_fixture());
    let url = database.url();
    for (options, expected) in [
        (
            &["--city-name", "Jakarta Baratt"][..],
            "no area has the city_name \"Jakarta Baratt\"; the nearest is \"JAKARTA BARAT\"",
        ),
        (
            &["--province", "ID-JB", "--city", "jbd"],
            "no area has all of province = \"ID-JB\", city = \"jbd\"",
        ),
        (
            &["--parent", " "],
            "areas must have one or more of [province, city, city_name, parent], each with a list of one or more texts",
        ),
    ] {
        let create = [&["key", "create", "--name", "a", "--scope", "floods:write"], options].concat();
        assert_eq!(refusal(&siaga(&url, &create)), format!("siaga: {expected}"));
    }
    let person = ["key", "create", "--name", "oidc:ana", "--scope", "floods:write"];
    let refused = String::from_utf8(siaga(&url, &person).stderr).unwrap();
    assert!(refused.contains("must not begin with \"oidc:\""), "{refused}");
    assert_eq!(printed(&siaga(&url, &["key", "list"])).lines().count(), 1, "none was made");
}

#[test]
fn the_list_of_keys_shows_all_but_the_secret() {
    let database = block_on(Database::with_fixture());
    let url = database.url();
    let empty = printed(&siaga(&url, &["key", "list"]));
    assert_eq!(empty.lines().count(), 1, "{empty}");
    let name = ["--name", "BPBD DKI", "--owner", "Ibu Sri", "--expires", "2999-01-31T07:00:00+07:00"];
    let rights = ["--scope", "floods:write", "cards:read", "--per-second", "5", "--per-day", "1000"];
    let keys = [
        create(&url, &[&name[..], &rights].concat()),
        create(&url, &["--name", "short", "--scope", "feeds:write cards:write", "--expires", "30d"]),
    ];
    // The last use of a key is stored at shutdown.
    let mut service = ServiceConfig::in_database(&url).start();
    assert_eq!(service.set(&keys[0], 5, 2), 200);
    service.signal("TERM");
    assert_eq!(service.wait_for_exit().0, Some(0));
    for _ in 0..2 {
        printed(&siaga(&url, &["key", "revoke", "short"]));
    }
    let list = printed(&siaga(&url, &["key", "list"]));
    for key in &keys {
        assert!(!list.contains(key) && !list.contains(&KeyDigest::new(key).to_hex()), "{list}");
    }
    let cells = |line: &'_ str| -> Vec<String> {
        line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect()
    };
    let lines: Vec<_> = list.lines().map(cells).collect();
    let [_, known, short] = &lines[..] else { panic!("{list}") };
    let expected =
        ["BPBD DKI", "floods:write cards:read", "all", "Ibu Sri", "2999-01-31T00:00:00.000Z", "5", "1000"];
    assert_eq!(known[..7], expected, "{list}");
    assert!(known[8].ends_with('Z') && known[9] == "-", "it was used and not revoked: {list}");
    assert_eq!(short[..4], ["short", "feeds:write cards:write", "all", "-"], "{list}");
    assert!(short[4].ends_with('Z') && short[9].ends_with('Z'), "{list}");
}

#[test]
fn a_failed_key_command_prints_one_line() {
    let database = block_on(Database::with_fixture());
    let url = database.url();
    create(&url, &["--name", "one", "--scope", "admin"]);
    printed(&siaga(&url, &["key", "revoke", "one"]));
    let again = refusal(&siaga(&url, &["key", "create", "--name", "one", "--scope", "admin"]));
    assert_eq!(again, "siaga: there is, or was, a key \"one\" already");
    let unknown = refusal(&siaga(&url, &["key", "revoke", "two"]));
    assert_eq!(unknown, "siaga: the key \"two\" does not exist");
    let past = ["key", "create", "--name", "two", "--scope", "admin", "--expires", "2020-01-01T00:00:00Z"];
    assert_eq!(refusal(&siaga(&url, &past)), "siaga: --expires: must lie in the future");
    let nowhere = refusal(&siaga("postgres://siaga:hunter2@127.0.0.1:1/siaga", &["key", "list"]));
    assert!(!nowhere.contains("hunter2"), "{nowhere}");
}

#[rocket::async_test]
async fn keys_stay_unchanged_while_the_database_is_unreachable() {
    let cluster = Cluster::new();
    let server = Server::on(&cluster.url()).await;
    let key = create(&cluster.url(), &["--name", "one", "--scope", "floods:write"]);
    await_everywhere(&[&server], &key, 404).await;
    cluster.stop("immediate");
    // Longer than the maximum age of a revision.
    time::sleep(Duration::from_millis(1500)).await;
    assert_eq!(set(&server, &key).await, 503, "the key is accepted, the change cannot be made");
    assert_eq!(set(&server, "unknown").await, 403);
    cluster.start();
    let status = async || set(&server, &key).await;
    eventually("the database is back", LONG, status, |status| *status == 404).await;
    printed(&siaga(&cluster.url(), &["key", "revoke", "one"]));
    await_everywhere(&[&server], &key, 403).await;
}

#[rocket::async_test]
async fn the_schema_rejects_malformed_keys() {
    let database = Database::with_fixture().await;
    let mut connection = PgConnection::connect(&database.url()).await.unwrap();
    let with = |column: usize, value: &str| {
        let mut values = ["'a'", "decode(repeat('00', 32), 'hex')", "'{admin}'", "1", "now()"];
        values[column] = value;
        let columns = "INSERT INTO api_keys (name, sha256, scopes, per_second, created_at)";
        sqlx::AssertSqlSafe(format!("{columns} VALUES ({})", values.join(", ")))
    };
    for (column, value) in [
        (0, "''"),
        (0, "repeat('a', 256)"),
        (0, "E'a\\nb'"),
        (1, "decode('00', 'hex')"),
        (1, "NULL"),
        (2, "'{}'"),
        (2, "'{root}'"),
        (2, "'{admin, NULL}'"),
        (3, "0"),
        (3, "4294967296"),
        (4, "NULL"),
    ] {
        assert!(connection.execute(with(column, value)).await.is_err(), "{value}");
    }
    connection.execute(with(0, "'a'")).await.unwrap();
    assert!(connection.execute(with(0, "'b'")).await.is_err(), "the same hash");
}
