//! A format the service does not know, added from outside.

use std::sync::Arc;
use std::time::Duration;

use rocket::http::Status;
use serde_json::json;
use siaga::formats::{Container, EncodeContext, EncodeError, Format};
use siaga::model::{Layer, LayerKind};

use crate::support::{Siaga, assert_invalid, figment, json_of};

#[derive(Debug)]
struct Csv;

impl Format for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn container(&self) -> Container {
        Container("text")
    }

    fn media_type(&self) -> &'static str {
        "text/csv; charset=utf-8"
    }

    fn carries(&self, kind: LayerKind) -> bool {
        kind == LayerKind::Floods
    }

    fn time_step(&self) -> Option<Duration> {
        None
    }

    fn encode(&self, layer: &Layer, _: &EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let Layer::Floods(floods) = layer else { unreachable!("it carries floods alone") };
        if floods.features().any(|flood| flood.area.name.contains('"')) {
            let source = "a quote".into();
            return Err(EncodeError { format: self.name().to_owned(), source });
        }
        for flood in floods.features() {
            out.extend(format!("{},{}\n", flood.area.id, flood.area.name).bytes());
        }
        Ok(())
    }
}

fn with_csv(default: &str) -> Siaga {
    let figment = figment()
        .merge(("siaga.formats.enabled", ["topojson", "csv"]))
        .merge(("siaga.formats.default", default));
    Siaga::with(figment, |builder| builder.format(Arc::new(Csv)))
}

#[test]
fn a_format_of_an_agency_is_chosen_like_the_services_own() {
    let siaga = with_csv("topojson");
    for query in ["geoformat=csv", "format=text", "format=text&geoformat=csv"] {
        let response = siaga.client.get(format!("/v1/floods?city=bdg&{query}")).dispatch();
        assert_eq!(response.headers().get_one("Content-Type"), Some("text/csv; charset=utf-8"));
        assert_eq!(response.into_string().unwrap(), "30,RW 30\n");
    }
    assert_eq!(siaga.result("/v1/floods")["type"], "Topology");
    assert_invalid(siaga.get("/v1/floods?geoformat=x"), "query", &["geoformat"], "one of [topojson, csv]");
    assert_eq!(with_csv("csv").get("/v1/floods?city=bdg").into_string().unwrap(), "30,RW 30\n");
}

#[test]
fn a_layer_a_format_cannot_write_is_a_500_that_tells_nothing() {
    let response_of = with_csv("topojson");
    let response = response_of.get("/v1/floods?geoformat=csv");
    assert_eq!(response.status(), Status::InternalServerError);
    let body = json_of(response);
    assert_eq!(
        body,
        json!({
            "statusCode": 500, "error": "Internal Server Error",
            "message": "the service failed; the failure was logged",
        })
    );
}
