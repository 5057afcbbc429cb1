use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::batch::{Answers, Write};
use super::link::Link;
use super::values::{column, moment};
use crate::model::{AreaId, Clock, FloodChange};
use crate::stores::{SetFloodState, StoreError};

/// Sets the states of areas, each at the given time, but at least 1 ms after the area's last change.
/// Returns a row for each area that exists.
pub(super) const SET: &str = "
    WITH orders AS (
        SELECT * FROM unnest(
            $1::bigint[], $2::smallint[], $3::timestamptz[], $4::text[], $5::text[]
        ) AS orders (area_id, state, at, subject, username)
    ), stood AS (
        INSERT INTO flood_states AS standing (area_id, state, changed_at)
        SELECT area_id, state, at
        FROM orders JOIN areas USING (area_id)
        ORDER BY area_id
        ON CONFLICT (area_id) DO UPDATE SET
            state = excluded.state,
            changed_at = greatest(excluded.changed_at, standing.changed_at + interval '1 millisecond')
        RETURNING area_id, state, changed_at
    )
    INSERT INTO flood_changes (area_id, changed_at, state, subject, username, received_at)
    SELECT area_id, stood.changed_at, stood.state, subject, username, at FROM stood JOIN orders USING (area_id)
    RETURNING area_id, changed_at";

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
        let query = sqlx::query_as(SET).bind(areas).bind(states).bind(moments).bind(subjects).bind(usernames);
        let set: Vec<(i64, DateTime<Utc>)> = query.fetch_all(&mut **link).await?;
        let set: HashMap<i64, DateTime<Utc>> = set.into_iter().collect();
        let answers = orders.iter().map(|SetFloodState { area, state, by }| {
            let at = set.get(&column(area.number())).ok_or_else(|| StoreError::no_area(*area))?;
            Ok(FloodChange { area: *area, state: *state, at: (*at).into(), received: now, by: by.clone() })
        });
        Ok(answers.collect())
    }
}
