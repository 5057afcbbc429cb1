use std::collections::HashSet;

use chrono::{DateTime, Utc};

use super::super::new_reports::{NewReport, new_report, recordset};
use super::super::reports::{ReportRow as StoredRow, report};
use super::super::values::{area_id, moment, position, report_key};
use super::transaction::{Transaction, column};
use crate::data::folder::ReportRow;
use crate::model::{
    AreaId, ErasedReport, ModerationAction, ModerationEntry, Position, ReportContent, ReportDigest,
    ReportKey, Timestamp,
};
use crate::stores::OpenError;
use crate::stores::import::{EntryId, ReportIdentity, ReportLocation, ReportTarget, RowVisitor};

const LOCK: &str = "LOCK TABLE reports, cards IN SHARE ROW EXCLUSIVE MODE";

const KNOWN: &str = "
    SELECT known.*
    FROM unnest($1::bigint[]) AS keys (key) CROSS JOIN LATERAL (
        SELECT pkey, created_at, source, disaster_type, ST_X(location) AS lng, ST_Y(location) AS lat,
               card_id IS NOT NULL OR post_id IS NOT NULL AS is_used
        FROM reports WHERE pkey = key
        UNION ALL
        SELECT pkey, created_at, source, disaster_type, NULL, NULL, post_id IS NOT NULL
        FROM erased_reports WHERE pkey = key
        UNION ALL
        SELECT pkey, created_at, source, disaster_type, ST_X(location), ST_Y(location), false
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

/// New reports wait here, so that reports are locked only while all of them are inserted at once.
const WAITING: [&str; 3] = [
    "CREATE TEMPORARY TABLE new_reports ON COMMIT DROP AS SELECT *, ''::bytea AS digest FROM reports WITH NO DATA",
    "CREATE INDEX ON new_reports (pkey)",
    "CREATE INDEX ON new_reports (created_at)",
];

const ADD: &str = concat!(
    "INSERT INTO new_reports (",
    new_report!(names),
    "pkey, digest, hidden) SELECT ",
    new_report!(names),
    "pkey, digest, $4 FROM ROWS FROM (json_to_recordset($1::json) AS (",
    new_report!(typed),
    "), unnest($2::bigint[]), unnest($3::bytea[])) AS rows (",
    new_report!(names),
    "pkey, digest)"
);

/// The keys that other sessions have given to reports since they were looked up.
const TAKEN: &str = "
    SELECT pkey
    FROM new_reports JOIN (SELECT pkey FROM reports UNION ALL SELECT pkey FROM erased_reports) taken USING (pkey)
    ORDER BY pkey LIMIT 1";

/// Leaves out reports that other sessions have erased since they were looked up. The keys are counted here: a sequence would not
/// be set back if the import fails.
const PUBLISH: &str = concat!(
    "WITH last AS (
        SELECT greatest(0, (SELECT max(pkey) FROM reports), (SELECT max(pkey) FROM erased_reports),
                        (SELECT max(pkey) FROM new_reports),
                        pg_sequence_last_value(pg_get_serial_sequence('reports', 'pkey')::regclass)) AS key
    )
    INSERT INTO reports (",
    new_report!(names),
    "hidden, pkey) SELECT ",
    new_report!(names),
    "hidden, coalesce(pkey, last.key + row_number() OVER (PARTITION BY pkey IS NULL ORDER BY new_reports.ctid))
    FROM last, new_reports WHERE digest NOT IN (SELECT digest FROM erased_reports)"
);

const ADD_ERASED: &str = "
    INSERT INTO erased_reports (pkey, created_at, source, disaster_type, is_training, instance_region_code, city, hidden,
                                digest)
    SELECT * FROM unnest($1::bigint[], $2::timestamptz[], $3::text[], $4::text[], $5::boolean[], $6::text[], $7::text[],
                         $8::boolean[], $9::bytea[])";

/// The reports of some areas, or all reports.
const PLACED: &str = "
    SELECT pkey, ST_X(location), ST_Y(location), local_area_id, city
    FROM reports WHERE pkey > $1 AND ($2::bigint[] IS NULL OR local_area_id = ANY ($2)) ORDER BY pkey LIMIT 10000";
const MOVE: &str = "
    UPDATE reports SET local_area_id = rows.area_id, city = rows.city
    FROM unnest($1::bigint[], $2::bigint[], $3::text[]) AS rows (pkey, area_id, city) WHERE reports.pkey = rows.pkey";

const LOGGED: &str = "
    SELECT at, report, action
    FROM unnest($1::timestamptz[], $2::bigint[], $3::text[]) AS rows (at, report, action)
    WHERE EXISTS (
        SELECT FROM moderation_log known
        WHERE (known.at, known.report, known.action) = (rows.at, rows.report, rows.action)
    )";
const ADD_ENTRIES: &str = "
    WITH counted AS (
        UPDATE moderation_count SET number = number + cardinality($1::timestamptz[]) RETURNING number
    )
    INSERT INTO moderation_log (number, at, report, made_at, action, subject, username, reason)
    SELECT number - cardinality($1) + place, at, report, made_at, action, subject, username, reason
    FROM counted, unnest($1, $2::bigint[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::text[])
        WITH ORDINALITY AS rows (at, report, made_at, action, subject, username, reason, place)";

/// Makes a sequence go on after the highest key of its table.
const COUNT_ON: &str = "
    SELECT setval(sequence, highest)
    FROM (SELECT pg_get_serial_sequence($1, 'pkey')::regclass AS sequence) AS of,
         LATERAL (SELECT CASE $1 WHEN 'reports' THEN greatest((SELECT max(pkey) FROM reports),
                                                              (SELECT max(pkey) FROM erased_reports))
                                 ELSE (SELECT max(pkey) FROM cards) END AS highest) AS keys
    WHERE highest > coalesce(pg_sequence_last_value(sequence), 0)";

type KnownRow = (i64, DateTime<Utc>, String, String, Option<f64>, Option<f64>, bool);
type PlacedRow = (i64, f64, f64, Option<i64>, Option<String>);

impl ReportTarget for Transaction {
    /// Other sessions queue behind this statement, so it does not wait long itself.
    fn lock_reports(&mut self) -> Result<(), OpenError> {
        if !self.is_locked {
            self.lock(LOCK)?;
        }
        self.is_locked = true;
        Ok(())
    }

    fn find_reports(&mut self, keys: &[ReportKey]) -> Result<Vec<ReportIdentity>, OpenError> {
        let rows: Vec<KnownRow> = self.rows(sqlx::query_as(KNOWN).bind(numbers(keys)))?;
        let known = |(key, created_at, source, disaster_type, lng, lat, is_used): KnownRow| {
            Ok(ReportIdentity {
                key: report_key(key)?,
                created_at: created_at.into(),
                source: source.into(),
                disaster_type: disaster_type.parse()?,
                location: lng.zip(lat).map(position).transpose()?,
                is_used,
            })
        };
        rows.into_iter().map(known).collect()
    }

    fn erased_digests(&mut self, digests: &[ReportDigest]) -> Result<HashSet<ReportDigest>, OpenError> {
        let bytes = column(digests, |digest| digest.as_bytes().to_vec());
        let rows: Vec<(Vec<u8>,)> = self.rows(sqlx::query_as(ERASED_DIGESTS).bind(bytes))?;
        let digest = |(bytes,): (Vec<u8>,)| Ok(<[u8; 32]>::try_from(bytes.as_slice())?.into());
        rows.into_iter().map(digest).collect()
    }

    fn reports_made_at(
        &mut self,
        times: &[Timestamp],
        each: RowVisitor<'_, ReportContent>,
    ) -> Result<(), OpenError> {
        let times = column(times, |time| moment(*time));
        let content = |row: StoredRow| Ok(row.report?.content);
        self.each(sqlx::query_as(MADE_AT).bind(times), content, each)
    }

    fn add_reports(&mut self, rows: Vec<ReportRow>, hidden: bool) -> Result<(), OpenError> {
        let reports = column(&rows, |row| NewReport { content: &row.content, tags: &row.tags });
        self.execute(
            sqlx::query(ADD)
                .bind(recordset(&reports)?)
                .bind(column(&rows, |row| row.key.map(|key| key.number().cast_signed())))
                .bind(column(&rows, |row| ReportDigest::new(&row.content).as_bytes().to_vec()))
                .bind(hidden),
        )
    }

    fn complete_reports(&mut self) -> Result<(), OpenError> {
        let any: Vec<(i32,)> = self.rows(sqlx::query_as("SELECT 1 FROM new_reports LIMIT 1"))?;
        if any.is_empty() {
            return Ok(());
        }
        self.lock_reports()?;
        let taken: Vec<(i64,)> = self.rows(sqlx::query_as(TAKEN))?;
        if let Some((key,)) = taken.first() {
            return Err(format!("pkey {key} is that of another report in the store").into());
        }
        self.execute(sqlx::query(PUBLISH))?;
        self.execute(sqlx::query("TRUNCATE new_reports"))
    }

    fn add_erased(&mut self, rows: Vec<ErasedReport>) -> Result<(), OpenError> {
        self.execute(
            sqlx::query(ADD_ERASED)
                .bind(column(&rows, |row| row.key.number().cast_signed()))
                .bind(column(&rows, |row| moment(row.created_at)))
                .bind(column(&rows, |row| &*row.source))
                .bind(column(&rows, |row| row.disaster_type.name()))
                .bind(column(&rows, |row| row.is_training))
                .bind(column(&rows, |row| row.tags.instance_region_code.as_deref()))
                .bind(column(&rows, |row| row.tags.city.as_deref()))
                .bind(column(&rows, |row| row.hidden))
                .bind(column(&rows, |row| row.digest.as_bytes().to_vec())),
        )
    }

    fn move_reports(
        &mut self,
        areas: Option<&[AreaId]>,
        moved: &dyn Fn(Position, &ReportLocation) -> Option<ReportLocation>,
    ) -> Result<u64, OpenError> {
        let areas = areas.map(|areas| column(areas, |area| area.number().cast_signed()));
        let (mut count, mut last) = (0, 0);
        loop {
            let rows: Vec<PlacedRow> = self.rows(sqlx::query_as(PLACED).bind(last).bind(&areas))?;
            let Some(&(highest, ..)) = rows.last() else { return Ok(count) };
            last = highest;
            let mut changed = Vec::new();
            for (key, lng, lat, area, city) in rows {
                let lies = (area.map(area_id).transpose()?, city.map(Box::from));
                changed.extend(moved(position((lng, lat))?, &lies).map(|now| (key, now)));
            }
            count += changed.len() as u64;
            self.execute(
                sqlx::query(MOVE)
                    .bind(column(&changed, |(key, _)| *key))
                    .bind(column(&changed, |(_, (area, _))| area.map(|area| area.number().cast_signed())))
                    .bind(column(&changed, |(_, (_, city))| city.as_deref())),
            )?;
        }
    }

    fn find_entries(&mut self, entries: &[EntryId]) -> Result<HashSet<EntryId>, OpenError> {
        let asked = sqlx::query_as(LOGGED)
            .bind(column(entries, |(at, ..)| moment(*at)))
            .bind(column(entries, |(_, report, _)| report.number().cast_signed()))
            .bind(column(entries, |(.., action)| *action));
        let rows: Vec<(DateTime<Utc>, i64, String)> = self.rows(asked)?;
        let id = |(at, report, action): (DateTime<Utc>, _, String)| {
            let action: ModerationAction = action.parse()?;
            Ok((at.into(), report_key(report)?, action.name()))
        };
        rows.into_iter().map(id).collect()
    }

    fn add_entries(&mut self, rows: Vec<ModerationEntry>) -> Result<(), OpenError> {
        self.execute(
            sqlx::query(ADD_ENTRIES)
                .bind(column(&rows, |row| moment(row.at)))
                .bind(column(&rows, |row| row.report.number().cast_signed()))
                .bind(column(&rows, |row| moment(row.made_at)))
                .bind(column(&rows, |row| row.action.name()))
                .bind(column(&rows, |row| row.by.subject.as_str()))
                .bind(column(&rows, |row| row.by.username.as_deref()))
                .bind(column(&rows, |row| row.reason.as_str())),
        )
    }
}

/// Prepares for new reports.
pub(super) fn begin(import: &mut Transaction) -> Result<(), OpenError> {
    WAITING.into_iter().try_for_each(|statement| import.execute(sqlx::query(statement)))
}

fn numbers(keys: &[ReportKey]) -> Vec<i64> {
    column(keys, |key| key.number().cast_signed())
}

/// Makes the keys of new reports and cards follow the imported ones. Call it when nothing can fail any more, because a
/// rollback of the import does not undo it.
pub(super) fn count_on(import: &mut Transaction) -> Result<(), OpenError> {
    for table in ["reports", "cards"] {
        import.execute(sqlx::query(COUNT_ON).bind(table))?;
    }
    Ok(())
}
