//! Logins of people at the desk with OpenID Connect. The identity provider is `issuer.rs`.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use figment::Figment;
use rocket::http::{ContentType, Cookie, Header, Status};
use rocket::local::blocking::{Client, LocalResponse};
use serde_json::{Value, json};
use siaga::stores::Store;
use url::Url;

use super::desk::{browser, log_in};
use super::issuer::{CLIENT, Issuer, SECRET, State, response};
use super::signing;
use crate::fixture::now;
use crate::suite::eventually::{eventually_blocking, patiently};
use crate::suite::support::{KEY, Siaga, figment, json_of};

const START: &str = "/desk/login/start";
const CALLBACK: &str = "/desk/login/callback";
const LOGGED_IN: &str = "id=\"log-out\"";
const METADATA: &str = "/.well-known/openid-configuration";

fn settings(issuer: &Issuer) -> Value {
    json!({
        "issuer": issuer.address, "client_id": CLIENT, "client_secret": SECRET,
        "grants": [{ "group": "bpbd", "scopes": ["floods:write", "reports:moderate"] }],
    })
}

fn with(settings: &Value) -> Figment {
    figment().merge(("siaga.auth.oidc", settings))
}

/// A browser, its service, and an identity provider.
struct Login {
    siaga: Siaga,
    client: Client,
    issuer: Issuer,
}

impl Login {
    fn new() -> Self {
        Self::with(|_| {})
    }

    /// With changed settings.
    fn with(change: impl FnOnce(&mut Value)) -> Self {
        let issuer = Issuer::start(signing::now());
        let mut settings = settings(&issuer);
        change(&mut settings);
        let (siaga, client) = browser(with(&settings));
        Self { siaga, client, issuer }
    }

    /// The address of the identity provider to which the link of the desk leads.
    fn start(&self) -> String {
        let response = self.client.get(START).header(Header::new("Sec-Fetch-Site", "same-origin")).dispatch();
        assert_eq!(response.status(), Status::SeeOther);
        assert_eq!(response.headers().get_one("Cache-Control"), Some("no-store"));
        response.headers().get_one("Location").unwrap().to_owned()
    }

    /// The query with which the person comes back.
    fn query(&self) -> String {
        self.issuer.authorize(&self.start())
    }

    fn finish(&self, query: &str) -> LocalResponse<'_> {
        finish(&self.client, query)
    }

    fn log_in(&self) -> LocalResponse<'_> {
        self.finish(&self.query())
    }

    fn desk(&self) -> String {
        desk(&self.client)
    }

    fn session(&self) -> Cookie<'static> {
        self.client.cookies().get("siaga-desk").unwrap().clone()
    }
}

/// Comes back from the provider, each time from another address, because the desk limits wrong logins.
fn finish<'c>(client: &'c Client, query: &str) -> LocalResponse<'c> {
    static ADDRESSES: AtomicU32 = AtomicU32::new(0x0A00_0001);
    let address = Ipv4Addr::from(ADDRESSES.fetch_add(1, Ordering::Relaxed));
    let request = client.get(format!("{CALLBACK}?{query}")).header(Header::new("Accept-Language", "en"));
    let request = request.header(Header::new("Sec-Fetch-Site", "cross-site"));
    request.remote(SocketAddr::from((address, 4711))).dispatch()
}

fn set_state(client: &Client, session: Cookie<'static>) -> Status {
    let batch = json!({ "changes": [{ "area_id": "1", "state": 2 }] }).to_string();
    let request = client.post("/desk/changes").header(ContentType::JSON).body(batch).cookie(session);
    request.header(Header::new("Sec-Fetch-Site", "same-origin")).dispatch().status()
}

/// The desk for a browser with only this cookie.
fn desk_with(client: &Client, cookie: Cookie<'static>) -> String {
    client.get("/desk?lang=en").cookie(cookie).dispatch().into_string().unwrap()
}

fn lets_in(client: &Client, cookie: Cookie<'static>) -> bool {
    desk_with(client, cookie).contains(LOGGED_IN)
}

fn desk(client: &Client) -> String {
    client.get("/desk?lang=en").dispatch().into_string().unwrap()
}

fn is_logged_in(client: &Client) -> bool {
    desk(client).contains(LOGGED_IN)
}

fn cookies(response: &LocalResponse<'_>) -> Vec<String> {
    response.headers().get("Set-Cookie").map(str::to_owned).collect()
}

