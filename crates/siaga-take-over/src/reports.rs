//! Reports, and the cards that they came from.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use siaga::folder::{CsvWriter, FolderFile, FolderRules, GeoJsonWriter};
use siaga::model::bodies::{Object, check_storable};
use siaga::model::{
    CARD_SOURCE, Card, CardHolder, Report, ReportContent, ReportKey, WEB_ADDRESS, is_photo_name,
    is_web_address,
};

use super::source::{CopyError, Source, Table, TableRow};
use super::values::{moment, number, object, required};

const PARTNERS: Table = Table {
    name: "cognicity.partners",
    sql: "SELECT row_to_json(t)::text, NULL::bytea, coalesce('partner_code ' || partner_code, 'no partner_code')
          FROM cognicity.partners t",
};

const REPORTS: Table = Table {
    name: "cognicity.all_reports",
    sql: "SELECT row_to_json(t)::text, ST_AsBinary(ST_Force2D(the_geom), 'NDR'), 'pkey ' || pkey
          FROM cognicity.all_reports t ORDER BY pkey",
};

/// The table that identifies used cards. If it is missing, no card is copied.
const USED: &str = "grasp.reports";

/// Each card with the number of its report in `grasp.reports`.
const CARDS: Table = Table {
    name: "grasp.cards",
    sql: "SELECT json_build_object('card', row_to_json(t), 'report', r.pkey)::text, NULL::bytea, 'pkey ' || t.pkey
          FROM grasp.cards t LEFT JOIN (SELECT card_id, min(pkey) AS pkey FROM grasp.reports GROUP BY card_id) r
              USING (card_id)
          ORDER BY t.pkey",
};

#[derive(Deserialize)]
struct Partner {
    partner_code: Option<String>,
    partner_icon: Option<String>,
}

#[derive(Deserialize)]
struct ReportRow {
    pkey: i64,
    fkey: Option<i64>,
    created_at: Option<String>,
    text: Option<String>,
    source: Option<String>,
    status: Option<String>,
    disaster_type: Option<String>,
    url: Option<String>,
    image_url: Option<String>,
    title: Option<String>,
    report_data: Option<Box<RawValue>>,
    tags: Option<Value>,
    is_training: Option<bool>,
    partner_code: Option<String>,
}

#[derive(Deserialize)]
struct CardRow {
    card: CardColumns,
    report: Option<i64>,
}

#[derive(Deserialize)]
struct CardColumns {
    pkey: i64,
    card_id: String,
    username: Option<String>,
    network: Option<String>,
    language: Option<String>,
    received: Option<bool>,
    network_data: Option<Box<RawValue>>,
}

/// Reports from cards, by their number in `grasp.reports`.
pub(super) type Received = HashMap<i64, ReportKey>;

/// Copies the confirmed reports, and returns the reports from cards.
pub(super) async fn reports(
    source: &mut Source,
    reports: &mut GeoJsonWriter<Report>,
    rules: &FolderRules,
) -> Result<Received, CopyError> {
    let icons = icons(source).await?;
    let mut received = Received::new();
    let copy_row = |columns: ReportRow, row: &mut TableRow<'_>| {
        if columns.status.as_deref().is_some_and(|status| !status.eq_ignore_ascii_case(Report::STATUS)) {
            return Err("status is not confirmed".into());
        }
        let key =
            ReportKey::try_from(number("pkey", columns.pkey)?).map_err(|error| format!("pkey {error}"))?;
        let icon = columns.partner_code.as_ref().and_then(|code| icons.get(code)).cloned();
        let content = ReportContent {
            created_at: moment("created_at", columns.created_at.as_deref())?,
            source: required("source", columns.source.as_deref())?.into(),
            url: columns.url.map(Box::from),
            disaster_type: rules.disaster(columns.disaster_type.as_deref().unwrap_or_default())?,
            location: row.shape.place()?,
            image_url: row.value("image_url", image(columns.image_url)).map(Box::from),
            report_data: row.value("report_data", storable_object("report_data", columns.report_data)),
            title: columns.title.unwrap_or_default().into(),
            text: columns.text.unwrap_or_default().into(),
            is_training: columns.is_training.unwrap_or_default(),
            partner_code: columns.partner_code.map(Box::from),
            partner_icon: row.value("partner_icon", web_address("partner_icon", icon)).map(Box::from),
        };
        let tags = row.tags(columns.tags.as_ref());
        let by_card = &*content.source == CARD_SOURCE;
        reports.write(&Report { key, content, tags })?;
        // If a card has several reports, the first one counts as the report of the card.
        if let Some(number) = columns.fkey.filter(|_| by_card) {
            received.entry(number).or_insert(key);
        }
        row.copied.count_row(FolderFile::Reports);
        Ok(())
    };
    source.each(REPORTS, copy_row).await?;
    Ok(received)
}

async fn icons(source: &mut Source) -> Result<HashMap<String, String>, CopyError> {
    let mut icons = HashMap::new();
    let add_icon = |Partner { partner_code, partner_icon }: Partner, _: &mut TableRow<'_>| {
        icons.extend(partner_code.zip(partner_icon));
        Ok(())
    };
    source.each(PARTNERS, add_icon).await?;
    Ok(icons)
}

/// Copies the cards, except used cards without a copied report. In the copy, such a card could be used again.
pub(super) async fn cards(
    source: &mut Source,
    cards: &mut CsvWriter<Card>,
    received: &Received,
    rules: &FolderRules,
) -> Result<(), CopyError> {
    if !source.has(USED).await? {
        source.copied.missing(USED);
        return Ok(());
    }
    let copy_row = |CardRow { card, report }: CardRow, row: &mut TableRow<'_>| {
        let id = rules.card_id(&card.card_id)?;
        let pkey = number("pkey", card.pkey)?;
        if pkey == 0 {
            return Err("pkey must not be 0".into());
        }
        let key = report.and_then(|number| received.get(&number)).copied();
        if key.is_none() && (report.is_some() || card.received == Some(true)) {
            return Err("the card was used, and its report is none of the reports copied".into());
        }
        let holder = CardHolder {
            username: card.username.unwrap_or_default(),
            network: card.network.unwrap_or_default(),
            language: card.language.unwrap_or_default(),
            network_data: row.value("network_data", storable_object("network_data", card.network_data)),
        };
        cards.write(&Card { pkey, id, holder, report: key, created_at: None })?;
        row.copied.count_row(FolderFile::Cards);
        Ok(())
    };
    source.each(CARDS, copy_row).await
}

fn storable_object(column: &str, json: Option<Box<RawValue>>) -> Result<Option<Box<RawValue>>, String> {
    let Some(json) = object(column, json)? else { return Ok(None) };
    let members: Object = serde_json::from_str(json.get()).map_err(|error| format!("{column}: {error}"))?;
    check_storable(&members).map_err(|unkeepable| format!("{column} {unkeepable}"))?;
    Ok(Some(json))
}

fn image(url: Option<String>) -> Result<Option<String>, String> {
    match url {
        Some(name) if is_photo_name(&name) => Ok(Some(name)),
        url => web_address("image_url", url),
    }
}

fn web_address(column: &str, address: Option<String>) -> Result<Option<String>, String> {
    match address {
        Some(text) if !text.is_empty() && !is_web_address(&text) => {
            Err(format!("{column} must be {WEB_ADDRESS}"))
        }
        address => Ok(address),
    }
}
