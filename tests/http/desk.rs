//! The desk: login with an API key, reads and writes of officers.

use std::sync::Arc;
use std::time::Duration;

use rocket::http::{ContentType, Header, Method, Status};
use rocket::local::blocking::{Client, LocalRequest, LocalResponse};
use serde_json::{Value, json};
use siaga::auth::{ApiKey, KeyDigest};
use siaga::stores::{KeyEntry, Store};

use crate::fixture::now;
use crate::suite::eventually::{LONG, eventually_blocking};
use crate::suite::support::{ADMIN_KEY, KEY, OTHER_KEY, Siaga, figment, json_of, key};

const HOSTILE: &str = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>";

/// Sends a request with `Sec-Fetch-Site`.
fn from<'c>(mut request: LocalRequest<'c>, from: Option<&'static str>) -> LocalResponse<'c> {
    if let Some(from) = from {
        request.add_header(Header::new("Sec-Fetch-Site", from));
    }
    request.dispatch()
}

/// Sends a form like a browser on the page.
fn form<'c>(
    client: &'c Client,
    address: &'c str,
    fields: &[(&str, &str)],
    site: Option<&'static str>,
) -> LocalResponse<'c> {
    let mut body = url::form_urlencoded::Serializer::new(String::new());
    body.extend_pairs(fields);
    from(client.post(address).header(ContentType::Form).body(body.finish()), site)
}

const HERE: Option<&str> = Some("same-origin");

pub(super) fn log_in<'c>(client: &'c Client, name: &str, key: &str) -> LocalResponse<'c> {
    form(client, "/desk/login", &[("name", name), ("key", key)], HERE)
}

/// A service and a client that stores cookies like a browser.
pub(super) fn browser(figment: figment::Figment) -> (Siaga, Client) {
    let siaga = Siaga::with(figment.clone(), |builder| builder);
    let client = siaga.with_cookies(figment);
    (siaga, client)
}

fn page(client: &Client) -> String {
    let response = client.get("/desk?lang=en").dispatch();
    assert_eq!(response.status(), Status::Ok);
    assert_eq!(response.headers().get_one("Cache-Control"), Some("no-store"));
    response.into_string().unwrap()
}

fn token(page: &str) -> String {
    page.split("name=\"token\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
}

/// Sends a request of the page's script.
fn sent<'c>(
    client: &'c Client,
    method: Method,
    address: &'c str,
    body: &Value,
    site: Option<&'static str>,
) -> LocalResponse<'c> {
    from(client.req(method, address).header(ContentType::JSON).body(body.to_string()), site)
}

fn news(client: &Client) -> Value {
    json_of(client.get("/desk/news").dispatch())["result"].clone()
}

/// Sets an area with a request of the page's script.
fn set(client: &Client, area: &str, state: u8, note: &str) -> Status {
    let batch = json!({ "note": note, "changes": [{ "area_id": area, "state": state }] });
    sent(client, Method::Post, "/desk/changes", &batch, HERE).status()
}

#[test]
fn input_of_officers_is_escaped_on_the_pages() {
    let (_siaga, client) = browser(figment());
    assert_eq!(log_in(&client, HOSTILE, KEY).status(), Status::SeeOther);
    assert_eq!(set(&client, "5", 2, HOSTILE), Status::Ok);
    let situation = client.get("/desk/situation?lang=en").dispatch().into_string().unwrap();
    for (page, texts, scripts) in [(page(&client), 1, 1), (situation, 2, 0)] {
        assert!(page.matches("&lt;script&gt;").count() >= texts, "{page}");
        let own = page.matches("<script type=\"module\" src=\"/desk/desk.js\"></script>").count();
        let all = page.matches("<script").count();
        assert_eq!((own, all, page.matches("<img").count()), (scripts, scripts, 0), "{page}");
    }
}

#[test]
fn the_page_runs_only_its_own_files_and_cannot_be_framed() {
    let siaga = Siaga::start();
    let response = siaga.get("/desk");
    let policy = response.headers().get_one("Content-Security-Policy").unwrap();
    for part in [
        "default-src 'none'",
        "frame-ancestors 'none'",
        "script-src 'self';",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ] {
        assert!(policy.contains(part), "{policy}");
    }
    let page = response.into_string().unwrap();
    assert!(!page.contains("<script"), "without a login there is nothing to run");
}

