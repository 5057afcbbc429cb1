//! Reports, and the cards and posts that they came from.

use futures::TryStreamExt;
use serde_json::value::RawValue;
use sqlx::{FromRow, Sqlite, SqliteConnection};

use super::super::error::FileError;
use super::places::{area_id, blob, place};
use super::{column, moment};
use crate::model::{
    Card, CardHolder, CardId, Geometry, Locator, PartnerPost, Report, ReportContent, ReportKey, Tags,
};

/// It leaves a stored report hidden.
const PUT_REPORT: &str = "
    INSERT INTO reports
        (pkey, created_at, source, url, image_url, disaster_type, report_data, title, text, is_training, partner_code,
         partner_icon, instance_region_code, local_area_id, geom)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (pkey) DO UPDATE SET
        created_at = excluded.created_at, source = excluded.source, url = excluded.url,
        image_url = excluded.image_url, disaster_type = excluded.disaster_type, report_data = excluded.report_data,
        title = excluded.title, text = excluded.text, is_training = excluded.is_training,
        partner_code = excluded.partner_code, partner_icon = excluded.partner_icon,
        instance_region_code = excluded.instance_region_code, local_area_id = excluded.local_area_id,
        geom = excluded.geom";
const REPORTS: &str = "
    SELECT pkey, created_at, source, url, image_url, disaster_type, report_data, title, text, is_training, partner_code,
           partner_icon, instance_region_code, local_area_id, geom
    FROM reports ORDER BY pkey";

