//! Flood batches change many areas at once. One transaction reads the context of a batch request, decides, and writes the batch.
//! It locks the states, so that no other session sets a state meanwhile.

use std::collections::HashMap;
use std::sync::Arc;

use sqlx::postgres::PgRow;
use sqlx::{Connection, FromRow, PgConnection, Row as _, ValueRef};

use super::PostgresStore;
use super::columns::get;
use super::limits::NamesRow;
use super::transfer::LOCK_STATES;
use super::values::{column, moment, number};
use crate::model::alerts::LogEntry;
use crate::model::{
    Actor, AreaId, BatchContext, BatchDecision, BatchOperation, BatchOutcome, BatchRequest, FloodBatch,
    FloodChange, FloodState, LoggedChange, PlaceNames, REPEATABLE, RequestKey, Timestamp,
};
use crate::stores::{FloodLogQuery, StoreError};

/// The batches that a request may depend on: the same request sent before, the batch to undo, and an earlier undo of that batch.
const BATCHES: &str = "
    SELECT number, changed_at, subject, username, note, undoes, request, digest, areas, states
    FROM flood_batches
    WHERE subject = $1 AND request = $2 AND changed_at >= $3 OR number = $4 OR undoes = $4";

const NEWEST_BATCH: &str = "SELECT max(number) FROM flood_batches";

/// The last two log entries of each existing area, with its names. An area without entries has one row of nulls.
const LAST_ENTRIES: &str = "
    SELECT areas.area_id, instance_region_code, city, city_name, parent_name, log.changed_at, coalesce(log.received_at, log.changed_at) AS received_at, log.state,
           log.subject, log.username, log.run_began_at, log.since, log.confirmed_at
    FROM areas LEFT JOIN LATERAL (
        SELECT changed_at, received_at, state, subject, username, run_began_at, since, confirmed_at FROM flood_changes
        WHERE flood_changes.area_id = areas.area_id ORDER BY changed_at DESC LIMIT 2
    ) log ON true
    WHERE areas.area_id = ANY ($1)
    ORDER BY areas.area_id, log.changed_at DESC";

/// Writes a batch with its entries and states. The transaction has locked the states and checked that the areas exist.
const PUT: &str = "
    WITH batch AS (
        INSERT INTO flood_batches
            (number, changed_at, subject, username, note, undoes, request, digest, areas, states)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
    ), changes AS (
        SELECT * FROM unnest(
            $9::bigint[], $10::smallint[], $11::timestamptz[], $12::timestamptz[], $13::timestamptz[]
        ) AS changes (area_id, state, run_began_at, since, confirmed_at)
    ), stood AS (
        INSERT INTO flood_states (area_id, state, changed_at)
        SELECT area_id, state, $2 FROM changes
        ON CONFLICT (area_id) DO UPDATE SET state = excluded.state, changed_at = excluded.changed_at
    )
    INSERT INTO flood_changes
        (area_id, changed_at, state, subject, username, run_began_at, since, confirmed_at, received_at)
    SELECT area_id, $2, state, $3, $4, run_began_at, since, confirmed_at, $14 FROM changes";

/// A page of the log of all areas. Entries of the same time are never split across pages.
const LOG: &str = "
    SELECT area_id, changed_at, received_at, state, subject, username, number, note, undoes FROM (
        SELECT log.area_id, log.changed_at, coalesce(log.received_at, log.changed_at) AS received_at, log.state,
               log.subject, log.username, batches.number, batches.note, batches.undoes
        FROM flood_changes log
        LEFT JOIN flood_batches batches ON batches.changed_at = log.changed_at AND log.area_id = ANY (batches.areas)
        WHERE ($1::timestamptz IS NULL OR log.changed_at >= $1)
          AND ($2::timestamptz IS NULL OR log.changed_at <= $2)
          AND ($3::timestamptz IS NULL OR log.changed_at < $3)
          AND ($4::text IS NULL OR log.subject = $4 OR log.username = $4)
          AND ($5::bigint IS NULL
               OR log.changed_at = (SELECT changed_at FROM flood_batches WHERE number = $5) AND batches.number = $5)
        ORDER BY log.changed_at DESC FETCH FIRST $6 ROWS WITH TIES
    ) page
    ORDER BY changed_at DESC, area_id";

