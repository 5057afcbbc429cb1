//! The cards and posts that reports came from.

use serde_json::value::RawValue;

use super::super::error::backend;
use super::super::values::{moment, report_key};
use super::transaction::{Transaction, column};
use crate::model::{Card, CardHolder, PartnerPost};
use crate::stores::import::SourceTarget;
use crate::stores::{OpenError, StoreError};

/// Cards, each with the key of its report.
macro_rules! cards {
    ($which:literal) => {
        concat!(
            "SELECT card_id, cards.pkey, username, network, language, network_data::text, reports.pkey
             FROM cards LEFT JOIN reports USING (card_id) ",
            $which
        )
    };
}

pub(super) const CARDS: &str = cards!("ORDER BY cards.pkey");
const CARDS_OF: &str = cards!("WHERE card_id = ANY ($1) OR cards.pkey = ANY ($2)");

const PUT_CARDS: &str = "
    INSERT INTO cards (card_id, pkey, username, network, language, network_data, created_at)
    SELECT card_id, pkey, username, network, language, network_data::json, created_at
    FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::timestamptz[])
        AS rows (card_id, pkey, username, network, language, network_data, created_at)
    ON CONFLICT (card_id) DO NOTHING";
const RECEIVED: &str = "
    UPDATE reports SET card_id = rows.card_id
    FROM unnest($1::text[], $2::bigint[]) AS rows (card_id, pkey) WHERE reports.pkey = rows.pkey";

/// Posts, including those whose reports were erased.
macro_rules! posts {
    ($which:literal, $ordered:literal) => {
        concat!(
            "SELECT post_id, pkey FROM reports WHERE post_id ",
            $which,
            " UNION ALL SELECT post_id, pkey FROM erased_reports WHERE post_id ",
            $which,
            $ordered
        )
    };
}

pub(super) const POSTS: &str = posts!("IS NOT NULL", " ORDER BY pkey");
const POSTS_OF: &str = posts!("= ANY ($1)", "");
const ADD_POSTS: [&str; 2] = [
    "UPDATE reports SET post_id = rows.post_id
     FROM unnest($1::bigint[], $2::bigint[]) AS rows (post_id, pkey) WHERE reports.pkey = rows.pkey",
    "UPDATE erased_reports SET post_id = rows.post_id
     FROM unnest($1::bigint[], $2::bigint[]) AS rows (post_id, pkey) WHERE erased_reports.pkey = rows.pkey",
];

pub(super) type CardRow = (String, i64, String, String, String, Option<String>, Option<i64>);

pub(super) fn card(row: CardRow) -> Result<Card, StoreError> {
    let (id, pkey, username, network, language, network_data, report) = row;
    let network_data = network_data.map(RawValue::from_string).transpose().map_err(backend)?;
    Ok(Card {
        pkey: pkey.cast_unsigned(),
        id: id.parse().map_err(backend)?,
        holder: CardHolder { username, network, language, network_data },
        report: report.map(report_key).transpose()?,
        created_at: None,
    })
}

pub(super) fn post((post_id, pkey): (i64, i64)) -> Result<PartnerPost, StoreError> {
    Ok(PartnerPost { post_id, report: report_key(pkey)? })
}

impl SourceTarget for Transaction {
    fn find_cards(&mut self, ids: &[&str], numbers: &[u64]) -> Result<Vec<Card>, OpenError> {
        let numbers = column(numbers, |number| number.cast_signed());
        let rows: Vec<CardRow> = self.rows(sqlx::query_as(CARDS_OF).bind(ids).bind(numbers))?;
        rows.into_iter().map(|row| Ok(card(row)?)).collect()
    }

    fn put_cards(&mut self, rows: Vec<Card>) -> Result<(), OpenError> {
        let ids = column(&rows, |card| card.id.as_str());
        self.execute(
            sqlx::query(PUT_CARDS)
                .bind(&ids)
                .bind(column(&rows, |card| card.pkey.cast_signed()))
                .bind(column(&rows, |card| card.holder.username.as_str()))
                .bind(column(&rows, |card| card.holder.network.as_str()))
                .bind(column(&rows, |card| card.holder.language.as_str()))
                .bind(column(&rows, |card| card.holder.network_data.as_deref().map(RawValue::get)))
                .bind(column(&rows, |card| moment(card.created_at.unwrap_or(self.now)))),
        )?;
        let keys = column(&rows, |card| card.report.map(|key| key.number().cast_signed()));
        self.execute(sqlx::query(RECEIVED).bind(&ids).bind(keys))
    }

    fn find_posts(&mut self, ids: &[i64]) -> Result<Vec<PartnerPost>, OpenError> {
        let rows: Vec<(i64, i64)> = self.rows(sqlx::query_as(POSTS_OF).bind(ids))?;
        rows.into_iter().map(|row| Ok(post(row)?)).collect()
    }

    fn add_posts(&mut self, rows: Vec<PartnerPost>) -> Result<(), OpenError> {
        let posts = column(&rows, |post| post.post_id);
        let keys = column(&rows, |post| post.report.number().cast_signed());
        for statement in ADD_POSTS {
            self.execute(sqlx::query(statement).bind(&posts).bind(&keys))?;
        }
        Ok(())
    }
}