fn pending(client: &Client) -> Vec<Cookie<'static>> {
    client.cookies().iter().filter(|cookie| cookie.name().starts_with("siaga-login-")).cloned().collect()
}

fn parameter(address: &str, name: &str) -> Option<String> {
    let url = Url::parse(address).unwrap();
    url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

#[test]
fn a_person_logs_in_and_changes_states_under_the_verified_name() {
    let login = Login::new();
    assert!(login.desk().contains("href=\"/desk/login/start\""), "{}", login.desk());
    let start = login.start();
    for (name, expected) in [
        ("response_type", "code"),
        ("client_id", CLIENT),
        ("redirect_uri", "http://localhost/desk/login/callback"),
        ("scope", "openid profile"),
        ("code_challenge_method", "S256"),
    ] {
        assert_eq!(parameter(&start, name).as_deref(), Some(expected), "{start}");
    }
    assert_eq!(parameter(&start, "prompt"), None, "{start}");
    let query = login.issuer.authorize(&start);
    let response = login.finish(&query);
    assert_eq!(response.status(), Status::Ok);
    assert_eq!(response.headers().get_one("Cache-Control"), Some("no-store"));
    let set = cookies(&response);
    let session = set.iter().find(|cookie| cookie.starts_with("siaga-desk=")).unwrap();
    for part in ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=43200"] {
        assert!(session.contains(part), "{part}: {session}");
    }
    let page = response.into_string().unwrap();
    assert!(page.contains("<meta http-equiv=\"refresh\" content=\"0; url=&#x2f;desk\">"), "{page}");
    assert!(page.contains("href=\"&#x2f;desk\""), "{page}");
    assert!(pending(&login.client).is_empty(), "the cookie of the login is deleted");
    let desk = login.desk();
    assert!(desk.contains(">Sri Wahyuni<") && desk.contains("oidc:sri"), "{desk}");
    assert_eq!(set_state(&login.client, login.session()), Status::Ok);
    let log = login.siaga.client.get("/v1/floods/log?area_id=1").header(crate::suite::support::key(KEY));
    let log = json_of(log.dispatch());
    assert!(log.to_string().contains("\"oidc:sri\"") && log.to_string().contains("Sri Wahyuni"), "{log}");
    let state = parameter(&start, "state").unwrap();
    for secret in [&state, "code-0", "an access token"] {
        assert!(![&page, &desk].iter().any(|text| text.contains(secret)), "{secret}");
    }
}

#[test]
fn cookies_of_logins_are_lax_encrypted_for_ten_minutes_and_at_most_three() {
    let login = Login::new();
    let response = login.client.get(START).dispatch();
    let cookie = &cookies(&response)[0];
    for part in ["siaga-login-", "HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=600"] {
        assert!(cookie.contains(part), "{part}: {cookie}");
    }
    let nonce = parameter(response.headers().get_one("Location").unwrap(), "nonce").unwrap();
    assert!(!cookie.contains(&nonce), "{cookie}");
    let queries: Vec<_> = (0..4)
        .map(|_| {
            login.siaga.pass(Duration::from_secs(1));
            login.query()
        })
        .collect();
    assert_eq!(pending(&login.client).len(), 3);
    assert_eq!(login.finish(&queries[0]).status(), Status::Forbidden, "the oldest is gone");
    for query in &queries[1..] {
        assert_eq!(login.finish(query).status(), Status::Ok, "logins in several tabs");
    }
    let https = with(&settings(&login.issuer)).merge(("siaga.base_url", "https://flood.example/v1"));
    let (_siaga, client) = browser(https);
    let cookie = &cookies(&client.get(START).dispatch())[0];
    assert!(cookie.starts_with("__Host-siaga-login-") && cookie.contains("Secure"), "{cookie}");
}

#[test]
fn a_person_without_a_granted_group_sees_who_they_are_and_whom_to_ask() {
    let login = Login::new();
    for groups in [json!(["visitors", "bpbd-2", "BPBD"]), json!([]), json!("visitors"), Value::Null, json!(7)]
    {
        login.issuer.state().claims["groups"] = groups.clone();
        let response = login.log_in();
        assert_eq!(response.status(), Status::Forbidden, "{groups}");
        let page = response.into_string().unwrap();
        assert!(
            page.contains("Sri Wahyuni: none of your groups") && page.contains("Ask the people"),
            "{page}"
        );
        assert!(!is_logged_in(&login.client));
        assert_eq!(parameter(&login.start(), "prompt").as_deref(), Some("login"), "as somebody else");
    }
    login.issuer.state().claims["groups"] = json!("bpbd");
    assert_eq!(login.log_in().status(), Status::Ok, "one group as text");
}

