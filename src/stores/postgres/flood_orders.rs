use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::batch::{Answers, Write};
use super::error::backend;
use super::link::Link;
use super::values::{column, moment};
use crate::model::{AreaId, Clock, FloodChange};
use crate::stores::{SetFloodState, StoreError};

/// Sets the states of areas, each at the given time, but at least 1 ms after the area's last change. An order that depends on the area's newest entry is left out if another entry is newer.
/// Returns a row for each area that exists, without a time if its order was left out.
pub(super) const SET: &str = "
    WITH orders AS (
        SELECT * FROM unnest(
            $1::bigint[], $2::smallint[], $3::timestamptz[], $4::text[], $5::text[], $6::timestamptz[]
        ) AS orders (area_id, state, at, subject, username, after)
    ), stood AS (
        INSERT INTO flood_states AS standing (area_id, state, changed_at)
        SELECT area_id, state, at
        FROM orders JOIN areas USING (area_id)
        -- An area that has no state yet would meet no condition below.
        WHERE after IS NULL
           OR EXISTS (SELECT FROM flood_states known WHERE known.area_id = orders.area_id)
        ORDER BY area_id
        ON CONFLICT (area_id) DO UPDATE SET
            state = excluded.state,
            changed_at = greatest(excluded.changed_at, standing.changed_at + interval '1 millisecond')
        WHERE standing.changed_at = coalesce(
            (SELECT after FROM orders WHERE orders.area_id = standing.area_id), standing.changed_at
        )
        RETURNING area_id, state, changed_at
    ), logged AS (
        INSERT INTO flood_changes (area_id, changed_at, state, subject, username, received_at)
        SELECT area_id, stood.changed_at, stood.state, subject, username, at FROM stood JOIN orders USING (area_id)
        RETURNING area_id, changed_at
    )
    SELECT area_id, logged.changed_at
    FROM orders JOIN areas USING (area_id) LEFT JOIN logged USING (area_id)";

/// Writes orders to set flood states.
pub(super) struct FloodOrders {
    pub(super) clock: Arc<dyn Clock>,
}

#[async_trait]
impl Write for FloodOrders {
    type Job = SetFloodState;
    type Done = FloodChange;
    type Thing = AreaId;
    const NAME: &str = "flood_states";

    fn thing(order: &SetFloodState) -> AreaId {
        order.area
    }

    async fn write(&self, link: &mut Link, orders: &[SetFloodState]) -> Result<Answers<Self>, StoreError> {
        let areas: Vec<_> = orders.iter().map(|order| column(order.area.number())).collect();
        let states: Vec<_> =
            orders.iter().map(|order| order.state.map(|state| i16::from(state.code()))).collect();
        let now = self.clock.now();
        let moments: Vec<_> = orders.iter().map(|_| moment(now)).collect();
        let subjects: Vec<_> = orders.iter().map(|order| order.by.subject.clone()).collect();
        let usernames: Vec<_> = orders.iter().map(|order| order.by.username.clone()).collect();
        let after: Vec<_> = orders.iter().map(|order| order.after.map(moment)).collect();
        let query = sqlx::query_as(SET).bind(areas).bind(states).bind(moments).bind(subjects).bind(usernames);
        let set: Vec<(i64, Option<DateTime<Utc>>)> = query.bind(after).fetch_all(&mut **link).await?;
        let set: HashMap<i64, Option<DateTime<Utc>>> = set.into_iter().collect();
        let answers = orders.iter().map(|SetFloodState { area, state, by, after }| {
            let at = set.get(&column(area.number())).ok_or_else(|| StoreError::no_area(*area))?;
            match (at, after) {
                (Some(at), _) => {
                    let (area, state, at, by) = (*area, *state, (*at).into(), by.clone());
                    Ok(FloodChange { area, state, at, received: now, by })
                }
                (None, Some(after)) => Err(StoreError::changed_since(*area, *after)),
                (None, None) => Err(backend("a state was not set")),
            }
        });
        Ok(answers.collect())
    }
}
