use std::collections::HashSet;

use super::super::rows::{PlacedReport, new_report, recordset, report};
use super::super::values::{moment, number};
use super::transaction::{Transaction, column};
use crate::data::folder::ReportRow;
use crate::model::{
    AreaId, ErasedReport, ModerationEntry, Position, ReportContent, ReportDigest, ReportKey, Timestamp,
};
use crate::stores::OpenError;
use crate::stores::import::{EntryId, ReportIdentity, ReportLocation, ReportTarget, RowVisitor};

const LOCK: &str = "LOCK TABLE reports, cards IN SHARE ROW EXCLUSIVE MODE";

const IDENTITIES: &str = "
    SELECT known.*
    FROM unnest($1::bigint[]) AS keys (key) CROSS JOIN LATERAL (
        SELECT pkey, created_at, source, disaster_type, ST_AsBinary(location, 'NDR') AS location,
               card_id IS NOT NULL OR post_id IS NOT NULL AS is_used
        FROM reports WHERE pkey = key
        UNION ALL
        SELECT pkey, created_at, source, disaster_type, NULL, post_id IS NOT NULL
        FROM erased_reports WHERE pkey = key
        UNION ALL
        SELECT pkey, created_at, source, disaster_type, ST_AsBinary(location, 'NDR'), false
        FROM new_reports WHERE pkey = key
    ) known";

const ERASED_DIGESTS: &str = "SELECT DISTINCT digest FROM erased_reports WHERE digest = ANY ($1)";

const MADE_AT: &str = concat!(
    "SELECT ",
    report!(),
    " FROM reports WHERE reports.created_at = ANY ($1) UNION ALL SELECT ",
    report!(),
    " FROM new_reports AS reports WHERE reports.created_at = ANY ($1)"
);

/// A temporary table for new reports, so that `reports` is locked only for one insert at the end.
const STAGING: [&str; 3] = [
    "CREATE TEMPORARY TABLE new_reports ON COMMIT DROP AS SELECT *, ''::bytea AS digest FROM reports WITH NO DATA",
    "CREATE INDEX ON new_reports (pkey)",
    "CREATE INDEX ON new_reports (created_at)",
];

/// The first key of a new report that another session has assigned since the lookup.
const CONFLICTING_KEY: &str = "
    SELECT pkey
    FROM new_reports JOIN (SELECT pkey FROM reports UNION ALL SELECT pkey FROM erased_reports) taken USING (pkey)
    ORDER BY pkey LIMIT 1";

/// Inserts the new reports, except those erased since the lookup. Assigns keys without advancing the sequence, because a failed
/// import could not reset it.
const PUBLISH: &str = concat!(
    "WITH last AS (
        SELECT greatest(0, (SELECT max(pkey) FROM reports), (SELECT max(pkey) FROM erased_reports),
                        (SELECT max(pkey) FROM new_reports),
                        pg_sequence_last_value(pg_get_serial_sequence('reports', 'pkey')::regclass)) AS key
    )
    INSERT INTO reports (",
    new_report!(),
    "hidden, pkey) SELECT ",
    new_report!(),
    "hidden, coalesce(pkey, last.key + row_number() OVER (PARTITION BY pkey IS NULL ORDER BY new_reports.ctid))
    FROM last, new_reports WHERE digest NOT IN (SELECT digest FROM erased_reports)"
);

const PLACED: &str = "
    SELECT pkey, ST_AsBinary(location, 'NDR') AS location, local_area_id, city
    FROM reports WHERE pkey > $1 AND ($2::bigint[] IS NULL OR local_area_id = ANY ($2)) ORDER BY pkey LIMIT 10000";
const RELOCATE: &str = "
    UPDATE reports SET local_area_id = rows.local_area_id, city = rows.city
    FROM json_populate_recordset(NULL::reports, $1::json) AS rows WHERE reports.pkey = rows.pkey";

const LOGGED: &str = "
    SELECT EXISTS (
        SELECT FROM moderation_log known
        WHERE (known.at, known.report, known.action) = (rows.at, rows.report, rows.action)
    )
    FROM unnest($1::timestamptz[], $2::bigint[], $3::text[]) WITH ORDINALITY AS rows (at, report, action, place)
    ORDER BY place";
/// Reserves numbers for `$1` new entries, and returns the first number.
const NUMBER_ENTRIES: &str = "
    UPDATE moderation_count SET number = number + $1 RETURNING number - $1 + 1";

/// Advances a sequence to the highest key of its table.
const ADVANCE_SEQUENCE: &str = "
    SELECT setval(sequence, highest)
    FROM (SELECT pg_get_serial_sequence($1, 'pkey')::regclass AS sequence) AS of,
         LATERAL (SELECT CASE $1 WHEN 'reports' THEN greatest((SELECT max(pkey) FROM reports),
                                                              (SELECT max(pkey) FROM erased_reports))
                                 ELSE (SELECT max(pkey) FROM cards) END AS highest) AS keys
    WHERE highest > coalesce(pg_sequence_last_value(sequence), 0)";

