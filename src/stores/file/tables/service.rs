//! The state of the service: API keys, photos that are not published yet, and when sources were heard.

use std::num::NonZeroU32;

use sqlx::{FromRow, Sqlite, SqliteConnection};

use super::super::error::FileError;
use super::{column, moment};
use crate::auth::{ApiKey, KeyDigest, Scope, Secret};
use crate::model::{CardId, Timestamp};
use crate::stores::service_state::{Image, Received, State};
use crate::stores::{KeptKey, KeyEntry};

const PUT_IMAGE: &str = "
    INSERT OR REPLACE INTO images (card_id, turn, expected_until, state, object, due, attempts)
    VALUES (?, ?, ?, ?, ?, ?, ?)";
const IMAGES: &str = "SELECT card_id, turn, expected_until, state, object, due, attempts FROM images";

const PUT_KEY: &str = "
    INSERT OR REPLACE INTO api_keys
        (name, sha256, scopes, owner, expires_at, per_second, per_day, created_at, revoked_at, last_used_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
const KEYS: &str = "
    SELECT name, sha256, scopes, owner, expires_at, per_second, per_day, created_at, revoked_at, last_used_at
    FROM api_keys ORDER BY name";

const PUT_SIGNING_KEY: &str = "INSERT OR IGNORE INTO signing_key (only, secret) VALUES (1, ?)";
const SIGNING_KEY: &str = "SELECT secret FROM signing_key";

const PUT_SOURCE: &str = "INSERT OR REPLACE INTO sources (name, last_heard) VALUES (?, ?)";
const SOURCES: &str = "SELECT name, last_heard FROM sources";

type ImageRow = (String, i64, i64, String, Option<String>, Option<i64>, Option<i64>);

#[derive(FromRow)]
struct KeyRow {
    name: String,
    sha256: Vec<u8>,
    scopes: String,
    owner: Option<String>,
    expires_at: Option<i64>,
    per_second: Option<i64>,
    per_day: Option<i64>,
    created_at: i64,
    revoked_at: Option<i64>,
    last_used_at: Option<i64>,
}

pub(super) async fn put_image(
    to: &mut SqliteConnection,
    card: &CardId,
    image: &Image,
) -> Result<(), FileError> {
    let (state, received) = match &image.state {
        State::Expected => ("expected", None),
        State::Received(received) => ("received", Some(received)),
        State::Published => ("published", None),
    };
    let query = sqlx::query(PUT_IMAGE)
        .bind(card.as_str())
        .bind(i64::from(image.turn))
        .bind(column(image.until))
        .bind(state)
        .bind(received.map(|received| &*received.object))
        .bind(received.map(|received| column(received.due)))
        .bind(received.map(|received| i64::from(received.attempts)));
    query.execute(to).await?;
    Ok(())
}

pub(in super::super) async fn images(from: &mut SqliteConnection) -> Result<Vec<(CardId, Image)>, FileError> {
    let rows = sqlx::query_as::<Sqlite, ImageRow>(IMAGES).fetch_all(from).await?;
    rows.into_iter().map(image).collect()
}

fn image((card, turn, until, state, object, due, attempts): ImageRow) -> Result<(CardId, Image), FileError> {
    const TABLE: &str = "images";
    let state = match (state.as_str(), object, due, attempts) {
        ("received", Some(object), Some(due), Some(attempts)) => State::Received(Received {
            object: object.into(),
            due: moment(due),
            attempts: number(TABLE, attempts)?,
        }),
        ("expected", ..) => State::Expected,
        ("published", ..) => State::Published,
        _ => return Err(FileError::Row { table: TABLE, reason: format!("its state is {state:?}") }),
    };
    let card = card.parse().map_err(FileError::row(TABLE))?;
    Ok((card, Image { turn: number(TABLE, turn)?, until: moment(until), state }))
}

pub(super) async fn put_signing_key(to: &mut SqliteConnection, secret: &Secret) -> Result<(), FileError> {
    sqlx::query(PUT_SIGNING_KEY).bind(secret.expose()).execute(to).await?;
    Ok(())
}

pub(in super::super) async fn signing_key(from: &mut SqliteConnection) -> Result<Option<Secret>, FileError> {
    let secret: Option<String> = sqlx::query_scalar(SIGNING_KEY).fetch_optional(from).await?;
    Ok(secret.map(Secret::from))
}

pub(super) async fn put_key(to: &mut SqliteConnection, kept: &KeptKey) -> Result<(), FileError> {
    let KeptKey { entry: KeyEntry { key, owner }, created_at, revoked_at, last_used } = kept;
    let rate = |rate: Option<NonZeroU32>| rate.map(|rate| i64::from(rate.get()));
    let scopes: Vec<_> = key.scopes.iter().map(|scope| scope.name()).collect();
    let query = sqlx::query(PUT_KEY)
        .bind(&key.name)
        .bind(key.sha256.as_bytes().to_vec())
        .bind(scopes.join(" "))
        .bind(owner.as_deref())
        .bind(key.expires.map(|expires| column(expires.into())))
        .bind(rate(key.per_second))
        .bind(rate(key.per_day))
        .bind(column(*created_at))
        .bind(revoked_at.map(column))
        .bind(last_used.map(column));
    query.execute(to).await?;
    Ok(())
}

/// Returns all keys, by name.
pub(in super::super) async fn keys(from: &mut SqliteConnection) -> Result<Vec<KeptKey>, FileError> {
    let rows = sqlx::query_as::<Sqlite, KeyRow>(KEYS).fetch_all(from).await?;
    rows.into_iter().map(key).collect()
}

fn key(row: KeyRow) -> Result<KeptKey, FileError> {
    const TABLE: &str = "api_keys";
    let sha256 = <[u8; 32]>::try_from(row.sha256.as_slice()).map_err(FileError::row(TABLE))?;
    let scopes = row.scopes.split(' ').filter(|name| !name.is_empty());
    let scopes: Result<_, _> = scopes.map(str::parse::<Scope>).collect();
    let rate = |column: Option<i64>| {
        let rate = column.map(|rate| number(TABLE, rate)).transpose()?;
        Ok::<_, FileError>(rate.and_then(NonZeroU32::new))
    };
    let key = ApiKey {
        name: row.name,
        sha256: KeyDigest::from(sha256),
        scopes: scopes.map_err(FileError::row(TABLE))?,
        expires: row.expires_at.map(|expires| moment(expires).to_utc()),
        per_second: rate(row.per_second)?,
        per_day: rate(row.per_day)?,
    };
    Ok(KeptKey {
        entry: KeyEntry { key, owner: row.owner },
        created_at: moment(row.created_at),
        revoked_at: row.revoked_at.map(moment),
        last_used: row.last_used_at.map(moment),
    })
}

fn number(table: &'static str, column: i64) -> Result<u32, FileError> {
    column.try_into().map_err(FileError::row(table))
}

pub(super) async fn put_source(
    to: &mut SqliteConnection,
    name: &str,
    last_heard: Timestamp,
) -> Result<(), FileError> {
    sqlx::query(PUT_SOURCE).bind(name).bind(column(last_heard)).execute(to).await?;
    Ok(())
}

pub(in super::super) async fn sources(
    from: &mut SqliteConnection,
) -> Result<Vec<(String, Timestamp)>, FileError> {
    let rows = sqlx::query_as::<Sqlite, (String, i64)>(SOURCES).fetch_all(from).await?;
    Ok(rows.into_iter().map(|(name, last_heard)| (name, moment(last_heard))).collect())
}
