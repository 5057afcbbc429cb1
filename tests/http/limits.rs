//! Credentials that are limited to some areas: every writing route of the interface and of the desk.

use std::sync::Arc;

use rocket::http::{ContentType, Header, Method, Status};
use rocket::local::blocking::{Client, LocalResponse};
use serde_json::{Value, json};
use siaga::auth::{ApiKey, KeyDigest};
use siaga::model::{SenderHash, WaitingOrigin};
use siaga::stores::{KeyEntry, Store};

use super::desk::{browser, log_in};
use crate::fixture::{cards, content, place};
use crate::suite::eventually::{LONG, eventually_blocking};
use crate::suite::support::{ADMIN_KEY, SECRET, Siaga, figment, json_of, key};
use siaga::model::DisasterType;

/// A key for the larger area GROGOL, which has the areas 1 and 5.
const GROGOL: &str = "a key for one larger area";

enum Rule {
    /// The order about an area or about a report in it.
    Limited(for<'c> fn(&Siaga, &'c Client, u64) -> LocalResponse<'c>),
    /// Why there is no limit.
    NotLimited(&'static str),
}
use Rule::{Limited, NotLimited};

/// Every route that writes, as in `/openapi.json`, and every route of the desk.
const ROUTES: [(&str, Rule); 29] = [
    (
        "PUT /floods/{localAreaId}",
        Limited(|_, client, area| put(client, format!("/v1/floods/{area}"), json!({ "state": 1 }))),
    ),
    (
        "DELETE /floods/{localAreaId}",
        Limited(|_, client, area| send(client, Method::Delete, format!("/v1/floods/{area}"), Value::Null)),
    ),
    (
        "POST /floods/changes",
        Limited(|_, client, area| post(client, "/v1/floods/changes".to_owned(), changes(&[1, area]))),
    ),
    (
        "POST /floods/changes/{batch}/undo",
        Limited(|siaga, client, area| {
            post(client, format!("/v1/floods/changes/{}/undo", batch(siaga, area)), Value::Null)
        }),
    ),
    (
        "PUT /reports/{id}/visibility",
        Limited(|_, client, area| put(client, format!("/v1/reports/{}/visibility", report_in(area)), hide())),
    ),
    ("POST /cards", NotLimited("a card has no place")),
    ("PUT /cards/{cardId}", NotLimited("residents report from anywhere")),
    ("PATCH /cards/{cardId}", NotLimited("it adds a photo to a report of a resident")),
    ("PUT /uploads/{name}", NotLimited("the address is the credential")),
    ("POST /feeds/partner", NotLimited("partners report from anywhere")),
    ("PUT /feeds/partner", NotLimited("partners report from anywhere")),
    ("PUT /feeds", NotLimited("partners report from anywhere")),
    ("POST /push/subscriptions", NotLimited("residents subscribe to any area")),
    ("PUT /push/subscriptions/{id}", NotLimited("residents subscribe to any area")),
    ("DELETE /push/subscriptions/{id}", NotLimited("the secret is the credential")),
    ("POST /push/subscriptions/{id}/trial", NotLimited("the secret is the credential")),
    ("PUT /floodgauges", NotLimited("readings have no area")),
    (
        "PUT /floodgauges/{id}/mute",
        NotLimited("a credential with a limit may not mute at all: the test below"),
    ),
    ("DELETE /floodgauges/{id}/mute", NotLimited("like the route that mutes")),
    ("PUT /desk/gauges/<id>/mute", NotLimited("like the route of the interface")),
    ("DELETE /desk/gauges/<id>/mute", NotLimited("like the route of the interface")),
    ("PUT /sources/{name}/heartbeat", NotLimited("a heartbeat has no area")),
    (
        "POST /desk/changes",
        Limited(|_, client, area| post(client, "/desk/changes".to_owned(), changes(&[1, area]))),
    ),
    (
        "POST /desk/changes/<batch>/undo",
        Limited(|siaga, client, area| {
            post(client, format!("/desk/changes/{}/undo", batch(siaga, area)), Value::Null)
        }),
    ),
    (
        "PUT /desk/reports/<id>/visibility",
        Limited(|_, client, area| {
            put(client, format!("/desk/reports/{}/visibility", report_in(area)), hide())
        }),
    ),
    (
        "POST /desk/reports/waiting/<sender>/hide",
        NotLimited("it leaves the reports outside of the limit: the test below"),
    ),
    ("POST /desk/alive", NotLimited("a heartbeat has no area")),
    ("POST /desk/login", NotLimited("it changes no data")),
    ("POST /desk/logout", NotLimited("it changes no data")),
];

fn send(client: &Client, method: Method, address: String, body: Value) -> LocalResponse<'_> {
    let request = client.req(method, address).header(ContentType::JSON);
    let body = if body.is_null() { String::new() } else { body.to_string() };
    request.header(Header::new("Sec-Fetch-Site", "same-origin")).header(key(GROGOL)).body(body).dispatch()
}

fn put(client: &Client, address: String, body: Value) -> LocalResponse<'_> {
    send(client, Method::Put, address, body)
}