#[test]
fn a_removed_or_changed_grant_takes_effect_at_the_next_request() {
    let login = Login::new();
    login.log_in();
    let session = login.session();
    let with_grants = |change: &dyn Fn(&mut Value)| {
        let mut settings = settings(&login.issuer);
        change(&mut settings);
        login.siaga.another_server(with(&settings))
    };
    let same = with_grants(&|_| {});
    assert!(lets_in(&same, session.clone()), "on another server");
    assert_eq!(set_state(&same, session.clone()), Status::Ok);
    let other = with_grants(&|settings| settings["grants"][0]["group"] = json!("others"));
    assert!(!lets_in(&other, session.clone()));
    assert_eq!(set_state(&other, session.clone()), Status::Unauthorized);
    let reader = with_grants(&|settings| settings["grants"][0]["scopes"] = json!(["cards:read"]));
    assert!(desk_with(&reader, session.clone()).contains("&quot;mayWrite&quot;:false"));
    let elsewhere = with_grants(&|settings| settings["issuer"] = json!("https://id.example"));
    assert!(!lets_in(&elsewhere, session.clone()), "another issuer may have the same sub and groups");
    let limited = with_grants(&|settings| {
        settings["grants"][0]["areas"] = json!({ "parent": ["nowhere"] });
    });
    assert!(lets_in(&limited, session.clone()));
    assert_eq!(set_state(&limited, session.clone()), Status::Forbidden, "outside of its areas");
    assert!(!lets_in(&login.siaga.another_server(figment()), session), "without siaga.auth.oidc");
}

#[test]
fn ended_logins_end_within_a_second_with_those_that_are_under_way() {
    let login = Login::new();
    let under_way = login.query();
    login.log_in();
    assert!(is_logged_in(&login.client));
    let store = login.client.rocket().state::<std::sync::Arc<dyn Store>>().unwrap();
    login.siaga.wait(store.end_logins("oidc:budi")).unwrap();
    login.siaga.wait(store.end_logins("oidc:sri")).unwrap();
    let ended = || !is_logged_in(&login.client);
    eventually_blocking("the login has ended", Duration::from_secs(1), ended, |ended| *ended);
    assert_eq!(login.finish(&under_way).status(), Status::Forbidden, "it began before the end");
    assert_eq!(login.log_in().status(), Status::Ok, "the person may log in again");
    assert!(is_logged_in(&login.client));
}

#[test]
fn a_login_lasts_as_long_as_configured() {
    let login = Login::with(|settings| settings["session"] = json!("1h"));
    let response = login.log_in();
    assert!(cookies(&response).iter().any(|cookie| cookie.contains("Max-Age=3600")));
    let session = login.session();
    login.siaga.pass(Duration::from_secs(3_599));
    assert!(is_logged_in(&login.client));
    login.siaga.pass(Duration::from_secs(1));
    assert!(!is_logged_in(&login.client));
    assert!(!lets_in(&login.siaga.client, session), "the end is in the cookie");
}

#[test]
fn rotated_keys_are_used_at_the_next_login() {
    let login = Login::new();
    for _ in 0..3 {
        assert_eq!(login.log_in().status(), Status::Ok);
        login.issuer.rotate();
    }
    for algorithm in ["RS256", "ES256"] {
        let keys = json!({ "keys": [signing::jwk("EdDSA", "k"), signing::jwk(algorithm, "k2")] });
        login.issuer.state().raw.insert("/keys", response("200 OK", &keys.to_string()));
        login.issuer.state().header = json!({ "alg": algorithm, "kid": "k2" });
        login.issuer.state().sign =
            Some(Box::new(|header, claims| signing::token(header["alg"].as_str().unwrap(), header, claims)));
        assert_eq!(login.log_in().status(), Status::Ok, "{algorithm}");
    }
}

