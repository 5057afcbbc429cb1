//! What is counted and measured.

use rocket::http::{Header, Method, Status};

use crate::support::{KEY, Siaga, figment, key};

fn with_metrics() -> Siaga {
    Siaga::with(figment().merge(("siaga.metrics.enabled", true)), |builder| builder)
}

fn page(siaga: &Siaga) -> String {
    let response = siaga.get("/metrics");
    assert_eq!(response.status(), Status::Ok);
    assert_eq!(response.headers().get_one("Cache-Control"), Some("no-store"));
    let media_type = response.headers().get_one("Content-Type").unwrap().to_owned();
    assert_eq!(media_type, "application/openmetrics-text; version=1.0.0; charset=utf-8");
    let text = response.into_string().unwrap();
    assert!(text.ends_with("# EOF\n"), "{text}");
    text
}

fn value(page: &str, series: &str) -> f64 {
    let line = page.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("{series} is not in\n{page}")).parse().unwrap()
}

#[test]
fn metrics_are_not_there_unless_they_are_enabled() {
    assert_eq!(Siaga::start().get("/metrics").status(), Status::NotFound);
}

#[test]
fn metrics_with_a_token_are_for_who_knows_it() {
    let secret = figment().merge(("siaga.metrics.enabled", true)).merge(("siaga.metrics.token", "a token"));
    let siaga = Siaga::with(secret, |builder| builder);
    let asked = |value: &str| {
        let header = Header::new("Authorization", value.to_owned());
        siaga.client.get("/metrics").header(header).dispatch().status()
    };
    assert_eq!(asked("Bearer a token"), Status::Ok);
    for wrong in ["Bearer a", "Bearer ", "a token", "Basic a token"] {
        assert_eq!(asked(wrong), Status::Forbidden, "{wrong}");
    }
    assert_eq!(siaga.get("/metrics").status(), Status::Forbidden);
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
    siaga.get("/v1/floods");
    siaga.get("/v1/floods");
    siaga.put("/v1/floods/1", r#"{"state":2}"#);
    siaga.get("/v1/reports/999999");
    let page = page(&siaga);
    let of = |what: &str, method: &str| {
        value(&page, &format!("siaga_store_operation_seconds_{what}{{operation=\"{method}\"}}"))
    };
    assert_eq!(of("count", "floods"), 1.0, "the second response is a cached one");
    assert_eq!(of("count", "set_flood_state"), 1.0);
    assert_eq!(of("count", "report"), 1.0, "failed calls count, too");
    assert!(of("sum", "floods") > 0.0);
    assert!(!page.contains("operation=\"revision\""), "{page}");
}

#[test]
fn whatever_is_requested_the_number_of_series_stays() {
    const METHODS: [Method; 8] = [
        Method::Get,
        Method::Put,
        Method::Post,
        Method::Delete,
        Method::Options,
        Method::Patch,
        Method::Trace,
        Method::Head,
    ];
    let siaga = with_metrics();
    // By a linear congruential generator, so that each run asks the same.
    let mut number = 1_u64;
    let mut ask = |times: usize| {
        for _ in 0..times {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let method = METHODS[(number >> 60) as usize % METHODS.len()];
            let place = ["/", "/v1/", "/v1/floods/", "/v1/cards/", "/v1/images/"][(number >> 32) as usize % 5];
            siaga.client.req(method, format!("{place}{number:x}?q={number}")).dispatch();
        }
    };
    ask(500);
    page(&siaga);
    let before = page(&siaga).lines().count();
    ask(10_000);
    assert_eq!(page(&siaga).lines().count(), before);
}