impl<'r> FromRow<'r, PgRow> for FloodBatch {
    fn from_row(row: &'r PgRow) -> Result<Self, sqlx::Error> {
        let id: Option<[u8; 16]> = row.try_get("request")?;
        let (areas, states): (Vec<AreaId>, Vec<Option<FloodState>>) =
            (get(row, "areas")?, get(row, "states")?);
        Ok(Self {
            number: get(row, "number")?,
            at: get(row, "changed_at")?,
            by: Actor { subject: get(row, "subject")?, username: get(row, "username")? },
            note: get(row, "note")?,
            undoes: get(row, "undoes")?,
            request: id
                .zip(row.try_get("digest")?)
                .map(|(id, digest)| RequestKey { id: u128::from_be_bytes(id), digest }),
            changes: areas.into_iter().zip(states).collect(),
        })
    }
}

impl<'r> FromRow<'r, PgRow> for LoggedChange {
    fn from_row(row: &'r PgRow) -> Result<Self, sqlx::Error> {
        let change = FloodChange::from_row(row)?;
        let (batch, note) = (get(row, "number")?, get(row, "note")?);
        Ok(Self { change, batch, note, undoes: get(row, "undoes")? })
    }
}

pub(super) struct AreaEntry {
    area: AreaId,
    pub(super) change: Option<FloodChange>,
}

impl<'r> FromRow<'r, PgRow> for AreaEntry {
    fn from_row(row: &'r PgRow) -> Result<Self, sqlx::Error> {
        let is_none = row.try_get_raw("changed_at")?.is_null();
        let change = if is_none { None } else { Some(FloodChange::from_row(row)?) };
        Ok(Self { area: get(row, "area_id")?, change })
    }
}

struct LastRow {
    entry: AreaEntry,
    names: NamesRow,
    times: Option<LogEntry>,
}

impl<'r> FromRow<'r, PgRow> for LastRow {
    fn from_row(row: &'r PgRow) -> Result<Self, sqlx::Error> {
        let entry = AreaEntry::from_row(row)?;
        let times = entry.change.as_ref().map(|_| LogEntry::from_row(row)).transpose()?;
        Ok(Self { entry, names: NamesRow::from_row(row)?, times })
    }
}

/// The last two entries of each area, newest first.
type LastEntries = HashMap<AreaId, [Option<LogEntry>; 2]>;

impl PostgresStore {
    pub(super) async fn apply_batch(&self, request: BatchRequest) -> Result<BatchOutcome, StoreError> {
        let attempt = || async {
            let mut link = self.connections.writer().await?;
            let outcome = run_transaction(&mut link, &request, self.clock.now()).await;
            self.connections.announce_write(&outcome);
            link.finish(outcome)
        };
        self.connections.retry_locked(attempt).await
    }

    pub(super) async fn flood_log_page(
        &self,
        query: &FloodLogQuery,
    ) -> Result<Vec<LoggedChange>, StoreError> {
        let statement = sqlx::query_as(LOG)
            .bind(query.since.map(moment))
            .bind(query.until.map(moment))
            .bind(query.before.map(moment))
            .bind(query.by.clone())
            .bind(query.batch.map(|batch| column(batch.get())))
            .bind(i64::from(query.most));
        self.connections.read(statement).await
    }
}

/// Decides on the request and stores its batch in one transaction. A preview only reads.
async fn run_transaction(
    connection: &mut PgConnection,
    request: &BatchRequest,
    now: Timestamp,
) -> Result<BatchOutcome, StoreError> {
    // A preview neither blocks writers nor waits for them. Its queries read one snapshot.
    let begin = if request.preview { "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" } else { "BEGIN" };
    let mut transaction = connection.begin_with(begin).await?;
    if !request.preview {
        sqlx::query(LOCK_STATES).execute(&mut *transaction).await?;
    }
    let (context, last) = read_context(&mut transaction, request, now).await?;
    let outcome = match request.decide(&context, now) {
        BatchDecision::Return(outcome) => outcome,
        BatchDecision::Make(batch, left) => {
            insert_batch(&mut transaction, &batch, &last, now).await?;
            BatchOutcome::Done { batch, left }
        }
    };
    transaction.commit().await?;
    Ok(outcome)
}

