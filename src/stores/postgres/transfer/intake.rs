//! Imports reports, and the cards and posts that they came from.

use serde_json::value::RawValue;

use super::super::values::moment;
use super::import::{Import, ImportError, Written, column, lines};
use crate::datasets::{FolderFile, FolderRow, ReportRow};
use crate::model::{Card, PartnerPost, Places, ReportDigest};

const INCOMING: &str = "
    CREATE TEMPORARY TABLE incoming_reports (
        line bigint, pkey bigint, created_at timestamptz, source text, url text, image_url text, disaster_type text,
        report_data json, title text, text text, location geometry, instance_region_code text, local_area_id bigint,
        is_training boolean, partner_code text, partner_icon text, city text, hidden boolean, digest bytea
    ) ON COMMIT DROP";

const REPORTS: &str = "
    INSERT INTO incoming_reports
    SELECT line, pkey, created_at, source, url, image_url, disaster_type, report_data::json, title, text,
           ST_SetSRID(ST_MakePoint(lng, lat), 4326), instance_region_code, local_area_id, is_training, partner_code,
           partner_icon, city, $19, digest
    FROM unnest($1::bigint[], $2::bigint[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::text[],
                $8::text[], $9::text[], $10::text[], $11::float8[], $12::float8[], $13::text[], $14::bigint[],
                $15::boolean[], $16::text[], $17::text[], $18::text[], $20::bytea[])
        AS rows (line, pkey, created_at, source, url, image_url, disaster_type, report_data, title, text, lng, lat,
                 instance_region_code, local_area_id, is_training, partner_code, partner_icon, city, digest)";

const LOCK: &str = "LOCK TABLE reports, cards IN SHARE ROW EXCLUSIVE MODE";

const OTHER_REPORTS: &str = "
    SELECT line, 'pkey ' || pkey || ' is that of another report in the store'
    FROM incoming_reports incoming JOIN (
        SELECT pkey, created_at, source, disaster_type, location FROM reports
        UNION ALL SELECT pkey, created_at, source, disaster_type, NULL FROM erased_reports
    ) stored USING (pkey)
    WHERE incoming.hidden = $1 AND (
        (incoming.created_at, incoming.source, incoming.disaster_type)
            <> (stored.created_at, stored.source, stored.disaster_type)
        OR NOT incoming.location = stored.location
    )
    ORDER BY line LIMIT 1";

/// Reports that were erased do not come back, whatever key they have.
const ERASED_KEYS: &str =
    "DELETE FROM incoming_reports incoming USING erased_reports erased WHERE incoming.pkey = erased.pkey";
const ERASED_DIGESTS: &str = "
    DELETE FROM incoming_reports incoming USING erased_reports erased
    WHERE incoming.digest = erased.digest
      AND NOT EXISTS (SELECT FROM reports WHERE reports.pkey = incoming.pkey)";

const KEYED: &str = "
    INSERT INTO reports (pkey, created_at, source, url, image_url, disaster_type, report_data, title, text, location,
                         instance_region_code, local_area_id, is_training, partner_code, partner_icon, city, hidden)
    SELECT pkey, created_at, source, url, image_url, disaster_type, report_data, title, text, location,
           instance_region_code, local_area_id, is_training, partner_code, partner_icon, city, hidden
    FROM incoming_reports WHERE pkey IS NOT NULL AND hidden = $1
    ON CONFLICT (pkey) DO NOTHING";

/// The content of a report, as one text.
macro_rules! said {
    () => {
        "(created_at, source, url, image_url, disaster_type, report_data, title, text, location, is_training,
          partner_code, partner_icon)::text"
    };
}

