//! Batches of flood states, and imports of areas with their log.

use std::fs;

use serde_json::{Value, json};

use super::{Operation, Site};
use crate::running::KEY;
use crate::service_config::request_json_with;

/// Few, because all batches must be on one page of the log.
const BATCH: std::ops::RangeInclusive<usize> = 1..=8;

pub(super) struct Batch;

impl Operation for Batch {
    type Subject = usize;

    fn prepare(&self, _: &mut Site, number: usize) -> usize {
        number
    }

    fn attempt(&self, site: &mut Site, number: &usize) -> bool {
        let change = |area: usize| json!({ "area_id": area.to_string(), "state": 1 + number % 4 });
        let batch = json!({ "note": number.to_string(), "changes": BATCH.map(change).collect::<Vec<_>>() });
        let headers =
            format!("X-Api-Key: {KEY}\r\nIdempotency-Key: 00000000-0000-0000-0000-{number:012x}\r\n");
        let authority = &site.server().authority;
        let (status, body) =
            request_json_with(&headers, authority, "POST", "/v1/floods/changes", &batch).unwrap();
        assert!([200, 503].contains(&status), "{status} {body}");
        status == 200
    }

    fn parts(&self, site: &Site, number: &usize) -> Vec<bool> {
        let log = site.get("/v1/floods/log");
        let is_of_batch = |entry: &&Value| entry["note"] == number.to_string().as_str();
        let logged = log.as_array().unwrap().iter().filter(is_of_batch).count();
        assert!([0, BATCH.count()].contains(&logged), "{logged} entries of a batch");
        // The newest batch is in effect as a whole.
        let newest = &log[0]["state"];
        let states = site.get("/v1/floods/states");
        let states = states.as_array().unwrap().iter();
        let in_effect = states.filter(|state| state["state"] == *newest).count();
        assert_eq!(in_effect, if newest.is_null() { 0 } else { BATCH.count() }, "{newest}");
        vec![logged > 0]
    }
}

pub(super) struct Import;

impl Operation for Import {
    type Subject = usize;

    fn prepare(&self, site: &mut Site, number: usize) -> usize {
        let area = 1_000 + number;
        let folder = site.folder.path().join(area.to_string());
        let ring = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]];
        let areas = json!({ "type": "FeatureCollection", "features": [{
            "type": "Feature", "geometry": { "type": "Polygon", "coordinates": [ring] },
            "properties": { "area_id": area, "area_name": "RW", "city": "jbd", "instance_region_code": "ID-JK" } }] });
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("areas.geojson"), areas.to_string()).unwrap();
        let states = format!("area_id,state,changed_at\n{area},3,2026-01-01T00:00:00Z\n");
        fs::write(folder.join("flood_states.csv"), states).unwrap();
        area
    }

    fn attempt(&self, site: &mut Site, area: &usize) -> bool {
        let folder = site.folder.path().join(area.to_string());
        site.run(&["import", folder.to_str().unwrap()]).is_ok()
    }

    fn parts(&self, site: &Site, area: &usize) -> Vec<bool> {
        let is_logged = site.has(&format!("/v1/floods/{area}/log"));
        let states = site.get("/v1/floods/states");
        let mut states = states.as_array().unwrap().iter();
        vec![is_logged, states.any(|state| state["area_id"] == area.to_string().as_str())]
    }
}