#[test]
fn groups_and_name_come_from_the_userinfo_if_the_token_lacks_them() {
    let login = Login::new();
    login.issuer.state().claims = json!({});
    login.issuer.state().userinfo = json!({ "groups": ["bpbd"], "preferred_username": "sri.w" });
    assert_eq!(login.log_in().status(), Status::Ok);
    assert!(login.desk().contains(">sri.w<"));
    login.issuer.state().claims = json!({ "groups": [], "name": "Sri" });
    assert_eq!(login.log_in().status(), Status::Forbidden, "the token's own groups count");
    login.issuer.state().claims = json!({ "roles": ["bpbd"], "upn": "sri@bpbd.example" });
    let figment = with(&settings(&login.issuer));
    let figment = figment.merge(("siaga.auth.oidc.groups_claim", "roles"));
    let (siaga, client) = browser(figment.merge(("siaga.auth.oidc.name_claim", "upn")));
    let login = Login { siaga, client, issuer: login.issuer };
    assert_eq!(login.log_in().status(), Status::Ok);
    assert!(login.desk().contains(">sri@bpbd.example<"));
}

#[test]
fn more_than_32_groups_with_grants_or_a_reference_to_groups_are_refused() {
    let names: Vec<_> = (0..33).map(|number| format!("group {number}")).collect();
    let grants: Vec<_> =
        names.iter().map(|name| json!({ "group": name, "scopes": ["floods:write"] })).collect();
    let login = Login::with(|settings| settings["grants"] = json!(grants));
    let others = (0..500).map(|number| format!("other {number}"));
    let groups: Vec<_> = names[..32].iter().cloned().chain(others).collect();
    login.issuer.state().claims["groups"] = json!(groups);
    login.issuer.state().claims["name"] = json!("寿".repeat(255));
    assert_eq!(login.log_in().status(), Status::Ok, "only groups with grants count");
    assert!(login.client.cookies().get("siaga-desk").unwrap().value().len() < 4_000);
    login.issuer.state().claims["groups"] = json!(names);
    let reference = json!({
        "name": "Sri", "groups": null, "_claim_names": { "groups": "src1" },
        "_claim_sources": { "src1": { "endpoint": "https://graph.example/" } },
    });
    let many = login.issuer.state().claims.clone();
    for claims in [many, reference] {
        login.issuer.state().claims = claims;
        let response = login.log_in();
        assert_eq!(response.status(), Status::Forbidden);
        assert!(response.into_string().unwrap().contains("too many groups"));
    }
    let long = json!({ "group": "長".repeat(255), "scopes": ["admin"] });
    let login = Login::with(|settings| settings["grants"] = json!(vec![long.clone(); 5]));
    login.issuer.state().claims["groups"] = json!([long["group"]]);
    assert_eq!(login.log_in().status(), Status::Ok);
}

#[test]
fn a_login_cannot_be_started_by_another_site_nor_lead_elsewhere() {
    let login = Login::new();
    for site in ["cross-site", "same-site"] {
        let response = login.client.get(START).header(Header::new("Sec-Fetch-Site", site)).dispatch();
        assert_eq!(response.status(), Status::Forbidden, "{site}");
        assert!(cookies(&response).is_empty());
    }
    for name in ["next", "return_to", "redirect_uri", "url", "RelayState"] {
        let address = format!("{START}?{name}=https%3A%2F%2Fevil.example%2F");
        let request = login.client.get(address).header(Header::new("Host", "evil.example"));
        let response = request.header(Header::new("X-Forwarded-Host", "evil.example")).dispatch();
        let start = response.headers().get_one("Location").unwrap().to_owned();
        assert!(start.starts_with(&login.issuer.address) && !start.contains("evil"), "{start}");
        let query = format!("{}&{name}=https%3A%2F%2Fevil.example%2F", login.issuer.authorize(&start));
        let page = login.finish(&query).into_string().unwrap();
        assert!(!page.contains("evil"), "{page}");
    }
}