/// Two reports without a key are the same if their contents are the same. If a folder has such a report n times, it is
/// stored n times, and importing it again adds none. The keys are counted here: a sequence would not be set back if the
/// import fails.
const KEYLESS: &str = concat!(
    "
    WITH stored AS (
        SELECT ",
    said!(),
    " AS said, count(*) AS times
        FROM reports
        WHERE created_at IN (SELECT created_at FROM incoming_reports WHERE pkey IS NULL)
        GROUP BY said
    ), numbered AS (
        SELECT *, row_number() OVER (PARTITION BY said ORDER BY line) AS time
        FROM (SELECT *, ",
    said!(),
    " AS said FROM incoming_reports WHERE pkey IS NULL) keyless
    ), last AS (
        SELECT greatest(0, (SELECT max(pkey) FROM reports), (SELECT max(pkey) FROM erased_reports),
                        pg_sequence_last_value(pg_get_serial_sequence('reports', 'pkey')::regclass)) AS key
    )
    INSERT INTO reports (pkey, created_at, source, url, image_url, disaster_type, report_data, title, text, location,
                         instance_region_code, local_area_id, is_training, partner_code, partner_icon, city)
    SELECT last.key + row_number() OVER (ORDER BY line), created_at, source, url, image_url, disaster_type, report_data,
           title, text, location, instance_region_code, local_area_id, is_training, partner_code, partner_icon, city
    FROM last, numbered LEFT JOIN stored USING (said)
    WHERE time > coalesce(times, 0)"
);

/// Makes a sequence go on after the highest key of its table.
const COUNT_ON: &str = "
    SELECT setval(sequence, highest)
    FROM (SELECT pg_get_serial_sequence($1, 'pkey')::regclass AS sequence) AS of,
         LATERAL (SELECT CASE $1 WHEN 'reports' THEN greatest((SELECT max(pkey) FROM reports),
                                                              (SELECT max(pkey) FROM erased_reports))
                                 ELSE (SELECT max(pkey) FROM cards) END AS highest) AS keys
    WHERE highest > coalesce(pg_sequence_last_value(sequence), 0)";

const OTHER_CARDS: &str = "
    SELECT line, 'pkey ' || pkey || ' is that of another card in the store'
    FROM unnest($1::bigint[], $2::text[], $3::bigint[]) AS rows (line, card_id, pkey) JOIN cards stored USING (pkey)
    WHERE rows.card_id <> stored.card_id
    ORDER BY line LIMIT 1";

/// The card of an erased report does not come back either.
const CARDS: &str = "
    INSERT INTO cards (card_id, pkey, username, network, language, network_data, created_at)
    SELECT card_id, pkey, username, network, language, network_data::json, $8
    FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[])
        AS rows (card_id, pkey, username, network, language, network_data, report)
    WHERE NOT EXISTS (SELECT FROM erased_reports erased WHERE erased.pkey = report)
    ON CONFLICT (card_id) DO NOTHING";

const RECEIVED: &str = "
    UPDATE reports SET card_id = rows.card_id
    FROM unnest($1::text[], $2::bigint[]) AS rows (card_id, pkey)
    WHERE reports.pkey = rows.pkey AND reports.card_id IS NULL AND reports.post_id IS NULL
      AND NOT EXISTS (SELECT FROM reports other WHERE other.card_id = rows.card_id)";

const NOT_RECEIVED: &str = "
    SELECT line, 'report ' || rows.pkey || ' is not the report of the card'
    FROM unnest($1::bigint[], $2::text[], $3::bigint[]) AS rows (line, card_id, pkey)
    WHERE NOT EXISTS (
        SELECT FROM reports WHERE reports.pkey = rows.pkey AND reports.card_id = rows.card_id
    ) AND NOT EXISTS (SELECT FROM erased_reports erased WHERE erased.pkey = rows.pkey)
    ORDER BY line LIMIT 1";

const POSTS: &str = "
    UPDATE reports SET post_id = rows.post_id
    FROM unnest($1::bigint[], $2::bigint[]) AS rows (post_id, pkey)
    WHERE reports.pkey = rows.pkey AND reports.post_id IS NULL AND reports.card_id IS NULL
      AND NOT EXISTS (SELECT FROM reports other WHERE other.post_id = rows.post_id)
      AND NOT EXISTS (SELECT FROM erased_reports other WHERE other.post_id = rows.post_id)";

