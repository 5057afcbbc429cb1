use rocket::http::{Header, Status};

use crate::suite::support::Siaga;

fn etag(siaga: &Siaga, address: &str) -> String {
    siaga.get(address).headers().get_one("ETag").unwrap().to_owned()
}

#[test]
fn a_known_answer_is_304_until_it_changes() {
    let siaga = Siaga::start();
    for address in
        ["/v1/floods", "/v1/floods?geoformat=geojson", "/v1/floods?geoformat=cap", "/v1/floods/states"]
    {
        let old = etag(&siaga, address);
        assert!(old.starts_with('"') && old.ends_with('"'), "a strong tag: {old}");
        let ask = |tags: &str| {
            siaga.client.get(address).header(Header::new("If-None-Match", tags.to_owned())).dispatch()
        };
        for tags in [old.clone(), format!("\"other\", {old}"), format!("W/{old}"), "*".to_owned()] {
            let response = ask(&tags);
            assert_eq!(response.status(), Status::NotModified, "{address} {tags}");
            assert_eq!(response.headers().get_one("ETag"), Some(old.as_str()));
        }
        for tags in ["\"other\"", "\"x,*,y\"", "\"other\", *"] {
            assert_eq!(ask(tags).status(), Status::Ok, "{tags}");
        }
        siaga.put("/v1/floods/2", r#"{"state":1}"#);
        assert_eq!(ask(&old).status(), Status::Ok, "{address}");
        siaga.delete("/v1/floods/2");
    }
}

#[test]
fn head_of_a_period_that_is_not_cached_renders_nothing() {
    let siaga = Siaga::with_setting("siaga.metrics.enabled", true);
    let ends = "start=2016-12-19T00:00:00Z&end=2016-12-20T00:00:00Z";
    let renderings = || siaga.metric("siaga_cache_misses_total");
    for address in [
        format!("/v1/reports/archive?{ends}"),
        format!("/v1/reports/timeseries?{ends}"),
        format!("/v1/floods/archive?{ends}"),
        format!("/v1/floods/timeseries?{ends}"),
        "/v1/reports?timeperiod=3601".to_owned(),
        "/v1/floodgauges?timeperiod=60".to_owned(),
    ] {
        let before = renderings();
        let head = siaga.client.head(address.as_str()).dispatch();
        assert_eq!(head.status(), Status::Ok, "{address}");
        assert_eq!(renderings(), before, "{address}");
        let header = |name| head.headers().get_one(name);
        assert_eq!(header("Content-Type"), Some("application/json"), "{address}");
        assert_eq!(header("Cache-Control"), Some("public, no-cache, stale-if-error=3600"));
        assert_eq!(header("Vary"), Some("Accept, Accept-Encoding"));
        assert_eq!((header("ETag"), header("Content-Length")), (None, None));
        // Once it is cached, HEAD tells what GET does.
        let tag = etag(&siaga, &address);
        let head = siaga.client.head(address.as_str()).dispatch();
        assert_eq!(head.headers().get_one("ETag"), Some(tag.as_str()), "{address}");
    }
    // What requests can ask for few different ones of is rendered.
    for address in ["/v1/floods", "/v1/floods/states", "/v1/reports", "/v1/reports/1", "/v1/floodgauges"] {
        assert!(siaga.client.head(address).dispatch().headers().contains("ETag"), "{address}");
    }
    let wrong = siaga.client.head("/v1/reports/archive?start=2016-12-19T00:00:00Z").dispatch();
    assert_eq!(wrong.status(), Status::BadRequest);
}