#[test]
fn forged_replayed_or_mixed_up_responses_do_not_log_in() {
    let login = Login::new();
    let (_siaga, other) = browser(with(&settings(&login.issuer)));
    let refused = |what: &str, response: LocalResponse<'_>| {
        assert!([Status::Forbidden, Status::BadRequest].contains(&response.status()), "{what}");
        let set = cookies(&response);
        assert!(set.iter().all(|cookie| !cookie.starts_with("siaga-desk=")), "{what}: {set:?}");
        assert!(!is_logged_in(&login.client) && !is_logged_in(&other), "{what}");
    };
    let state = |query: &str| query.split_once("&state=").unwrap().1.to_owned();
    let code = |query: &str| query.split_once('&').unwrap().0.to_owned();

    let query = login.query();
    refused("no state", login.finish(&code(&query)));
    refused("an empty state", login.finish(&format!("{}&state=", code(&query))));
    refused("another state", login.finish(&format!("{}&state={}", code(&query), "a".repeat(43))));
    let altered = query[..query.len() - 1].to_owned() + if query.ends_with('a') { "b" } else { "a" };
    refused("an altered state", login.finish(&altered));
    refused("a repeated state", login.finish(&format!("{query}&state={}", state(&query))));
    refused("a repeated code", login.finish(&format!("{query}&code=x")));
    refused("a state that is a path", login.finish("code=x&state=../siaga-desk"));
    refused("a state that ends the cookie", login.finish("code=x&state=%3B%20siaga-desk%3D1"));
    refused("the login of another browser", finish(&other, &query));
    refused("no code", login.finish(&format!("state={}", state(&query))));
    refused("a login that was used without a code", login.finish(&query));
    let query = login.query();
    refused("an error", login.finish(&format!("error=access_denied&state={}", state(&query))));
    let query = login.query();
    refused("an error with a code", login.finish(&format!("{query}&error=access_denied")));
    let query = login.query();
    refused("another code", login.finish(&format!("code=stolen&state={}", state(&query))));
    let (one, two) = (login.query(), login.query());
    refused("the code of another login", login.finish(&format!("{}&state={}", code(&one), state(&two))));
    let theirs = login.issuer.authorize(other.get(START).dispatch().headers().get_one("Location").unwrap());
    let own = login.query();
    refused("a code of another browser", login.finish(&format!("{}&state={}", code(&theirs), state(&own))));
    refused("the other's login after that", finish(&other, &theirs));
    let query = login.query();
    refused("the iss of another issuer", login.finish(&format!("{query}&iss=https%3A%2F%2Fevil.example")));
    let query = login.query();
    refused("an iss with a slash", login.finish(&format!("{query}&iss={}/", login.issuer.address)));
    let query = login.query();
    login.siaga.pass(Duration::from_mins(10));
    refused("a login of ten minutes ago", login.finish(&query));
    login.issuer.state().now += 600;

    // Cookies in each other's place. Requests of this client have only the given cookies.
    let bare = &login.siaga.client;
    let named = |name: &str, value: &Cookie<'_>| Cookie::new(name.to_owned(), value.value().to_owned());
    let pending_of = |query: &str| format!("siaga-login-{}", state(query));
    let with_cookie = |query: &str, cookie| {
        let request = bare.get(format!("{CALLBACK}?{query}")).cookie(cookie);
        request.remote(SocketAddr::from(([192, 0, 2, 1], 4711))).dispatch()
    };
    let (one, two) = (login.query(), login.query());
    let jar = login.client.cookies();
    let [first, second] = [&one, &two].map(|query| jar.get(&pending_of(query)).unwrap().clone());
    assert!(!lets_in(bare, named("siaga-desk", &first)), "the cookie of a login is no session");
    refused("the cookie of another state", with_cookie(&one, named(&pending_of(&one), &second)));
    log_in(&other, "Sri", KEY);
    let session = other.cookies().get("siaga-desk").unwrap().clone();
    let with_session = with_cookie(&one, named(&pending_of(&one), &session));
    assert_eq!(with_session.status(), Status::Forbidden, "a session as the cookie of a login");

    // The right one, and its repetition with the same cookie.
    assert_eq!(with_cookie(&two, second.clone()).status(), Status::Ok);
    assert_eq!(with_cookie(&two, second).status(), Status::Forbidden, "a code that was used");
    assert_eq!(login.finish(&one).status(), Status::Ok);
    assert_eq!(login.finish(&one).status(), Status::Forbidden, "a response that was used");
}

