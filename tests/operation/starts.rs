//! Startup without a database, and on schemas of other versions.

use std::time::{Duration, Instant};

use figment::Figment;
use rocket::futures::future::join;
use siaga::auth::{NewKey, Scope};
use siaga::stores::KeyEntry;
use siaga::stores::postgres::Primary;
use sqlx::{Connection, Executor, PgConnection};

use crate::eventually::{eventually, patiently};
use crate::postgres::Database;
use crate::proxy::Proxy;
use crate::running::Running;
use crate::server::{Server, build, figment};

/// A URL where nothing listens, with a password that must not be printed.
const NOWHERE: &str = "postgres://siaga:hush@127.0.0.1:1/siaga";

#[rocket::async_test]
async fn startup_without_the_database_fails_at_once_with_the_cause_for_each_host_and_no_password() {
    for (hosts, reasons) in
        [("127.0.0.1:1", &[][..]), ("127.0.0.1:1,127.0.0.1:2", &["127.0.0.1:1: ", "; 127.0.0.1:2: "])]
    {
        // Fails before these limits.
        let patient = figment(&format!("postgres://siaga:hush@{hosts}/siaga"))
            .merge(("siaga.limits.timeout", "60s"))
            .merge(("databases.siaga.connect_timeout", 60));
        let begun = Instant::now();
        let error = build(patient).await.unwrap_err().to_string();
        assert!(begun.elapsed() < patiently(Duration::from_secs(5)), "{hosts}: {:?}", begun.elapsed());
        assert!(error.starts_with(&format!("the database {hosts}/siaga: ")), "{error}");
        assert!(reasons.iter().all(|reason| error.contains(reason)), "{error}");
        assert!(!error.contains("hush") && !error.contains('\n'), "{error}");
    }
}

#[rocket::async_test]
async fn a_startup_that_waits_for_its_database_serves_503_until_it_is_reachable() {
    let database = Database::with_fixture().await;
    let proxy = Proxy::before(&database.url());
    proxy.cut();
    let figment = figment(&proxy.through(&database.url())).merge(("siaga.postgres.wait", "60s"));
    let server = Server::new(build(figment).await.unwrap()).await;
    assert_eq!(server.get("/v1/floods/states").await.0, 503);
    assert_eq!(server.set(5, 1).await, 503);
    proxy.restore();
    let status = async || server.get("/v1/floods/states").await.0;
    eventually("it comes", Duration::from_secs(2), status, |status| *status == 200).await;
    assert_eq!(server.set(5, 1).await, 200);
}

#[rocket::async_test]
async fn a_startup_that_waits_too_long_ends_the_service() {
    let figment = figment(NOWHERE).merge(("siaga.postgres.wait", "500ms")).merge(("port", 0));
    let begun = Instant::now();
    let error = build(figment).await.unwrap().launch().await.unwrap_err().to_string();
    assert!(error.starts_with("the database 127.0.0.1:1/siaga: "), "{error}");
    assert!((Duration::from_millis(500)..patiently(Duration::from_secs(4))).contains(&begun.elapsed()));
}

#[rocket::async_test]
async fn a_missing_or_wrong_setting_of_the_database_is_named_by_its_key() {
    let none = Figment::from(rocket::Config::debug_default()).merge(("siaga.store", "postgres"));
    for (figment, expected) in [
        (none, "databases.siaga.url: missing"),
        (figment("nonsense hush"), "databases.siaga.url: must be the address"),
        (
            figment(NOWHERE).merge(("databases.siaga.max_connections", "hush")),
            "databases.siaga.max_connections: ",
        ),
        (
            figment(NOWHERE).merge(("databases.siaga.max_conections", 3)),
            "databases.siaga.max_conections: unknown key",
        ),
        (figment(NOWHERE).merge(("siaga.postgres.waits", "1s")), "siaga.postgres.waits: unknown key"),
    ] {
        let error = build(figment).await.unwrap_err().to_string();
        assert!(error.starts_with(expected) && !error.contains("hush"), "{error}");
    }
}

#[rocket::async_test]
async fn two_servers_started_at_once_on_an_empty_database_both_serve() {
    let database = Database::empty().await;
    let (url, other) = (database.url(), database.url());
    let (one, other) = Box::pin(join(Server::on(&url), Server::on(&other))).await;
    for server in [one, other] {
        assert_eq!(server.get("/v1/floods").await.0, 200);
    }
}

#[rocket::async_test]
async fn startup_without_migrations_refuses_an_old_schema() {
    let database = Database::empty().await;
    let refusing = figment(&database.url()).merge(("siaga.postgres.migrate", false));
    let error = build(refusing.clone()).await.unwrap_err().to_string();
    let entries = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/migrations")).unwrap();
    let needed = entries.filter(|entry| entry.as_ref().unwrap().path().is_file()).count();
    let expected = format!("is at version 0 and needs {needed}: run `siaga migrate`");
    assert!(error.contains(&expected), "{error}");
    drop(Server::on(&database.url()).await);
    assert!(build(refusing).await.is_ok());
}