const ERASED_POSTS: &str = "
    UPDATE erased_reports SET post_id = rows.post_id
    FROM unnest($1::bigint[], $2::bigint[]) AS rows (post_id, pkey)
    WHERE erased_reports.pkey = rows.pkey AND erased_reports.post_id IS NULL
      AND NOT EXISTS (SELECT FROM reports other WHERE other.post_id = rows.post_id)
      AND NOT EXISTS (SELECT FROM erased_reports other WHERE other.post_id = rows.post_id)";

const NOT_POSTED: &str = "
    SELECT line, 'pkey ' || rows.pkey || ' is not the report of the post'
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS rows (line, post_id, pkey)
    WHERE NOT EXISTS (
        SELECT FROM reports WHERE reports.pkey = rows.pkey AND reports.post_id = rows.post_id
    ) AND NOT EXISTS (
        SELECT FROM erased_reports erased WHERE erased.pkey = rows.pkey AND erased.post_id = rows.post_id
    )
    ORDER BY line LIMIT 1";

/// Imports reports; those that are hidden first, so that no other file shows them.
pub(super) fn reports(import: &mut Import<'_>, places: &Places) -> Result<(), ImportError> {
    let folder = import.folder;
    import.execute(sqlx::query(INCOMING))?;
    let files = [(FolderFile::HiddenReports, true), (FolderFile::Reports, false)];
    let hidden = fill(import, files[0], |each| folder.hidden_reports(places.locator(), each))?;
    let others = fill(import, files[1], |each| folder.reports(places.locator(), each))?;
    if !hidden && !others {
        return Ok(());
    }
    import.execute(sqlx::query("ANALYZE incoming_reports"))?;
    lock(import)?;
    for (file, is_hidden) in files {
        import.refuse(file, sqlx::query(OTHER_REPORTS).bind(is_hidden))?;
    }
    for statement in [ERASED_KEYS, ERASED_DIGESTS] {
        import.execute(sqlx::query(statement))?;
    }
    for (file, is_hidden) in files.into_iter().filter(|(file, _)| folder.has(*file)) {
        let added = import.add(sqlx::query(KEYED).bind(is_hidden))?;
        import.count(file, added);
    }
    if others {
        let added = import.add(sqlx::query(KEYLESS))?;
        import.count(FolderFile::Reports, added);
    }
    Ok(())
}

/// Collects the reports of a file, and returns whether there are any.
fn fill(
    import: &mut Import<'_>,
    (file, is_hidden): (FolderFile, bool),
    read: impl FnOnce(&mut dyn FnMut(FolderRow<ReportRow>) -> Result<(), ImportError>) -> Result<(), ImportError>,
) -> Result<bool, ImportError> {
    import.fill(file, read, |import, rows: Vec<FolderRow<ReportRow>>| {
        import.execute(
            sqlx::query(REPORTS)
                .bind(lines(&rows))
                .bind(column(&rows, |row| row.key.map(|key| key.number().cast_signed())))
                .bind(column(&rows, |row| moment(row.content.created_at)))
                .bind(column(&rows, |row| &*row.content.source))
                .bind(column(&rows, |row| row.content.url.as_deref()))
                .bind(column(&rows, |row| row.content.image_url.as_deref()))
                .bind(column(&rows, |row| row.content.disaster_type.name()))
                .bind(column(&rows, |row| row.content.report_data.as_deref().map(RawValue::get)))
                .bind(column(&rows, |row| &*row.content.title))
                .bind(column(&rows, |row| &*row.content.text))
                .bind(column(&rows, |row| row.content.location.coord().x))
                .bind(column(&rows, |row| row.content.location.coord().y))
                .bind(column(&rows, |row| row.tags.instance_region_code.as_deref()))
                .bind(column(&rows, |row| row.tags.local_area_id.map(|area| area.number().cast_signed())))
                .bind(column(&rows, |row| row.content.is_training))
                .bind(column(&rows, |row| row.content.partner_code.as_deref()))
                .bind(column(&rows, |row| row.content.partner_icon.as_deref()))
                .bind(column(&rows, |row| row.tags.city.as_deref()))
                .bind(is_hidden)
                .bind(column(&rows, |row| ReportDigest::of(&row.content).as_bytes().to_vec())),
        )?;
        Ok(Written::default())
    })
}