#[test]
fn forged_tokens_do_not_log_in() {
    let login = Login::new();
    let at = signing::now();
    let attempt = |what: &str, change: &dyn Fn(&mut State)| {
        let good = {
            let mut state = login.issuer.state();
            let good = (state.header.clone(), state.claims.clone(), state.token_response.clone());
            change(&mut state);
            good
        };
        let response = login.log_in();
        assert_eq!(response.status(), Status::Forbidden, "{what}");
        assert!(!cookies(&response).iter().any(|cookie| cookie.starts_with("siaga-desk=")), "{what}");
        assert!(response.into_string().unwrap().contains("Log in again"), "{what}");
        let mut state = login.issuer.state();
        (state.header, state.claims, state.token_response) = good;
        state.sign = None;
        state.raw.clear();
    };
    let slash = format!("{}/", login.issuer.address);
    for (name, values) in [
        ("iss", vec![json!("https://evil.example"), json!(slash), json!(1), Value::Null]),
        ("aud", vec![json!("other"), json!([]), json!(["other"]), json!([CLIENT, "other"]), Value::Null]),
        ("azp", vec![json!("other"), json!([CLIENT]), json!("")]),
        ("nonce", vec![json!("other"), json!(""), json!([]), Value::Null]),
        ("exp", vec![json!(at - 60), json!(at - 600), json!("soon"), Value::Null]),
        ("iat", vec![json!(at + 600), json!(at - 600), json!("now"), Value::Null]),
        ("nbf", vec![json!(at + 600), json!("now")]),
        ("sub", vec![json!(""), json!(7), json!("a\nb"), json!("x".repeat(251)), Value::Null]),
    ] {
        for value in values {
            attempt(&format!("{name} {value}"), &|state| state.claims[name] = value.clone());
        }
    }
    attempt("another party of several audiences", &|state| {
        state.claims["aud"] = json!([CLIENT, "other"]);
        state.claims["azp"] = json!("other");
    });
    for (name, value) in [
        ("alg", json!("none")),
        ("alg", json!("RS256")),
        ("alg", json!("HS256")),
        ("alg", json!("ES384")),
        ("kid", json!("unknown")),
        ("crit", json!(["b64"])),
    ] {
        attempt(&format!("{name} {value}"), &|state| state.header[name] = value.clone());
    }
    attempt("no signature", &|state| {
        state.sign = Some(Box::new(|_, claims| {
            let part = |value: &Value| signing::base64(value.to_string());
            format!("{}.{}.", part(&json!({ "alg": "none" })), part(claims))
        }));
    });
    attempt("signed by the secret of the client", &|state| {
        state.header["alg"] = json!("HS256");
        let sign =
            |header: &Value, claims: &Value| signing::token_by_secret(SECRET.as_bytes(), header, claims);
        state.sign = Some(Box::new(sign));
    });
    attempt("signed by another key with the same kid", &|state| {
        state.sign = Some(Box::new(|header, claims| signing::token("EdDSA", header, claims)));
    });
    attempt("signed by a key in its own header", &|state| {
        state.header["jwk"] = signing::jwk("EdDSA", "0");
        state.sign = Some(Box::new(|header, claims| signing::token("EdDSA", header, claims)));
    });
    attempt("altered claims", &|state| {
        state.sign = Some(Box::new(|header, claims| {
            let token = signing::token("EdDSA", header, claims);
            token.replacen('.', ".e30", 1)
        }));
    });
    attempt("no token", &|state| state.token_response = json!({ "id_token": "a.b" }));
    attempt("a long token", &|state| state.token_response = json!({ "id_token": "a".repeat(60_000) }));
    for sub in [json!("budi"), json!(""), Value::Null] {
        attempt(&format!("userinfo of {sub}"), &|state| {
            state.claims = json!({ "name": "Sri" });
            state.userinfo = json!({ "sub": sub, "groups": ["bpbd"] });
        });
    }
    assert_eq!(login.log_in().status(), Status::Ok, "all of them were changed alone");
    login.issuer.state().claims =
        json!({ "aud": [CLIENT, "other"], "azp": CLIENT, "groups": ["bpbd"], "name": "S" });
    assert_eq!(login.log_in().status(), Status::Ok, "several audiences");
}

#[test]
fn a_clock_that_is_off_by_ten_minutes_refuses_logins_and_half_a_minute_does_not() {
    let login = Login::new();
    for (difference, status) in [(-600, 403), (-300, 200), (-30, 200), (30, 200), (90, 403), (600, 403)] {
        login.issuer.state().now = signing::now() + difference;
        assert_eq!(login.log_in().status().code, status, "{difference} s");
    }
}