#[test]
fn a_key_logs_in_and_the_cookie_is_encrypted_and_limited_to_the_desk() {
    let (_siaga, client) = browser(figment());
    let response = log_in(&client, "Ibu Sri", KEY);
    assert_eq!(response.status(), Status::SeeOther);
    assert_eq!(response.headers().get_one("Location"), Some("/desk"));
    let cookie = response.headers().get_one("Set-Cookie").unwrap().to_owned();
    for part in ["siaga-desk=", "HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=43200"] {
        assert!(cookie.contains(part), "{part}: {cookie}");
    }
    assert!(!cookie.contains("Sri") && !cookie.contains(&KEY[..5]), "{cookie}");
    assert!(page(&client).contains("Ibu Sri (bpbd)"));
    let written = client.put("/v1/floods/5").body(r#"{"state":2}"#).dispatch();
    assert_eq!(written.status(), Status::Forbidden, "the cookie is no credential of the interface");

    // With HTTPS the cookie is bound to the host.
    let (_siaga, client) = browser(figment().merge(("siaga.base_url", "https://flood.example/v1")));
    let response = log_in(&client, "Sri", KEY);
    let cookie = response.headers().get_one("Set-Cookie").unwrap();
    assert!(cookie.starts_with("__Host-siaga-desk=") && cookie.contains("Secure"), "{cookie}");
    assert!(!cookie.contains("Domain"), "{cookie}");
}

#[test]
fn a_wrong_key_a_token_and_a_form_from_elsewhere_do_not_log_in() {
    let (_siaga, client) = browser(figment());
    for (name, key) in [("Sri", "wrong"), ("", KEY), ("Sri", ""), ("a\nb", KEY)] {
        assert_eq!(log_in(&client, name, key).status(), Status::Forbidden, "{name:?}");
    }
    let elsewhere = form(&client, "/desk/login", &[("name", "Sri"), ("key", KEY)], Some("cross-site"));
    assert_eq!(elsewhere.status(), Status::Forbidden);
    assert!(elsewhere.headers().get_one("Set-Cookie").is_none());
}

#[test]
fn five_wrong_keys_in_a_minute_are_429_for_the_login_alone() {
    let (siaga, client) = browser(figment());
    for _ in 0..5 {
        assert_eq!(log_in(&client, "Sri", "wrong").status(), Status::Forbidden);
    }
    assert_eq!(log_in(&client, "Sri", KEY).status(), Status::TooManyRequests);
    assert_eq!(client.get("/desk").dispatch().status(), Status::Ok);
    assert_eq!(siaga.put("/v1/floods/5", r#"{"state":2}"#).status(), Status::Ok);
    siaga.clock.set(now().saturating_add(Duration::from_mins(1)));
    assert_eq!(log_in(&client, "Sri", KEY).status(), Status::SeeOther);
}

#[test]
fn the_form_to_log_out_must_come_from_the_desk() {
    let (_siaga, client) = browser(figment());
    log_in(&client, "Sri", KEY);
    let token = token(&page(&client));
    let log_out = |token: &str, from| form(&client, "/desk/logout", &[("token", token)], from).status();
    for from in ["cross-site", "same-site", "none"] {
        assert_eq!(log_out(&token, Some(from)), Status::Forbidden, "{from}");
    }
    // Old browsers send no `Sec-Fetch-Site`: then the token is required.
    assert_eq!(log_out("", None), Status::Forbidden);
    assert!(client.cookies().get("siaga-desk").is_some());
    for (token, from) in [(&*token, None), ("", HERE)] {
        assert_eq!(log_out(token, from), Status::SeeOther, "{from:?}");
        assert!(client.cookies().get("siaga-desk").is_none());
        log_in(&client, "Sri", KEY);
    }
}

#[test]
fn a_login_ends_after_half_a_day_and_when_its_cookie_is_altered() {
    let (siaga, client) = browser(figment());
    log_in(&client, "Sri", KEY);
    let cookie = client.cookies().get("siaga-desk").unwrap().value().to_owned();
    let with = |value: String| siaga.client.get("/desk?lang=en").cookie(("siaga-desk", value)).dispatch();
    assert!(with(cookie.clone()).into_string().unwrap().contains("Log out"));
    for changed in [
        cookie[..cookie.len() - 4].to_owned(),
        format!("{}{}", if cookie.starts_with('A') { 'B' } else { 'A' }, &cookie[1..]),
    ] {
        let shown = with(changed.clone()).into_string().unwrap();
        assert!(shown.contains("Log in") && !shown.contains("Log out"), "{changed}");
    }
    siaga.clock.set(now().saturating_add(Duration::from_hours(12)));
    let [news, batch] = [siaga.client.get("/desk/news"), siaga.client.post("/desk/changes")]
        .map(|request| from(request.cookie(("siaga-desk", cookie.clone())), HERE).status());
    assert_eq!([news, batch], [Status::Unauthorized; 2], "after 12 hours");
    let ended = with(cookie);
    assert!(ended.headers().get_one("Set-Cookie").unwrap().contains("siaga-desk=;"), "it is deleted");
    assert!(ended.into_string().unwrap().contains("Please log in again"));
}

#[test]
fn a_revoked_key_ends_the_login_on_every_server() {
    let (siaga, client) = browser(figment());
    let store = Arc::clone(siaga.client.rocket().state::<Arc<dyn Store>>().unwrap());
    let entry =
        json!({ "name": "sri", "sha256": KeyDigest::new("her key").to_hex(), "scopes": ["floods:write"] });
    let entry: ApiKey = serde_json::from_value(entry).unwrap();
    siaga.wait(store.create_key(KeyEntry { key: entry, owner: None })).unwrap();
    let status = || client.get("/v1/floods").header(key("her key")).dispatch().status();
    eventually_blocking("the key is known", LONG, status, |status| *status == Status::Ok);
    assert_eq!(log_in(&client, "Sri", "her key").status(), Status::SeeOther);
    let cookie = client.cookies().get("siaga-desk").unwrap().value().to_owned();
    let other = siaga.another_server(figment());
    let elsewhere = || {
        let request = other.get("/desk?lang=en").cookie(("siaga-desk", cookie.clone()));
        request.dispatch().into_string().unwrap()
    };
    eventually_blocking("the other server knows the key", LONG, elsewhere, |page| page.contains("Log out"));
    siaga.wait(store.revoke_key("sri")).unwrap();
    for look in [&elsewhere as &dyn Fn() -> String, &|| page(&client)] {
        eventually_blocking("the login has ended", LONG, look, |page| page.contains("Please log in again"));
    }
    assert_eq!(set(&client, "1", 2, ""), Status::Unauthorized);
}

#[test]
fn a_disabled_desk_is_404() {
    let siaga = Siaga::with_setting("siaga.desk.enabled", false);
    assert_eq!(siaga.get("/desk").status(), Status::NotFound);
    assert_eq!(siaga.client.post("/desk/login").dispatch().status(), Status::NotFound);
}

#[test]
fn the_routes_of_the_script_set_preview_and_undo_batches_like_the_interface() {
    let (siaga, client) = browser(figment());
    log_in(&client, "Ibu Sri", KEY);
    let batch = json!({ "note": "by telephone", "changes": [
        { "area_id": "1", "state": 2, "after": null }, { "area_id": "10", "state": 3 },
    ] });
    let mut preview = batch.clone();
    preview["preview"] = json!(true);
    let previewed = json_of(sent(&client, Method::Post, "/desk/changes", &preview, HERE));
    assert_eq!(previewed["result"]["alerts"]["new"], 2, "{previewed}");
    let done = json_of(sent(&client, Method::Post, "/desk/changes", &batch, HERE));
    assert_eq!(done["result"]["batch"], 1);
    assert_eq!(done["result"]["changed"][0]["area_id"], "1");
    let conflict = sent(&client, Method::Post, "/desk/changes", &batch, HERE);
    assert_eq!(conflict.status(), Status::Conflict);
    assert_eq!(json_of(conflict)["conflicts"][0]["username"], "Ibu Sri");
    assert_eq!(set(&client, "999", 2, ""), Status::NotFound);
    assert_eq!(set(&client, "5", 5, ""), Status::BadRequest);
    assert_eq!(set(&client, "5", 2, &"x".repeat(2_000)), Status::BadRequest);
    let logged = &news(&client)["log"][0];
    for (key, expected) in [("by", json!("Ibu Sri")), ("batch", json!(1)), ("note", json!("by telephone"))] {
        assert_eq!(logged[key], expected, "{key}");
    }
    let undone = json_of(sent(&client, Method::Post, "/desk/changes/1/undo", &Value::Null, HERE));
    assert_eq!(undone["result"]["changed"].as_array().unwrap().len(), 2);
    // Reads from the other server, with a key.
    let shown = || siaga.result("/v1/floods/states")[0]["state"].clone();
    eventually_blocking("area 1 is dry again", LONG, shown, |shown| *shown == 2);
}

#[test]
fn requests_of_the_script_need_the_origin_of_the_desk_and_the_scope() {
    let (siaga, client) = browser(figment());
    let batch = json!({ "changes": [{ "area_id": "1", "state": 2 }] });
    let hide = json!({ "hidden": true, "reason": "spam" });
    let reason = json!({ "reason": "spam" });
    let all = [
        (Method::Post, "/desk/changes", &batch),
        (Method::Post, "/desk/changes/1/undo", &batch),
        (Method::Put, "/desk/reports/1/visibility", &hide),
        (Method::Post, "/desk/reports/waiting/0123456789abcdef/hide", &reason),
        (Method::Post, "/desk/alive", &batch),
    ];
    for address in ["/desk/news", "/desk/situation.csv"] {
        let response = client.get(address).dispatch();
        assert_eq!(response.status(), Status::Unauthorized, "{address}");
        assert!(response.headers().get_one("WWW-Authenticate").is_some(), "RFC 9110 §15.5.2");
    }
    log_in(&client, "Sri", OTHER_KEY);
    let shown = page(&client);
    assert!(shown.contains("for reading only") && shown.contains("&quot;mayWrite&quot;:false"), "{shown}");
    for (method, address, body) in all {
        let here = sent(&client, method, address, body, HERE).status();
        let expected = if address.ends_with("alive") { Status::Ok } else { Status::Forbidden };
        assert_eq!(here, expected, "{address}: the key lacks the scope");
    }
    assert_eq!(siaga.result("/v1/floods/states")[0]["state"], 2, "area 5, as it was");
    log_in(&client, "Root", ADMIN_KEY);
    assert!(page(&client).contains("&quot;mayWrite&quot;:true"), "who has the scope may write");
    for (method, address, body) in all {
        for from in [Some("cross-site"), Some("same-site"), Some("none"), None] {
            let status = sent(&client, method, address, body, from).status();
            assert_eq!(status, Status::Forbidden, "{address} {from:?}");
        }
    }
    assert_eq!(sent(&client, Method::Put, "/desk/reports/1/visibility", &hide, HERE).status(), Status::Ok);
    let hidden = &news(&client)["hidden"][0];
    assert_eq!((&hidden["by"], &hidden["reason"]), (&json!("Root"), &json!("spam")));
    // Old browsers send no `Sec-Fetch-Site`: then the token is required.
    let token = token(&page(&client));
    let request = client.post("/desk/changes").header(ContentType::JSON).body(batch.to_string());
    let response = request.header(Header::new("X-Desk-Token", token)).dispatch();
    assert_eq!(response.status(), Status::Ok);
}

#[test]
fn the_situation_is_a_page_to_print_and_a_table_without_formulas() {
    let (_siaga, client) = browser(figment());
    log_in(&client, "=Sri", KEY);
    assert_eq!(set(&client, "1", 4, "by telephone"), Status::Ok);
    let response = client.get("/desk/situation?lang=en").dispatch();
    assert_eq!(response.headers().get_one("Cache-Control"), Some("no-store"));
    let page = response.into_string().unwrap();
    assert!(page.contains("More than 150 cm") && page.contains("by telephone"), "{page}");
    let response = client.get("/desk/situation.csv?lang=en").dispatch();
    let saved = response.headers().get_one("Content-Disposition").unwrap().to_owned();
    assert!(saved.starts_with("attachment; filename=\"situation-2016"), "{saved}");
    let table = response.into_string().unwrap();
    let rows: Vec<_> = table.lines().collect();
    assert!(rows[0].starts_with("\u{feff}city,parent_name,area_id"), "{table}");
    let row = rows.iter().find(|row| row.contains(",4,More than 150 cm,")).unwrap();
    assert!(row.contains("(=Sri)"), "{row}");
    assert!(rows.iter().all(|row| !row.split(',').any(|cell| cell.starts_with(['=', '+', '@']))), "{table}");
}

#[test]
fn the_card_of_the_shift_has_the_names_of_the_buttons_the_address_and_the_number_of_the_operator() {
    let (_siaga, client) = browser(figment().merge(("siaga.desk.operator", HOSTILE)));
    assert_eq!(
        client.get("/desk/card").dispatch().status(),
        client.get("/desk/situation").dispatch().status()
    );
    log_in(&client, "Ibu Sri", KEY);
    for (language, names) in [
        ("en", ["<b>Take back</b>", "<b>Situation report</b>", "<b>Choose all … shown</b>"]),
        ("id", ["<b>Tarik kembali</b>", "<b>Laporan situasi</b>", "<b>Kotak</b>"]),
    ] {
        let card = client.get(format!("/desk/card?lang={language}")).dispatch().into_string().unwrap();
        for part in names.into_iter().chain(["http:&#x2f;&#x2f;localhost&#x2f;desk", "&lt;script&gt;"]) {
            assert!(card.contains(part), "{part}: {card}");
        }
        let (_, words) = card.split_once("<main").unwrap();
        assert!(!card.contains("<script") && !words.contains(['{', '}']), "{card}");
    }
    assert!(page(&client).contains("href=\"&#x2f;desk&#x2f;card?lang="));
}

#[test]
fn the_situation_has_all_changes_of_six_hours_by_batch_and_the_log_counts_what_it_omits() {
    let (siaga, client) = browser(figment());
    log_in(&client, "Sri", KEY);
    let logged = || {
        let page = client.get("/desk/situation?lang=en").dispatch().into_string().unwrap();
        page.rsplit("Changes of the last six hours").next().unwrap().to_owned()
    };
    let before = logged().matches("<tr>").count();
    let batch = json!({ "changes": [{ "area_id": "1", "state": 4 }, { "area_id": "2", "state": 4 }], "note": "the first" });
    let response = siaga.request(Method::Post, "/v1/floods/changes", batch.to_string());
    assert_eq!(response.status(), Status::Ok);
    assert_eq!(news(&client)["left_out"], json!({}));
    for round in 0..1_001 {
        siaga.put("/v1/floods/5", format!("{{\"state\":{}}}", 1 + round % 2));
    }
    let log = logged();
    assert_eq!(log.matches("<tr>").count(), before + 1_002, "a line for each batch");
    assert_eq!(log.matches("the first").count(), 1);
    assert!(!log.contains("left out"));
    let table = client.get("/desk/situation.csv?lang=en").dispatch().into_string().unwrap();
    let row = table.lines().find(|line| line.contains(",5,")).unwrap();
    assert!(row.matches("; ").count() >= 1_000, "{row:.300}");
    let times: Vec<_> = row.split(',').filter(|cell| cell.ends_with(" WIB")).collect();
    assert!(times[0].starts_with("2016-12-14 13:10:35") && times[0] < times[1], "{row:.300}");
    siaga.clock.set(siaga.now().saturating_add(Duration::from_secs(2)));
    assert_eq!(news(&client)["left_out"], json!({ "log": 1_000 }));
}

#[test]
fn the_situation_marks_changes_that_were_undone_unless_the_undo_was_undone() {
    let (siaga, client) = browser(figment());
    log_in(&client, "Sri", KEY);
    let batch = json!({ "changes": [{ "area_id": "1", "state": 4 }, { "area_id": "2", "state": 4 }], "note": "the first" });
    let set = siaga.request(Method::Post, "/v1/floods/changes", batch.to_string());
    let undo = |batch: u64| {
        let address = format!("/desk/changes/{batch}/undo");
        let undone = sent(&client, Method::Post, &address, &Value::Null, HERE);
        json_of(undone)["result"]["batch"].as_u64().unwrap()
    };
    let marks = || {
        let page = client.get("/desk/situation?lang=en").dispatch().into_string().unwrap();
        let table = client.get("/desk/situation.csv?lang=en").dispatch().into_string().unwrap();
        let row = page.split("<tr>").find(|row| row.contains("the first")).unwrap().to_owned();
        let cell = table.lines().find(|line| line.contains(",1,")).unwrap().to_owned();
        let mark = "This was undone.";
        (
            row.contains(mark),
            page.matches(mark).count(),
            page.matches("Undo: ").count(),
            cell.matches(mark).count(),
        )
    };
    assert_eq!(marks(), (false, 0, 0, 0));
    let first = undo(json_of(set)["result"]["batch"].as_u64().unwrap());
    assert_eq!(marks(), (true, 1, 1, 1));
    undo(first);
    assert_eq!(marks(), (false, 1, 2, 1), "the mark is at the first undo");
}

#[test]
fn the_situation_and_the_log_mark_only_the_areas_whose_change_was_undone() {
    let (siaga, client) = browser(figment());
    log_in(&client, "Sri", KEY);
    let batch = json!({ "changes": [{ "area_id": "1", "state": 4 }, { "area_id": "2", "state": 4 }], "note": "the first" });
    let set = siaga.request(Method::Post, "/v1/floods/changes", batch.to_string());
    let batch = json_of(set)["result"]["batch"].as_u64().unwrap();
    siaga.put("/v1/floods/1", r#"{"state":3}"#);
    let address = format!("/desk/changes/{batch}/undo");
    assert_eq!(sent(&client, Method::Post, &address, &Value::Null, HERE).status(), Status::Ok);
    let page = client.get("/desk/situation?lang=en").dispatch().into_string().unwrap();
    let rows: Vec<_> = page.split("<tr>").filter(|row| row.contains("the first")).collect();
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert_eq!(rows.iter().filter(|row| row.contains("This was undone.")).count(), 1, "{rows:?}");
    let log = news(&client)["log"].clone();
    let of_batch = log.as_array().unwrap().iter().filter(|entry| entry["batch"] == batch);
    let marks: Vec<_> = of_batch.map(|entry| (entry["area_id"].clone(), entry["undone"].clone())).collect();
    assert_eq!(marks, [(json!("1"), json!(false)), (json!("2"), json!(true))]);
}

#[test]
fn activity_of_an_officer_counts_as_a_sign_of_life_of_the_source() {
    let source = json!({ "subject": "bpbd", "covers": ["floods"], "every": "1h" });
    let (siaga, client) = browser(figment().merge(("siaga.sources.desk", source)));
    log_in(&client, "Sri", KEY);
    siaga.clock.set(now().saturating_add(Duration::from_hours(2)));
    assert_eq!(sent(&client, Method::Post, "/desk/alive", &json!({}), HERE).status(), Status::Ok);
    let last_seen = json_of(client.get("/v1/sources").dispatch())["result"][0]["last_heard"].clone();
    assert_eq!(last_seen, json!(now().saturating_add(Duration::from_hours(2))));
}

#[test]
fn a_page_of_another_login_sends_nothing_under_the_new_one() {
    let (siaga, client) = browser(figment());
    let batch = json!({ "changes": [{ "area_id": "1", "state": 2 }] });
    let send = |subject: &str| {
        let request = client.post("/desk/changes").header(ContentType::JSON).body(batch.to_string());
        from(request.header(Header::new("X-Desk-Subject", subject.to_owned())), HERE).status()
    };
    log_in(&client, "Sri", KEY);
    log_in(&client, "Root", ADMIN_KEY);
    assert_eq!(send("bpbd"), Status::Unauthorized);
    assert_eq!(siaga.result("/v1/floods/states")[0]["area_id"], "5", "area 1 has no state");
    assert_eq!(send("root"), Status::Ok);
    log_in(&client, "Root", ADMIN_KEY);
    assert_eq!(send("root"), Status::Ok, "after another login of the same officer");
}