async fn read_context(
    connection: &mut PgConnection,
    request: &BatchRequest,
    now: Timestamp,
) -> Result<(BatchContext, LastEntries), StoreError> {
    let number_to_undo = match &request.changes {
        BatchOperation::Set(_) => None,
        BatchOperation::Undo(number) => Some(*number),
    };
    let batches: Vec<FloodBatch> = sqlx::query_as(BATCHES)
        .bind(&request.by.subject)
        .bind(request.request.map(|key| key.id.to_be_bytes()))
        .bind(moment(now.saturating_sub(REPEATABLE)))
        .bind(number_to_undo.map(|number| column(number.get())))
        .fetch_all(&mut *connection)
        .await?;
    let batches: Vec<_> = batches.into_iter().map(Arc::new).collect();
    let find_batch =
        |matches: &dyn Fn(&FloodBatch) -> bool| batches.iter().find(|batch| matches(batch)).cloned();
    let undone = find_batch(&|batch| Some(batch.number) == number_to_undo);
    let areas: Vec<_> = match (&request.changes, &undone) {
        (BatchOperation::Set(changes), _) => {
            changes.iter().map(|change| column(change.area.number())).collect()
        }
        (_, Some(batch)) => batch.changes.iter().map(|(area, _)| column(area.number())).collect(),
        (_, None) => Vec::new(),
    };
    let requested = areas.clone();
    let rows: Vec<LastRow> = sqlx::query_as(LAST_ENTRIES).bind(areas).fetch_all(&mut *connection).await?;
    let outside = outside_limit(request, &requested, &rows)?;
    let mut areas: HashMap<AreaId, [Option<FloodChange>; 2]> = HashMap::new();
    let mut last = LastEntries::new();
    for LastRow { entry: AreaEntry { area, change }, times, .. } in rows {
        let (changes, entries) = (areas.entry(area).or_default(), last.entry(area).or_default());
        let index = usize::from(changes[0].is_some());
        (changes[index], entries[index]) = (change, times);
    }
    let newest_batch: Option<i64> = sqlx::query_scalar(NEWEST_BATCH).fetch_one(connection).await?;
    let context = BatchContext {
        newest_batch: newest_batch.map(number).transpose()?,
        areas,
        outside,
        repeated: request.request.and_then(|key| {
            find_batch(&|batch| {
                batch.by.subject == request.by.subject
                    && batch.request.is_some_and(|stored| stored.id == key.id)
            })
        }),
        undo: find_batch(&|batch| batch.undoes.is_some() && batch.undoes == number_to_undo),
        undone,
    };
    Ok((context, last))
}

/// Returns the requested areas that are outside of the limit. `rows` has the names of those that exist.
fn outside_limit(
    request: &BatchRequest,
    requested: &[i64],
    rows: &[LastRow],
) -> Result<Vec<AreaId>, StoreError> {
    let by_area: HashMap<AreaId, PlaceNames<'_>> =
        rows.iter().map(|row| (row.entry.area, row.names.names())).collect();
    let requested: Vec<AreaId> = requested.iter().map(|area| number(*area)).collect::<Result<_, _>>()?;
    Ok(request.limit.outside(requested.into_iter().map(|area| (area, by_area.get(&area).copied()))))
}

async fn insert_batch(
    connection: &mut PgConnection,
    batch: &FloodBatch,
    last: &LastEntries,
    now: Timestamp,
) -> Result<(), StoreError> {
    let entries = batch.entries(now).map(|change| {
        let [newest, previous] = last.get(&change.area).copied().unwrap_or_default();
        match batch.undoes {
            Some(_) => LogEntry::restoring(change.change(), now, previous.as_ref(), newest.as_ref()),
            None => LogEntry::following(change.change(), now, newest.as_ref()),
        }
    });
    let entries: Vec<_> = entries.collect();
    let times = |time: fn(&LogEntry) -> Option<Timestamp>| -> Vec<_> {
        entries.iter().map(|entry| time(entry).map(moment)).collect()
    };
    let areas: Vec<_> = batch.changes.iter().map(|(area, _)| column(area.number())).collect();
    let code = |state: FloodState| i16::from(state.code());
    let states: Vec<_> = batch.changes.iter().map(|(_, state)| state.map(code)).collect();
    let statement = sqlx::query(PUT)
        .bind(column(batch.number.get()))
        .bind(moment(batch.at))
        .bind(&batch.by.subject)
        .bind(&batch.by.username)
        .bind(&batch.note)
        .bind(batch.undoes.map(|undoes| column(undoes.get())))
        .bind(batch.request.map(|key| key.id.to_be_bytes()))
        .bind(batch.request.map(|key| key.digest))
        .bind(areas)
        .bind(states)
        .bind(times(|entry| Some(entry.run)))
        .bind(times(|entry| entry.since))
        .bind(times(|entry| entry.confirmed))
        .bind(moment(now));
    statement.execute(connection).await?;
    Ok(())
}