#[test]
fn a_required_iss_must_be_in_the_response() {
    let login = Login::new();
    login.issuer.state().metadata = json!({ "authorization_response_iss_parameter_supported": true });
    assert_eq!(login.log_in().status(), Status::Forbidden);
    let query = format!("{}&iss={}", login.query(), login.issuer.address);
    assert_eq!(login.finish(&query).status(), Status::Ok);
}

#[test]
fn five_wrong_responses_in_a_minute_block_logins_from_that_address() {
    let login = Login::new();
    let from = |query: &str| login.client.get(format!("{CALLBACK}?{query}")).dispatch().status();
    for _ in 0..9 {
        assert_eq!(from("code=x&state=y"), Status::Forbidden, "any page can send a browser here");
        assert_eq!(from("error=access_denied&state=y"), Status::Forbidden);
    }
    for _ in 0..5 {
        let state = parameter(&login.start(), "state").unwrap();
        assert_eq!(from(&format!("code=x&state={state}")), Status::Forbidden);
    }
    let query = login.query();
    assert_eq!(from(&query), Status::TooManyRequests);
    assert_eq!(log_in(&login.client, "Sri", KEY).status(), Status::TooManyRequests);
    login.siaga.clock.set(now().saturating_add(Duration::from_mins(1)));
    assert_eq!(from(&query), Status::Ok);
}

#[test]
fn the_secret_is_sent_in_the_body_only_if_the_issuer_supports_nothing_else() {
    for (methods, in_body) in [
        (json!(["client_secret_post"]), true),
        (json!(["client_secret_basic", "client_secret_post"]), false),
        (json!(["private_key_jwt"]), false),
        (Value::Null, false),
    ] {
        let login = Login::new();
        login.issuer.state().metadata = json!({ "token_endpoint_auth_methods_supported": methods });
        assert_eq!(login.log_in().status(), Status::Ok, "{methods}");
        let requests = login.issuer.state().requests.join("\n");
        assert_eq!(requests.contains("client_secret="), in_body, "{methods}");
        assert_eq!(requests.to_lowercase().contains("authorization: basic"), !in_body, "{methods}");
    }
}

/// Asserts that the start of a login fails with the page about an issuer that is away.
fn assert_away(login: &Login, what: &str) {
    let response = login.client.get(format!("{START}?lang=en")).dispatch();
    assert_eq!(response.status(), Status::ServiceUnavailable, "{what}");
    assert!(cookies(&response).is_empty(), "{what}");
    let page = response.into_string().unwrap();
    assert!(page.contains("The login of your office does not work now"), "{what}: {page}");
    assert!(page.contains("A key still logs in."), "{what}: {page}");
}

#[test]
fn metadata_of_another_issuer_or_with_unsafe_endpoints_is_refused() {
    for change in [
        json!({ "issuer": "https://evil.example" }),
        json!({ "issuer": null }),
        json!({ "token_endpoint": null }),
        json!({ "jwks_uri": "http://keys.example/" }),
        json!({ "token_endpoint": "https://evil.example/token" }),
        json!({ "authorization_endpoint": "javascript:alert(1)" }),
        json!({ "userinfo_endpoint": "ftp://127.0.0.1/" }),
        json!({ "end_session_endpoint": "http://evil.example/" }),
    ] {
        let login = Login::new();
        login.issuer.state().metadata = change.clone();
        assert_away(&login, &change.to_string());
    }
    let login = Login::with(|settings| {
        settings["issuer"] = json!(format!("{}/", settings["issuer"].as_str().unwrap()));
    });
    assert_away(&login, "the issuer is compared byte for byte");
}