#[rocket::async_test]
async fn a_schema_of_a_newer_or_another_service_is_refused() {
    for (change, expected) in [
        ("INSERT INTO _sqlx_migrations SELECT 999, 'newer', now(), true, '', 0", "made for a newer version"),
        (
            "UPDATE _sqlx_migrations SET checksum = 'x' WHERE version = 2",
            "migration 2 of the database is not",
        ),
    ] {
        let database = Database::with_fixture().await;
        PgConnection::connect(&database.url()).await.unwrap().execute(change).await.unwrap();
        for migrate in [true, false] {
            let figment = figment(&database.url()).merge(("siaga.postgres.migrate", migrate));
            let error = build(figment).await.unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}

/// A route of an agency's own, on the store's database.
#[rocket::get("/own")]
async fn own(mut database: rocket_db_pools::Connection<Primary>) -> String {
    let areas: i64 =
        sqlx::query_scalar("SELECT count(*) FROM areas").fetch_one(&mut **database).await.unwrap();
    areas.to_string()
}

#[rocket::async_test]
async fn custom_routes_can_use_the_database_only_with_the_postgres_store() {
    let database = Database::with_fixture().await;
    let mut service = build(figment(&database.url())).await.unwrap();
    service.rocket = service.rocket.mount("/", rocket::routes![own]);
    let server = Server::new(service).await;
    let response = server.client.get("/own").dispatch().await;
    assert_eq!(response.into_string().await.as_deref(), Some("5"));

    let in_memory = figment(&database.url()).merge(("siaga.store", "memory"));
    let rocket = build(in_memory).await.unwrap().rocket.mount("/", rocket::routes![own]);
    let error = rocket.ignite().await.map(drop).unwrap_err();
    assert!(matches!(error.kind(), rocket::error::ErrorKind::SentinelAborts(_)), "{error:?}");
}

/// Settings of the agency.
const NAME: [(&str, &str); 5] = [
    ("SIAGA_FORMATS__CAP__SENDER", "bpbd.example.org"),
    ("SIAGA_FORMATS__CAP__SENDER_NAME", "BPBD"),
    ("SIAGA_FORMATS__CAP__WEB", "https://bpbd.example.org/"),
    ("SIAGA_FORMATS__CAP__AUTHOR", "BPBD"),
    ("SIAGA_LICENCE__TERMS", "Free"),
];
const IMAGES: (&str, &str) = ("SIAGA_IMAGES__URL", "file:///srv/photos");

fn public(database: &Database, variables: &[(&str, &str)]) -> Running {
    let url = database.url();
    let own = [
        ("SIAGA_STORE", "postgres"),
        ("DATABASE_URL", &*url),
        ("SIAGA_IMAGES__SIGNING_KEY", "a key of thirty-two bytes or more"),
        ("SIAGA_BASE_URL", "https://data.example.org/v1"),
    ];
    Running::start(&[&own, variables].concat(), "The map: ")
}

/// Asserts that a service logged warnings with these texts, in this order, and nothing else.
pub(crate) fn assert_warned(service: &Running, texts: &[&str]) {
    // All warnings are logged before the first response.
    assert!(service.request("GET", "/v1/floods/states", "\r\n").starts_with("HTTP/1.1 200 "));
    let errors = service.errors();
    assert_eq!(errors.lines().count(), texts.len(), "{errors}");
    for (line, text) in errors.lines().zip(texts) {
        assert!(line.contains("WARN") && line.contains(text), "{line}");
    }
}

#[rocket::async_test]
async fn startup_of_a_public_service_on_an_empty_database_warns_of_what_is_missing() {
    let database = Database::empty().await;
    let service = public(&database, &[IMAGES]);
    assert!(service.lines[0].contains(" serves 0 areas from the database "), "{:?}", service.lines);
    assert_warned(&service, &["not set: ", "the store has no areas", "no key is accepted"]);
}

#[rocket::async_test]
async fn startup_of_a_complete_public_service_prints_its_number_of_areas_without_warnings() {
    let database = Database::with_fixture().await;
    let server = Server::on(&database.url()).await;
    let key = NewKey::make("bpbd", vec![Scope::Admin]).unwrap().entry;
    server.store.create_key(KeyEntry { key, owner: None }).await.unwrap();
    let variables = [&NAME[..], &[IMAGES]].concat();
    let service = public(&database, &variables);
    assert!(service.lines[0].contains(" serves 5 areas from the database "), "{:?}", service.lines);
    assert_eq!(service.lines[1], "Photos of reports are in file:///srv/photos");
    assert_warned(&service, &[]);
    server.store.revoke_key("bpbd").await.unwrap();
    assert_warned(&public(&database, &variables), &["no key is accepted"]);
}

#[rocket::async_test]
async fn startup_prints_the_folder_of_photos_if_it_depends_on_the_working_directory() {
    let database = Database::with_fixture().await;
    let secret = "s".repeat(64);
    let service = public(&database, &[&NAME[..], &[("SIAGA_AUTH__JWT__SECRET", &secret)]].concat());
    let folder = service.folder().canonicalize().unwrap().join("images");
    assert_eq!(service.lines[1], format!("Photos of reports are in file://{}/", folder.display()));
    assert_warned(&service, &["siaga.images.url is not configured"]);
}