fn post(client: &Client, address: String, body: Value) -> LocalResponse<'_> {
    send(client, Method::Post, address, body)
}

fn changes(areas: &[u64]) -> Value {
    let mut areas = areas.to_vec();
    areas.dedup();
    let changes = areas.iter().map(|area| json!({ "area_id": area.to_string(), "state": 1 }));
    json!({ "changes": changes.collect::<Vec<_>>() })
}

fn hide() -> Value {
    json!({ "hidden": true, "reason": "a test" })
}

/// The report in area 1 or 30.
fn report_in(area: u64) -> u64 {
    if area == 1 { 1 } else { 2 }
}

/// Changes areas 5 and `area` without a limit; returns the number of the batch.
fn batch(siaga: &Siaga, area: u64) -> Value {
    let changed = siaga.request(Method::Post, "/v1/floods/changes", changes(&[5, area]).to_string());
    json_of(changed)["result"]["batch"].clone()
}

fn store(siaga: &Siaga) -> Arc<dyn Store> {
    Arc::clone(siaga.client.rocket().state::<Arc<dyn Store>>().unwrap())
}

/// A service with the limited key in its store, and a browser.
fn start() -> (Siaga, Client) {
    let (siaga, client) = browser(figment());
    let key_of = json!({
        "name": "grogol", "sha256": KeyDigest::new(GROGOL).to_hex(),
        "scopes": ["floods:write", "reports:moderate"], "areas": { "parent": ["Grogol"] },
    });
    let entry: ApiKey = serde_json::from_value(key_of).unwrap();
    siaga.wait(store(&siaga).create_key(KeyEntry { key: entry, owner: None })).unwrap();
    for server in [&siaga.client, &client] {
        let status = || server.get("/v1/floods").header(key(GROGOL)).dispatch().status();
        eventually_blocking("the key is known", LONG, status, |status| *status == Status::Ok);
    }
    assert_eq!(log_in(&client, "Sri", GROGOL).status(), Status::SeeOther);
    (siaga, client)
}

/// The areas that a 403 names.
fn outside(response: LocalResponse<'_>) -> Value {
    assert_eq!(response.status(), Status::Forbidden);
    let body = json_of(response);
    assert!(
        body["message"].as_str().unwrap().starts_with("outside of the areas of this credential"),
        "{body}"
    );
    body["outside"].clone()
}

#[test]
fn a_limited_credential_mutes_no_gauge_because_it_is_evidence_for_all_areas() {
    let (siaga, client) = start();
    for (method, address) in [
        (Method::Put, "/v1/floodgauges/TMA00001/mute"),
        (Method::Delete, "/v1/floodgauges/TMA00001/mute"),
        (Method::Put, "/desk/gauges/TMA00001/mute"),
        (Method::Delete, "/desk/gauges/TMA00001/mute"),
    ] {
        let refused = send(&client, method, address.to_owned(), json!({ "reason": "a test" }));
        assert_eq!(refused.status(), Status::Forbidden, "{address}");
    }
    assert_eq!(siaga.wait(store(&siaga).gauge_log("TMA00001")).unwrap(), []);
}

#[test]
fn every_writing_route_is_in_the_table_of_limits() {
    let siaga = Siaga::start();
    let openapi = siaga.get("/openapi.json").into_json::<Value>().unwrap();
    let mut routes: Vec<String> = Vec::new();
    for (path, operations) in openapi["paths"].as_object().unwrap() {
        for method in operations.as_object().unwrap().keys().map(|method| method.to_uppercase()) {
            if !["GET", "HEAD", "PARAMETERS"].contains(&&*method) {
                routes.push(format!("{method} {path}"));
            }
        }
    }
    let is_read = |method| matches!(method, Method::Get | Method::Head | Method::Options);
    let desk = siaga.client.rocket().routes();
    // Routes without a name respond 405.
    let desk = desk.filter(|route| route.name.is_some() && route.uri.path().starts_with("/desk/"));
    let desk = desk.filter(|route| !is_read(route.method));
    let desk = desk.map(|route| format!("{} {}", route.method, route.uri.path()));
    routes.extend(desk.filter(|route| openapi["paths"].get(route.split(' ').nth(1).unwrap()).is_none()));
    let mut listed = ROUTES.map(|(route, _)| route.to_owned()).to_vec();
    routes.sort_unstable();
    listed.sort_unstable();
    assert_eq!(routes, listed, "add the new route: limited, or why not");
}