const PUT_CARD: &str = "
    INSERT OR REPLACE INTO cards (pkey, card_id, username, network, language, network_data, report, created_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
const REMOVE_CARD: [&str; 2] =
    ["DELETE FROM cards WHERE card_id = ?", "DELETE FROM images WHERE card_id = ?"];
const CARDS: &str = "
    SELECT pkey, card_id, username, network, language, network_data, report, created_at FROM cards ORDER BY pkey";

const PUT_POST: &str = "INSERT OR REPLACE INTO partner_posts (post_id, pkey) VALUES (?, ?)";
const POSTS: &str = "SELECT post_id, pkey FROM partner_posts ORDER BY pkey";

#[derive(FromRow)]
struct ReportRow {
    pkey: i64,
    created_at: i64,
    source: String,
    url: Option<String>,
    image_url: Option<String>,
    disaster_type: String,
    report_data: Option<String>,
    title: String,
    text: String,
    is_training: bool,
    partner_code: Option<String>,
    partner_icon: Option<String>,
    instance_region_code: Option<String>,
    local_area_id: Option<i64>,
    geom: Vec<u8>,
}

type CardRow = (i64, String, String, String, String, Option<String>, Option<i64>, i64);

pub(super) async fn put_report(to: &mut SqliteConnection, report: &Report) -> Result<(), FileError> {
    let Report { key, content, tags } = report;
    let query = sqlx::query(PUT_REPORT)
        .bind(key.number().cast_signed())
        .bind(column(content.created_at))
        .bind(&*content.source)
        .bind(content.url.as_deref())
        .bind(content.image_url.as_deref())
        .bind(content.disaster_type.name())
        .bind(content.report_data.as_deref().map(RawValue::get))
        .bind(&*content.title)
        .bind(&*content.text)
        .bind(content.is_training)
        .bind(content.partner_code.as_deref())
        .bind(content.partner_icon.as_deref())
        .bind(tags.instance_region_code.as_deref())
        .bind(tags.local_area_id.map(|area| area.number().cast_signed()))
        .bind(blob("reports", Geometry::Point(content.location.coord()))?);
    query.execute(to).await?;
    Ok(())
}

/// Returns all reports, by key. `locator` finds their cities and districts, which are not stored, because areas can change.
pub(in super::super) async fn reports(
    from: &mut SqliteConnection,
    locator: &Locator,
) -> Result<Vec<Report>, FileError> {
    let mut reports = Vec::new();
    let mut rows = sqlx::query_as::<Sqlite, ReportRow>(REPORTS).fetch(from);
    while let Some(row) = rows.try_next().await? {
        reports.push(report(row, locator)?);
    }
    Ok(reports)
}

fn report(row: ReportRow, locator: &Locator) -> Result<Report, FileError> {
    const TABLE: &str = "reports";
    let location = place(TABLE, &row.geom)?;
    let report_data = row.report_data.map(RawValue::from_string).transpose();
    let area = row.local_area_id.map(|area| area_id(TABLE, area)).transpose()?;
    Ok(Report {
        key: report_key(TABLE, row.pkey)?,
        content: ReportContent {
            created_at: moment(row.created_at),
            source: row.source.into(),
            url: row.url.map(Box::from),
            image_url: row.image_url.map(Box::from),
            disaster_type: row.disaster_type.parse().map_err(FileError::row(TABLE))?,
            report_data: report_data.map_err(FileError::row(TABLE))?,
            title: row.title.into(),
            text: row.text.into(),
            location,
            is_training: row.is_training,
            partner_code: row.partner_code.map(Box::from),
            partner_icon: row.partner_icon.map(Box::from),
        },
        tags: Tags {
            instance_region_code: row.instance_region_code.map(Box::from),
            local_area_id: area,
            district_id: locator.district(area),
            city: locator.city_at(location).map(Box::from),
        },
    })
}

pub(super) fn report_key(table: &'static str, column: i64) -> Result<ReportKey, FileError> {
    column.cast_unsigned().try_into().map_err(FileError::row(table))
}

pub(super) async fn put_card(to: &mut SqliteConnection, card: &Card) -> Result<(), FileError> {
    let CardHolder { username, network, language, network_data } = &card.holder;
    let query = sqlx::query(PUT_CARD)
        .bind(card.pkey.cast_signed())
        .bind(card.id.as_str())
        .bind(username)
        .bind(network)
        .bind(language)
        .bind(network_data.as_deref().map(RawValue::get))
        .bind(card.report.map(|key| key.number().cast_signed()))
        .bind(card.created_at.map(column));
    query.execute(to).await?;
    Ok(())
}

/// Removes a card and its image.
pub(super) async fn remove_card(to: &mut SqliteConnection, card: &CardId) -> Result<(), FileError> {
    for statement in REMOVE_CARD {
        sqlx::query(statement).bind(card.as_str()).execute(&mut *to).await?;
    }
    Ok(())
}

/// Returns all cards, by number.
pub(in super::super) async fn cards(from: &mut SqliteConnection) -> Result<Vec<Card>, FileError> {
    const TABLE: &str = "cards";
    let mut cards = Vec::new();
    let mut rows = sqlx::query_as::<Sqlite, CardRow>(CARDS).fetch(from);
    while let Some((pkey, id, username, network, language, data, report, created_at)) =
        rows.try_next().await?
    {
        let network_data = data.map(RawValue::from_string).transpose().map_err(FileError::row(TABLE))?;
        cards.push(Card {
            pkey: pkey.cast_unsigned(),
            id: id.parse().map_err(FileError::row(TABLE))?,
            holder: CardHolder { username, network, language, network_data },
            report: report.map(|key| report_key(TABLE, key)).transpose()?,
            created_at: Some(moment(created_at)),
        });
    }
    Ok(cards)
}

pub(super) async fn put_partner_post(to: &mut SqliteConnection, post: PartnerPost) -> Result<(), FileError> {
    sqlx::query(PUT_POST).bind(post.post_id).bind(post.report.number().cast_signed()).execute(to).await?;
    Ok(())
}

/// Returns the posts of the partner feed, by their reports.
pub(in super::super) async fn partner_posts(
    from: &mut SqliteConnection,
) -> Result<Vec<PartnerPost>, FileError> {
    let rows = sqlx::query_as::<Sqlite, (i64, i64)>(POSTS).fetch_all(from).await?;
    let posts = rows
        .into_iter()
        .map(|(post_id, pkey)| Ok(PartnerPost { post_id, report: report_key("partner_posts", pkey)? }));
    posts.collect()
}
