//! The metrics.

use std::time::Duration;

use rocket::http::{Header, Status};

use crate::fixture;
use crate::independent::quotas::METHODS;
use crate::suite::eventually::{LONG, eventually_blocking};
use crate::suite::support::{KEY, OTHER_KEY, Siaga, figment, key};

fn with_metrics() -> Siaga {
    Siaga::with_setting("siaga.metrics.enabled", true)
}

fn page(siaga: &Siaga) -> String {
    let response = siaga.get("/metrics");
    assert_eq!(response.status(), Status::Ok);
    assert_eq!(response.headers().get_one("Cache-Control"), Some("no-store"));
    response.into_string().unwrap()
}

fn value(page: &str, series: &str) -> f64 {
    let line = page.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("{series} is not in\n{page}")).parse().unwrap()
}

#[test]
fn a_client_gets_the_text_format_unless_it_prefers_openmetrics() {
    let siaga = with_metrics();
    siaga.get("/v1/floods/states");
    let fetch = |accept: &'static str| {
        let response = siaga.client.get("/metrics").header(Header::new("Accept", accept)).dispatch();
        let media_type = response.headers().get_one("Content-Type").unwrap().to_owned();
        (media_type, response.into_string().unwrap())
    };
    for accept in ["*/*", "", "text/plain;version=0.0.4", "application/json"] {
        let (media_type, text) = fetch(accept);
        assert_eq!(media_type, "text/plain; version=0.0.4; charset=utf-8", "{accept}");
        assert!(text.contains("# TYPE siaga_requests_total counter\n") && !text.contains("# EOF"), "{text}");
    }
    let prometheus = "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,\
                      text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
    let (media_type, text) = fetch(prometheus);
    assert_eq!(media_type, "application/openmetrics-text; version=1.0.0; charset=utf-8");
    assert!(text.contains("# TYPE siaga_requests counter\n") && text.ends_with("# EOF\n"), "{text}");
    assert_eq!(Siaga::start().get("/metrics").status(), Status::NotFound, "it is not enabled");
}

#[test]
fn metrics_with_a_token_need_the_token() {
    let secret = figment().merge(("siaga.metrics.enabled", true)).merge(("siaga.metrics.token", "a token"));
    let siaga = Siaga::with(secret, |builder| builder);
    let fetch = |value: &str| {
        let header = Header::new("Authorization", value.to_owned());
        siaga.client.get("/metrics").header(header).dispatch().status()
    };
    assert_eq!(fetch("Bearer a token"), Status::Ok);
    for wrong in ["", "Bearer a", "a token", "Basic a token"] {
        assert_eq!(fetch(wrong), Status::Forbidden, "{wrong}");
    }
    assert_eq!(siaga.client.get("/metrics").header(key(KEY)).dispatch().status(), Status::Forbidden);
}