impl ReportTarget for Transaction {
    fn lock_reports(&mut self) -> Result<(), OpenError> {
        if !self.is_locked {
            self.lock(LOCK)?;
        }
        self.is_locked = true;
        Ok(())
    }

    fn find_reports(&mut self, keys: &[ReportKey]) -> Result<Vec<ReportIdentity>, OpenError> {
        self.rows(sqlx::query_as(IDENTITIES).bind(numbers(keys)))
    }

    fn erased_digests(&mut self, digests: &[ReportDigest]) -> Result<HashSet<ReportDigest>, OpenError> {
        let bytes = column(digests, |digest| *digest.as_bytes());
        let rows: Vec<([u8; 32],)> = self.rows(sqlx::query_as(ERASED_DIGESTS).bind(bytes))?;
        Ok(rows.into_iter().map(|(digest,)| digest.into()).collect())
    }

    fn reports_made_at(
        &mut self,
        times: &[Timestamp],
        each: RowVisitor<'_, ReportContent>,
    ) -> Result<(), OpenError> {
        let times = column(times, |time| moment(*time));
        self.for_each_row(sqlx::query_as(MADE_AT).bind(times), each)
    }

    fn add_reports(&mut self, rows: Vec<ReportRow>, hidden: bool) -> Result<(), OpenError> {
        self.insert("new_reports", &column(&rows, |row| (row, hidden)), "")
    }

    fn complete_reports(&mut self) -> Result<(), OpenError> {
        let rows: Vec<(i32,)> = self.rows(sqlx::query_as("SELECT 1 FROM new_reports LIMIT 1"))?;
        if rows.is_empty() {
            return Ok(());
        }
        self.lock_reports()?;
        let conflicts: Vec<(i64,)> = self.rows(sqlx::query_as(CONFLICTING_KEY))?;
        if let Some((key,)) = conflicts.first() {
            return Err(format!("pkey {key} is that of another report in the store").into());
        }
        self.execute(sqlx::query(PUBLISH))?;
        self.execute(sqlx::query("TRUNCATE new_reports"))
    }

    fn add_erased(&mut self, rows: Vec<ErasedReport>) -> Result<(), OpenError> {
        self.insert("erased_reports", &rows, "")
    }

    fn move_reports(
        &mut self,
        areas: Option<&[AreaId]>,
        moved: &dyn Fn(Position, &ReportLocation) -> Option<ReportLocation>,
    ) -> Result<u64, OpenError> {
        let areas = areas.map(|areas| column(areas, |area| area.number().cast_signed()));
        let (mut count, mut last) = (0, 0);
        loop {
            let rows: Vec<PlacedReport> = self.rows(sqlx::query_as(PLACED).bind(last).bind(&areas))?;
            let Some(last_row) = rows.last() else { return Ok(count) };
            last = last_row.key.number().cast_signed();
            let mut changed = Vec::new();
            for PlacedReport { key, location, area, city } in rows {
                let relocated = moved(location, &(area, city));
                changed.extend(relocated.map(|(area, city)| PlacedReport { key, location, area, city }));
            }
            count += changed.len() as u64;
            self.execute(sqlx::query(RELOCATE).bind(recordset(&changed)?))?;
        }
    }

    fn find_entries(&mut self, entries: &[EntryId]) -> Result<HashSet<EntryId>, OpenError> {
        let statement = sqlx::query_as(LOGGED)
            .bind(column(entries, |(at, ..)| moment(*at)))
            .bind(column(entries, |(_, report, _)| report.number().cast_signed()))
            .bind(column(entries, |(.., action)| *action));
        let exists: Vec<(bool,)> = self.rows(statement)?;
        Ok(entries.iter().zip(exists).filter(|(_, (exists,))| *exists).map(|(entry, _)| *entry).collect())
    }

    fn add_entries(&mut self, rows: Vec<ModerationEntry>) -> Result<(), OpenError> {
        let count = i64::try_from(rows.len())?;
        let numbers: Vec<(i64,)> = self.rows(sqlx::query_as(NUMBER_ENTRIES).bind(count))?;
        let first = numbers.first().map_or(Ok(1), |&(first,)| number(first))?;
        let numbered = (first..).zip(rows).map(|(number, entry)| ModerationEntry { number, ..entry });
        self.insert("moderation_log", &numbered.collect::<Vec<_>>(), "")
    }
}

pub(super) fn create_staging_tables(import: &mut Transaction) -> Result<(), OpenError> {
    STAGING.into_iter().try_for_each(|statement| import.execute(sqlx::query(statement)))
}

fn numbers(keys: &[ReportKey]) -> Vec<i64> {
    column(keys, |key| key.number().cast_signed())
}

/// Advances the sequences. Must run last, when nothing can fail any more, because a rollback does not reset sequences.
pub(super) fn advance_sequences(import: &mut Transaction) -> Result<(), OpenError> {
    for table in ["reports", "cards"] {
        import.execute(sqlx::query(ADVANCE_SEQUENCE).bind(table))?;
    }
    Ok(())
}