#[test]
fn a_limited_route_refuses_areas_outside_and_stores_nothing() {
    let (siaga, client) = start();
    for (route, rule) in &ROUTES {
        let order = match rule {
            Limited(order) => order,
            NotLimited(why) => {
                assert!(why.len() > 10, "{route}");
                continue;
            }
        };
        let others = || {
            let states = siaga.result("/v1/floods/states").as_array().unwrap().clone();
            states.into_iter().filter(|state| state["area_id"] == "30").collect::<Vec<_>>()
        };
        batch(&siaga, 30);
        let before = others();
        let refused = outside(order(&siaga, &client, 30));
        assert_eq!(refused, json!(["30"]), "{route}");
        // The order of an undo makes the batch that it undoes.
        let is_set = |states: &[Value]| states.iter().all(|state| state["state"] == 1);
        let after = others();
        assert!(if route.contains("undo") { is_set(&after) } else { after == before }, "{route}: {after:?}");
        assert_eq!(order(&siaga, &client, 1).status(), Status::Ok, "{route}");
        assert_eq!(siaga.get("/v1/reports/2").status(), Status::Ok, "{route}: the report outside is visible");
        siaga.request(Method::Put, "/v1/reports/1/visibility", r#"{"hidden":false,"reason":"again"}"#);
    }
}

#[test]
fn a_refusal_names_every_area_outside_and_none_inside() {
    let (_siaga, client) = start();
    let order = post(&client, "/desk/changes".to_owned(), changes(&[30, 1, 10, 5, 2]));
    assert_eq!(outside(order), json!(["2", "10", "30"]));
    let mut preview = changes(&[2, 1]);
    preview["preview"] = true.into();
    assert_eq!(outside(post(&client, "/v1/floods/changes".to_owned(), preview)), json!(["2"]));
    let unknown = post(&client, "/v1/floods/changes".to_owned(), changes(&[30, 99]));
    assert_eq!(unknown.status(), Status::NotFound, "unknown areas come first");
    let invalid = put(&client, "/v1/floods/30".to_owned(), json!({ "state": 9 }));
    assert_eq!(invalid.status(), Status::BadRequest);
}

#[test]
fn hiding_a_sender_at_the_desk_leaves_reports_outside_of_the_limit() {
    let (siaga, client) = start();
    let store = store(&siaga);
    siaga.wait(async {
        for (x, y) in [(0.5, 0.5), (3.5, 0.5)] {
            let card = store.create_card(cards()[0].holder.clone()).await.unwrap();
            let origin = WaitingOrigin { sender: Some(SenderHash::new([7; 8])), is_suspect: false };
            let report = content(DisasterType::Flood, 1, place(x, y));
            store.receive_waiting_report(&card.id, report, origin).await.unwrap();
        }
    });
    let address = format!("/desk/reports/waiting/{}/hide", SenderHash::new([7; 8]));
    let hidden = json_of(post(&client, address, json!({ "reason": "spam" })));
    assert_eq!((hidden["hidden"].as_array().unwrap().len(), &hidden["left"]), (1, &json!(1)));
}

#[test]
fn a_token_is_limited_by_its_claim() {
    let siaga = Siaga::start();
    let token = |areas: Value| {
        let exp = siaga.now().to_utc().timestamp() + 60;
        let mut claims = json!({ "sub": "bot", "scope": "admin", "exp": exp });
        claims["areas"] = areas;
        let secret = jsonwebtoken::EncodingKey::from_secret(SECRET.as_bytes());
        jsonwebtoken::encode(&jsonwebtoken::Header::default(), &claims, &secret).unwrap()
    };
    let status = |areas: Value, area: u64| {
        let bearer = Header::new("Authorization", format!("Bearer {}", token(areas)));
        let request = siaga.client.put(format!("/v1/floods/{area}")).header(bearer);
        request.body(r#"{"state":2}"#).dispatch()
    };
    let bandung = json!({ "city_name": ["bandung"] });
    assert_eq!(status(bandung.clone(), 30).status(), Status::Ok);
    assert_eq!(outside(status(bandung, 1)), json!(["1"]), "admin does not lift the limit");
    for areas in [Value::Null, json!({}), json!([]), json!({ "city": [] }), json!({ "town": ["bandung"] })] {
        let body = json_of(status(areas.clone(), 30));
        assert_eq!((&body["statusCode"], &body["outside"]), (&json!(403), &Value::Null), "{areas}");
    }
}

#[test]
fn the_desk_names_the_areas_of_the_officer() {
    let (siaga, client) = start();
    let own = json_of(client.get("/desk/areas").dispatch())["result"].clone();
    assert_eq!(own, json!({ "write": ["1", "5"], "moderate": ["1", "5"] }));
    let page = client.get("/desk?lang=en").dispatch().into_string().unwrap();
    assert!(page.contains("Areas of others, too") && page.contains("&quot;limited&quot;:true"), "{page}");
    batch(&siaga, 30);
    let report =
        |areas: &str| client.get(format!("/desk/situation.csv?{areas}")).dispatch().into_string().unwrap();
    assert!(report("").contains("BANDUNG"));
    let own = report("areas=own");
    assert!(own.contains("GROGOL") && !own.contains("BANDUNG"), "{own}");
    log_in(&client, "Root", ADMIN_KEY);
    let own = json_of(client.get("/desk/areas").dispatch())["result"].clone();
    assert_eq!(own, json!({ "write": null, "moderate": null }));
    let page = client.get("/desk?lang=en").dispatch().into_string().unwrap();
    assert!(!page.contains("Areas of others, too"));
}