#[test]
fn an_issuer_that_is_away_slow_or_sends_too_much_fails_the_login_alone() {
    let redirect = b"HTTP/1.1 302 Found\r\nLocation: /keys\r\nContent-Length: 0\r\n\r\n".to_vec();
    let huge = response("200 OK", &format!("{{\"x\":\"{}\"}}", "x".repeat(70_000)));
    let broken = || response("200 OK", "<html>");
    for (what, raw) in [("redirect", redirect.clone()), ("huge", huge.clone()), ("HTML", broken())] {
        let login = Login::new();
        login.issuer.state().raw.insert(METADATA, raw);
        assert_away(&login, what);
    }
    let login = Login::with(|settings| settings["issuer"] = json!("http://127.0.0.1:1"));
    assert_away(&login, "nobody listens");
    assert_eq!(log_in(&login.client, "Sri", KEY).status(), Status::SeeOther, "a key logs in");

    let login = Login::new();
    login.issuer.state().claims = json!({ "name": "Sri" });
    for path in ["/token", "/keys", "/me"] {
        for raw in [Vec::new(), redirect.clone(), huge.clone(), broken(), response("500 Oops", "{}")] {
            login.issuer.state().raw = [(path, raw)].into();
            let response = login.log_in();
            let expected = if path == "/keys" { vec![503, 403] } else { vec![503] };
            assert!(expected.contains(&response.status().code), "{path}");
        }
    }
    login.issuer.state().raw =
        [("/token", response("401 Unauthorized", r#"{"error":"invalid_client"}"#))].into();
    assert_eq!(login.log_in().status(), Status::ServiceUnavailable, "a wrong secret is the operator's fault");

    let login = Login::new();
    login.log_in();
    login.issuer.state().slow = Some("/token");
    let began = std::time::Instant::now();
    assert_eq!(login.log_in().status(), Status::ServiceUnavailable);
    assert!(began.elapsed() < patiently(Duration::from_secs(8)), "{:?}", began.elapsed());
    assert!(is_logged_in(&login.client), "who is logged in works on");
}

#[test]
fn without_keys_at_the_desk_only_people_log_in() {
    let login = Login::new();
    log_in(&login.client, "Sri", KEY);
    let session = login.session();
    assert!(lets_in(&login.siaga.client, session.clone()));
    let figment = with(&settings(&login.issuer)).merge(("siaga.desk.keys", false));
    let client = login.siaga.with_cookies(figment);
    assert_eq!(log_in(&client, "Sri", KEY).status(), Status::Forbidden);
    assert!(!desk(&client).contains("name=\"key\""));
    assert!(!desk_with(&client, session).contains(LOGGED_IN), "the cookie of a key");
    let login = Login { siaga: login.siaga, client, issuer: login.issuer };
    assert_eq!(login.log_in().status(), Status::Ok);
    assert!(is_logged_in(&login.client));
    login.issuer.state().raw.insert("/token", Vec::new());
    let page = login.log_in().into_string().unwrap();
    assert!(page.contains("does not work now") && !page.contains("A key"), "{page}");
}

#[test]
fn logout_goes_on_to_the_issuer_and_the_next_login_asks_for_the_password() {
    let login = Login::new();
    let log_out = || {
        let request = login.client.post("/desk/logout").header(ContentType::Form).body("token=");
        request.header(Header::new("Sec-Fetch-Site", "same-origin")).dispatch()
    };
    login.log_in();
    let response = log_out();
    assert_eq!(response.status(), Status::Ok);
    let page = response.into_string().unwrap();
    let refresh = page.split("content=\"0; url=").nth(1).unwrap().split('"').next().unwrap();
    let address = refresh.replace("&#x2f;", "/").replace("&amp;", "&");
    assert!(address.starts_with(&format!("{}/end?", login.issuer.address)), "{address}");
    assert_eq!(parameter(&address, "client_id").as_deref(), Some(CLIENT));
    let back = parameter(&address, "post_logout_redirect_uri");
    assert_eq!(back.as_deref(), Some("http://localhost/desk"));
    assert!(login.client.cookies().get("siaga-desk").is_none());
    let start = login.start();
    assert_eq!(parameter(&start, "prompt").as_deref(), Some("login"));
    assert_eq!(login.finish(&login.issuer.authorize(&start)).status(), Status::Ok);
    let prompt = parameter(&login.start(), "prompt");
    assert_eq!(prompt.as_deref(), Some("login"), "a session may end by itself, so each later login asks");

    let login = Login::new();
    login.issuer.state().metadata = json!({ "end_session_endpoint": null });
    login.log_in();
    let request = login.client.post("/desk/logout").header(ContentType::Form).body("token=");
    let response = request.header(Header::new("Sec-Fetch-Site", "same-origin")).dispatch();
    assert_eq!(response.headers().get_one("Location"), Some("/desk"));
    assert_eq!(parameter(&login.start(), "prompt").as_deref(), Some("login"));
}

#[test]
fn a_service_without_an_issuer_has_no_login_of_the_office() {
    let (_siaga, client) = browser(figment());
    assert!(!desk(&client).contains("/desk/login/start"));
    for address in [START, CALLBACK] {
        assert_eq!(client.get(address).dispatch().status(), Status::NotFound, "{address}");
    }
}
