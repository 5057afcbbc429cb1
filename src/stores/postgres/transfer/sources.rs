use super::super::rows::recordset;
use super::transaction::{Transaction, column};
use crate::model::{Card, PartnerPost};
use crate::stores::OpenError;
use crate::stores::import::SourceTarget;

macro_rules! cards {
    ($which:literal) => {
        concat!(
            "SELECT card_id, cards.pkey, username, network, language, network_data::text, cards.created_at,
                    reports.pkey AS report
             FROM cards LEFT JOIN reports USING (card_id) ",
            $which
        )
    };
}

pub(super) const CARDS: &str = cards!("ORDER BY cards.pkey");
const CARDS_OF: &str = cards!("WHERE card_id = ANY ($1) OR cards.pkey = ANY ($2)");

const PUT_CARDS: &str = "
    INSERT INTO cards (card_id, pkey, username, network, language, network_data, created_at)
    SELECT card_id, pkey, username, network, language, network_data, created_at
    FROM json_populate_recordset(NULL::cards, $1::json)
    ON CONFLICT (card_id) DO NOTHING";
const RECEIVED: &str = "
    UPDATE reports SET card_id = rows.card_id
    FROM json_to_recordset($1::json) AS rows (card_id text, report bigint) WHERE reports.pkey = rows.report";

/// Selects posts and the keys of their reports, including erased reports.
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
     FROM json_populate_recordset(NULL::reports, $1::json) AS rows WHERE reports.pkey = rows.pkey",
    "UPDATE erased_reports SET post_id = rows.post_id
     FROM json_populate_recordset(NULL::reports, $1::json) AS rows WHERE erased_reports.pkey = rows.pkey",
];

impl SourceTarget for Transaction {
    fn find_cards(&mut self, ids: &[&str], numbers: &[u64]) -> Result<Vec<Card>, OpenError> {
        let numbers = column(numbers, |number| number.cast_signed());
        self.rows(sqlx::query_as(CARDS_OF).bind(ids).bind(numbers))
    }

    fn put_cards(&mut self, rows: Vec<Card>) -> Result<(), OpenError> {
        let rows = recordset(&rows)?;
        [PUT_CARDS, RECEIVED]
            .into_iter()
            .try_for_each(|statement| self.execute(sqlx::query(statement).bind(&rows)))
    }

    fn find_posts(&mut self, ids: &[i64]) -> Result<Vec<PartnerPost>, OpenError> {
        self.rows(sqlx::query_as(POSTS_OF).bind(ids))
    }

    fn add_posts(&mut self, rows: Vec<PartnerPost>) -> Result<(), OpenError> {
        let rows = recordset(&rows)?;
        ADD_POSTS.into_iter().try_for_each(|statement| self.execute(sqlx::query(statement).bind(&rows)))
    }
}
