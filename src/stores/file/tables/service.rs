//! The state of the service: API keys, unpublished photos, when sources last reported, checkpoints of webhooks, and push
//! subscriptions.

use sqlx::SqliteConnection;

use super::super::error::FileError;
use super::column::Column;
use super::table::{Table, table};
use crate::auth::{ApiKey, Secret};
use crate::model::{CardId, Timestamp};
use crate::stores::service_state::{Image, ImageState, Keys, ReceivedUpload};
use crate::stores::{
    ENDED_LOGIN_KEPT, EndedLogin, KeyEntry, NewPushRecord, PushRecord, Revision, StoredKey, WebhookState,
};

/// The API keys for all areas.
const API_KEYS: Table<StoredKey> = table!(
    "api_keys",
    replace,
    "",
    StoredKey {
        entry: KeyEntry {
            key: ApiKey {
                name,
                sha256,
                scopes,
                areas: (all_areas),
                expires: expires_at,
                per_second,
                per_day
            },
            owner,
        },
        created_at,
        revoked_at,
        last_used: last_used_at,
    }
);

/// The API keys with a limit. Servers of older versions do not read them.
const LIMITED_API_KEYS: Table<StoredKey> = table!(
    "limited_api_keys",
    replace,
    "",
    StoredKey {
        entry: KeyEntry {
            key: ApiKey { name, sha256, scopes, areas, expires: expires_at, per_second, per_day },
            owner,
        },
        created_at,
        revoked_at,
        last_used: last_used_at,
    }
);

const REMOVE_OLD_LOGINS: &str = "DELETE FROM ended_logins WHERE ended_at < ?";

const ENDED_LOGINS: Table<EndedLogin> =
    table!("ended_logins", replace, "ORDER BY number", EndedLogin { number, subject, at: ended_at });

pub(in super::super) const SOURCES: Table<(String, Timestamp)> =
    table!("sources", replace, "", (name, last_heard));

pub(in super::super) const WEBHOOKS: Table<(String, WebhookState)> =
    table!("calls", replace, "", (name, WebhookState { version, text: state }));

pub(in super::super) const PUSH_RECORDS: Table<PushRecord> = table!(
    "push_records",
    replace,
    "",
    PushRecord { id, version, content: NewPushRecord { endpoint, service, due: due_at, text } }
);

const REMOVE_PUSH_RECORD: &str = "DELETE FROM push_records WHERE id = ?";

const IMAGES: Table<ImageRow> =
    table!("images", replace, "", ImageRow { card_id, turn, expected_until, state, object, due, attempts });

const PUT_SIGNING_KEY: &str = "INSERT OR IGNORE INTO signing_key (only, secret) VALUES (1, ?)";
const SIGNING_KEY: &str = "SELECT secret FROM signing_key";

/// An image of a card. `object`, `due` and `attempts` are set only while the upload waits to be published.
struct ImageRow {
    card_id: CardId,
    turn: u32,
    expected_until: Timestamp,
    state: String,
    object: Option<Box<str>>,
    due: Option<Timestamp>,
    attempts: Option<u32>,
}

pub(super) async fn put_key(to: &mut SqliteConnection, key: &StoredKey) -> Result<(), FileError> {
    let table = if key.entry.key.areas.is_some() { LIMITED_API_KEYS } else { API_KEYS };
    table.put(to, key).await
}

/// Writes an ended login, and removes old ones.
pub(super) async fn put_ended_login(to: &mut SqliteConnection, ended: &EndedLogin) -> Result<(), FileError> {
    let oldest = ended.at.saturating_sub(ENDED_LOGIN_KEPT).to_utc().timestamp_millis();
    sqlx::query(REMOVE_OLD_LOGINS).bind(oldest).execute(&mut *to).await?;
    ENDED_LOGINS.put(to, ended).await
}

/// Returns the keys and the ended logins at a revision.
pub(in super::super) async fn keys(
    from: &mut SqliteConnection,
    revision: Revision,
) -> Result<Keys, FileError> {
    let mut keys = API_KEYS.all(from).await?;
    keys.append(&mut LIMITED_API_KEYS.all(from).await?);
    Ok(Keys::new(keys, ENDED_LOGINS.all(from).await?, revision))
}

pub(super) async fn remove_push_record(to: &mut SqliteConnection, id: u64) -> Result<(), FileError> {
    sqlx::query(REMOVE_PUSH_RECORD).bind(id.cast_signed()).execute(to).await?;
    Ok(())
}

pub(super) async fn put_image(
    to: &mut SqliteConnection,
    card: &CardId,
    image: &Image,
) -> Result<(), FileError> {
    let (state, received) = match &image.state {
        ImageState::Expected => ("expected", None),
        ImageState::Received(received) => ("received", Some(received)),
        ImageState::Published => ("published", None),
    };
    let row = ImageRow {
        card_id: card.clone(),
        turn: image.turn,
        expected_until: image.until,
        state: state.to_owned(),
        object: received.map(|received| received.object.clone()),
        due: received.map(|received| received.due),
        attempts: received.map(|received| received.attempts),
    };
    IMAGES.put(to, &row).await
}

pub(in super::super) async fn images(from: &mut SqliteConnection) -> Result<Vec<(CardId, Image)>, FileError> {
    let images = IMAGES.all(from).await?.into_iter().map(|row| {
        let state = match (row.state.as_str(), row.object, row.due, row.attempts) {
            ("received", Some(object), Some(due), Some(attempts)) => {
                ImageState::Received(ReceivedUpload { object, due, attempts })
            }
            ("expected", ..) => ImageState::Expected,
            ("published", ..) => ImageState::Published,
            (state, ..) => {
                return Err(FileError::Row { table: IMAGES.name, reason: format!("its state is {state:?}") });
            }
        };
        Ok((row.card_id, Image { turn: row.turn, until: row.expected_until, state }))
    });
    images.collect()
}

pub(super) async fn put_signing_key(to: &mut SqliteConnection, secret: &Secret) -> Result<(), FileError> {
    sqlx::query(PUT_SIGNING_KEY).bind(secret.expose()).execute(to).await?;
    Ok(())
}

pub(in super::super) async fn signing_key(from: &mut SqliteConnection) -> Result<Option<Secret>, FileError> {
    let secret: Option<String> = sqlx::query_scalar(SIGNING_KEY).fetch_optional(from).await?;
    Ok(secret.map(Secret::from))
}