#[test]
fn requests_are_counted_by_method_route_and_status() {
    let siaga = with_metrics();
    siaga.get("/v1/floods/states");
    siaga.get("/v1/floods/states/");
    siaga.client.head("/v1/floods/states").dispatch();
    siaga.put("/v1/floods/1", r#"{"state":2}"#);
    siaga.put("/v1/floods/3", r#"{"state":9}"#);
    siaga.delete("/v1/floods/1");
    siaga.get("/nowhere");
    let page = page(&siaga);
    let requests = |method: &str, route: &str, status: u16| {
        let labels = format!("method=\"{method}\",route=\"{route}\",status=\"{status}\"");
        value(&page, &format!("siaga_requests_total{{{labels}}}"))
    };
    assert_eq!(requests("GET", "/v1/floods/states", 200), 2.0);
    assert_eq!(requests("HEAD", "/v1/floods/states", 200), 1.0);
    assert_eq!(requests("PUT", "/v1/floods/<id>", 200), 1.0);
    assert_eq!(requests("PUT", "/v1/floods/<id>", 400), 1.0);
    assert_eq!(requests("GET", "none", 404), 1.0);
    assert_eq!(value(&page, "siaga_flood_changes_total"), 2.0);
    assert_eq!(value(&page, "siaga_requests_in_flight"), 1.0, "the one for this page");
    let count = "siaga_request_duration_seconds_count{method=\"GET\",route=\"/v1/floods/states\"}";
    assert_eq!(value(&page, count), 2.0);
    assert!(value(&page, "siaga_response_bytes_total{route=\"/v1/floods/states\"}") > 100.0);
    assert_eq!(value(&page, "siaga_uploads_total{step=\"received\"}"), 0.0);
}

#[test]
fn calls_of_the_store_are_measured_by_their_method() {
    let siaga = with_metrics();
    siaga.get("/v1/reports");
    siaga.get("/v1/reports");
    siaga.put("/v1/floods/1", r#"{"state":2}"#);
    siaga.get("/v1/reports/999999");
    let page = page(&siaga);
    let measured = |metric: &str, method: &str| {
        value(&page, &format!("siaga_store_operation_seconds_{metric}{{operation=\"{method}\"}}"))
    };
    assert_eq!(measured("count", "reports"), 1.0, "the second response is a cached one");
    assert_eq!(measured("count", "set_flood_state"), 1.0);
    assert_eq!(measured("count", "report"), 1.0, "failed calls count, too");
    assert!(measured("sum", "reports") > 0.0);
    assert!(!page.contains("operation=\"revision\""), "{page}");
}

#[test]
fn renderings_are_measured_by_resource_and_format() {
    let siaga = with_metrics();
    for address in ["/v1/floods", "/v1/floods", "/v1/floods/states", "/v1/nowhere"] {
        siaga.get(address);
    }
    let size = siaga.get("/v1/floods?geoformat=cap").into_bytes().unwrap().len() as f64;
    let page = page(&siaga);
    let measured = |metric: &str, resource: &str, format: &str| {
        value(&page, &format!("siaga_rendering_{metric}{{resource=\"{resource}\",format=\"{format}\"}}"))
    };
    for (resource, format) in [("floods", "topojson"), ("floods", "cap"), ("flood_states", "json")] {
        assert_eq!(measured("duration_seconds_count", resource, format), 1.0, "{resource} {format}");
        assert!(measured("duration_seconds_sum", resource, format) > 0.0);
    }
    assert_eq!(measured("bytes_sum", "floods", "cap"), size);
    assert_eq!(value(&page, "siaga_renderings_waiting{lane=\"small\"}"), 0.0);
}

#[test]
fn rejected_requests_are_counted_by_their_reason() {
    let siaga = with_metrics();
    let (right, wrong) = (r#"{"state":2}"#, r#"{"state":9}"#);
    for (given, body, status) in [
        (None, right, 403),
        (Some("wrong"), right, 403),
        (Some(OTHER_KEY), right, 403),
        (Some(KEY), wrong, 400),
        (Some(KEY), right, 200),
    ] {
        let mut request = siaga.client.put("/v1/floods/1").body(body);
        if let Some(given) = given {
            request.add_header(key(given));
        }
        assert_eq!(request.dispatch().status().code, status, "{given:?}");
    }
    for address in ["/v1/floods?minimum_state=9", "/v1/floods/4711", "/nowhere"] {
        siaga.get(address);
    }
    let count = |reason| siaga.metric(&format!("siaga_requests_rejected_total{{reason=\"{reason}\"}}"));
    let refused = ["bad_request", "unauthorized", "forbidden"].map(count);
    assert_eq!(refused, [2.0 + 1.0, 2.0, 1.0]);
    assert_eq!(["rate_limit", "busy", "late", "unavailable"].map(count), [0.0; 4]);
}

/// The metrics, once they contain a line. Gauges of the data lag by some seconds.
fn page_with(siaga: &Siaga, line: &str) -> String {
    eventually_blocking(line, LONG, || page(siaga), |page| page.lines().any(|found| found == line));
    // The first page may mix old and new values.
    page(siaga)
}

#[test]
fn the_metrics_have_the_age_of_the_data_and_the_number_of_flooded_areas() {
    let siaga = with_metrics();
    let first = page_with(&siaga, "siaga_flooded_areas{state=\"2\"} 1");
    for (state, areas) in [(1, 0.0), (3, 1.0), (4, 0.0)] {
        assert_eq!(value(&first, &format!("siaga_flooded_areas{{state=\"{state}\"}}")), areas, "{state}");
    }
    let age = |page: &str, data: &str| value(page, &format!("siaga_data_age_seconds{{data=\"{data}\"}}"));
    assert_eq!(age(&first, "flood_changes"), 8_837.0, "since 13:41:35");
    assert_eq!(age(&first, "reports"), 300.0);
    let readings = age(&first, "readings");
    siaga.clock.set(fixture::now().saturating_add(Duration::from_hours(1)));
    let later = page(&siaga);
    assert_eq!(age(&later, "reports"), 3_900.0, "an age grows though nothing is read");
    assert_eq!(age(&later, "readings"), readings + 3_600.0);
    siaga.put("/v1/floods/1", r#"{"state":4}"#);
    let changed = page_with(&siaga, "siaga_flooded_areas{state=\"4\"} 1");
    assert_eq!(age(&changed, "flood_changes"), 0.0);
}

#[test]
fn the_metrics_have_the_number_of_gauges_by_status() {
    let siaga = with_metrics();
    let first = page_with(&siaga, "siaga_gauges{status=\"silent\"} 1");
    assert_eq!(value(&first, "siaga_gauges{status=\"ok\"}"), 2.0);
    assert_eq!(value(&first, "siaga_gauges{status=\"muted\"}"), 0.0);
}

#[test]
fn the_metrics_have_the_alerts_in_force_and_the_oldest_confirmation() {
    let siaga = with_metrics();
    let first = page_with(&siaga, "siaga_alerts{type=\"Alert\"} 1");
    assert_eq!(value(&first, "siaga_alerts{type=\"Cancel\"}"), 0.0);
    assert_eq!(value(&first, "siaga_alert_unconfirmed_seconds{}"), 8_837.0, "since 13:41:35");
    siaga.clock.set(fixture::now().saturating_add(Duration::from_hours(3)));
    // Its renewal is an Update.
    let renewed = page_with(&siaga, "siaga_alerts{type=\"Update\"} 1");
    assert_eq!(value(&renewed, "siaga_alert_unconfirmed_seconds{}"), 8_837.0 + 10_800.0);
    siaga.delete("/v1/floods/5");
    let over = page_with(&siaga, "siaga_alerts{type=\"Cancel\"} 1");
    assert_eq!(value(&over, "siaga_alert_unconfirmed_seconds{}"), 0.0);
}

#[test]
fn the_metrics_do_not_query_the_store() {
    let siaga = with_metrics();
    page_with(&siaga, "siaga_uploads_waiting 0");
    let fetch = || -> f64 {
        let page = page(&siaga);
        let calls = page.lines().filter(|line| line.starts_with("siaga_store_operation_seconds_count"));
        calls.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum()
    };
    let before = fetch();
    for _ in 0..200 {
        page(&siaga);
    }
    let after = fetch();
    assert!(after - before < 100.0, "what asks beside them does so every few seconds: {before}, {after}");
}

#[cfg(target_os = "linux")]
#[test]
fn the_metrics_have_the_resources_of_the_process() {
    let page = page(&with_metrics());
    let memory = value(&page, "process_resident_memory_bytes{}");
    assert!((1e6..1e11).contains(&memory), "{memory}");
    let (open, most) = (value(&page, "process_open_fds{}"), value(&page, "process_max_fds{}"));
    assert!(open > 2.0 && most > open, "{open} of {most}");
}

#[test]
fn no_request_adds_series() {
    let siaga = with_metrics();
    // A linear congruential generator sends the same requests in each run.
    let mut number = 1_u64;
    let mut send_requests = |times: usize| {
        for _ in 0..times {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let method = METHODS[(number >> 59) as usize % METHODS.len()];
            let place =
                ["/", "/v1/", "/v1/floods/", "/v1/cards/", "/v1/images/"][(number >> 32) as usize % 5];
            siaga.client.req(method, format!("{place}{number:x}?q={number}")).dispatch();
        }
    };
    send_requests(500);
    page(&siaga);
    let before = page(&siaga).lines().count();
    send_requests(10_000);
    assert_eq!(page(&siaga).lines().count(), before);
}