pub(super) fn cards(import: &mut Import<'_>) -> Result<(), ImportError> {
    let folder = import.folder;
    import.fill(
        FolderFile::Cards,
        |each| folder.cards(each),
        |import, rows: Vec<FolderRow<Card>>| {
            lock(import)?;
            let ids = column(&rows, |card| card.id.as_str());
            let keys = column(&rows, |card| card.pkey.cast_signed());
            let others = sqlx::query(OTHER_CARDS).bind(lines(&rows)).bind(ids.clone()).bind(keys.clone());
            import.refuse(FolderFile::Cards, others)?;
            let added = import.add(
                sqlx::query(CARDS)
                    .bind(ids)
                    .bind(keys)
                    .bind(column(&rows, |card| card.holder.username.as_str()))
                    .bind(column(&rows, |card| card.holder.network.as_str()))
                    .bind(column(&rows, |card| card.holder.language.as_str()))
                    .bind(column(&rows, |card| card.holder.network_data.as_deref().map(RawValue::get)))
                    .bind(column(&rows, |card| card.report.map(|key| key.number().cast_signed())))
                    .bind(moment(import.now)),
            )?;
            let received: Vec<_> = rows.iter().filter_map(|row| Some((row, row.value.report?))).collect();
            let ids: Vec<_> = received.iter().map(|(row, _)| row.value.id.as_str()).collect();
            let keys: Vec<_> = received.iter().map(|(_, key)| key.number().cast_signed()).collect();
            let lines: Vec<_> = received.iter().map(|(row, _)| row.line.cast_signed()).collect();
            import.execute(sqlx::query(RECEIVED).bind(ids.clone()).bind(keys.clone()))?;
            import.refuse(FolderFile::Cards, sqlx::query(NOT_RECEIVED).bind(lines).bind(ids).bind(keys))?;
            Ok(added)
        },
    )?;
    Ok(())
}

pub(super) fn partner_posts(import: &mut Import<'_>) -> Result<(), ImportError> {
    let folder = import.folder;
    import.fill(
        FolderFile::PartnerPosts,
        |each| folder.partner_posts(each),
        |import, rows: Vec<FolderRow<PartnerPost>>| {
            lock(import)?;
            let posts = column(&rows, |post| post.post_id);
            let keys = column(&rows, |post| post.report.number().cast_signed());
            let mut added = import.add(sqlx::query(POSTS).bind(posts.clone()).bind(keys.clone()))?;
            added.added +=
                import.execute(sqlx::query(ERASED_POSTS).bind(posts.clone()).bind(keys.clone()))?;
            import.refuse(
                FolderFile::PartnerPosts,
                sqlx::query(NOT_POSTED).bind(lines(&rows)).bind(posts).bind(keys),
            )?;
            Ok(added)
        },
    )?;
    Ok(())
}

/// Locks reports and cards: from here on no other session takes a key. Other sessions queue behind this statement, so
/// it does not wait long itself.
pub(super) fn lock(import: &mut Import<'_>) -> Result<(), ImportError> {
    import.lock(LOCK)
}

/// Makes the keys of new reports and cards follow the imported ones. Call it when nothing can fail any more, because a
/// rollback of the import does not undo it.
pub(super) fn count_on(import: &mut Import<'_>) -> Result<(), ImportError> {
    import.execute(sqlx::query(COUNT_ON).bind("reports"))?;
    import.execute(sqlx::query(COUNT_ON).bind("cards"))?;
    Ok(())
}
