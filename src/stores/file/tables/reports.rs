//! Reports, and the cards and posts that they came from.

use sqlx::SqliteConnection;

use super::super::error::FileError;
use super::column::Column;
use super::table::{Table, table};
use crate::model::{Card, CardHolder, CardId, Locator, PartnerPost, Report, ReportContent, Tags};

/// The reports. `update` keeps the column `hidden`, so a hidden report stays hidden when it is written again.
pub(super) const REPORTS: Table<Report> = table!(
    "reports", update pkey, "ORDER BY pkey",
    Report {
        key: pkey,
        content: ReportContent {
            created_at,
            source,
            url,
            image_url,
            disaster_type,
            report_data,
            title,
            text,
            location: geom,
            is_training,
            partner_code,
            partner_icon,
        },
        tags: Tags { instance_region_code, local_area_id, district_id: (no_district), city: (no_city) },
    }
);

/// The cards, ordered by number.
pub(in super::super) const CARDS: Table<Card> = table!(
    "cards",
    replace,
    "ORDER BY pkey",
    Card {
        pkey,
        id: card_id,
        holder: CardHolder { username, network, language, network_data },
        report,
        created_at,
    }
);

pub(in super::super) const PARTNER_POSTS: Table<PartnerPost> =
    table!("partner_posts", replace, "ORDER BY pkey", PartnerPost { post_id, report: pkey });

const REMOVE_CARD: [&str; 2] =
    ["DELETE FROM cards WHERE card_id = ?", "DELETE FROM images WHERE card_id = ?"];

/// Returns all reports, ordered by key. Cities and districts are not stored, because areas can change; the locator computes them.
pub(in super::super) async fn reports(
    from: &mut SqliteConnection,
    locator: &Locator,
) -> Result<Vec<Report>, FileError> {
    let mut reports = REPORTS.all(from).await?;
    for Report { content, tags, .. } in &mut reports {
        tags.district_id = locator.district(tags.local_area_id);
        tags.city = locator.city_at(content.location).map(Box::from);
    }
    Ok(reports)
}

pub(super) async fn remove_card(to: &mut SqliteConnection, card: &CardId) -> Result<(), FileError> {
    for statement in REMOVE_CARD {
        sqlx::query(statement).bind(card.as_str()).execute(&mut *to).await?;
    }
    Ok(())
}
