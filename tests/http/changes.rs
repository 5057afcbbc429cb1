//! `/changes` and `/changes/stream`.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rocket::http::{Header, Method, Status};
use rocket::local::asynchronous;
use rocket::tokio::io::AsyncReadExt;
use rocket::tokio::time::{sleep, timeout};
use rocket::tokio::{join, select};
use serde_json::{Value, json};
use siaga::model::{Clock, ManualClock};

use crate::fixture::block_on;
use crate::suite::servers::{apply, cursor, delta, states};
use crate::suite::support::{ADMIN_KEY, KEY, Siaga, figment, key, service};

#[test]
fn a_client_gets_all_states_first_and_then_the_changes() {
    let siaga = Siaga::start();
    let first = delta(&siaga.client, "");
    assert_eq!(first["full"], true);
    assert_eq!(states(&first), [("5".to_owned(), json!(2)), ("30".to_owned(), json!(3))]);
    let since = |response: &Value| format!("?since={}", cursor(response));
    assert_eq!(delta(&siaga.client, &since(&first))["areas"], json!([]));
    siaga.put("/v1/floods/1", r#"{"state":4}"#);
    siaga.pass(Duration::from_secs(1));
    siaga.delete("/v1/floods/30");
    let second = delta(&siaga.client, &since(&first));
    assert_eq!((&second["full"], &second["changed"]), (&json!(false), &json!([])));
    let updated = json!("2016-12-19T16:08:52.000Z");
    assert_eq!(
        second["areas"],
        json!([
            {
                "area_id": "1", "state": 4, "last_updated": updated, "flooded_since": updated,
                "confirmed": updated, "over_since": null,
            },
            {
                "area_id": "30", "state": null, "last_updated": null, "flooded_since": null,
                "confirmed": null, "over_since": "2016-12-19T16:08:53.000Z",
            },
        ])
    );
    assert_eq!(delta(&siaga.client, &since(&second))["areas"], json!([]));
    assert_eq!(states(&delta(&siaga.client, "?city=bdg")), []);
    assert_eq!(states(&delta(&siaga.client, "?minimum_state=3")), [("1".to_owned(), json!(4))]);
    let narrowed = format!("{}&minimum_state=3&city=jbd", since(&first));
    assert_eq!(states(&delta(&siaga.client, &narrowed)), [("1".to_owned(), json!(4))]);
}

#[test]
fn a_foreign_cursor_gets_the_full_state() {
    let siaga = Siaga::start();
    let own = cursor(&delta(&siaga.client, ""));
    let (epoch, revisions) = own.split_once('.').unwrap();
    let other = format!("{:016x}", u64::from_str_radix(epoch, 16).unwrap() ^ 1);
    assert_eq!(delta(&siaga.client, &format!("?since={other}.{revisions}"))["full"], true);
}

/// Advances a cursor by a number of flood changes.
fn ahead_of(cursor: &str, changes: u64) -> String {
    let mut parts: Vec<_> = cursor.split('.').map(str::to_owned).collect();
    parts[1] = (parts[1].parse::<u64>().unwrap() + changes).to_string();
    parts.join(".")
}

pub(crate) async fn result(client: &asynchronous::Client, address: String) -> Value {
    let response = client.get(address.clone()).dispatch().await;
    assert_eq!(response.status(), Status::Ok, "{address}");
    response.into_json::<Value>().await.unwrap()["result"].clone()
}

/// Awaits a future while the clock advances.
async fn while_time_passes<T>(clock: &ManualClock, something: impl Future<Output = T>) -> T {
    let passing = async {
        loop {
            clock.set(clock.now().saturating_add(Duration::from_millis(100)));
            sleep(Duration::from_millis(5)).await;
        }
    };
    select! {
        found = something => found,
        () = passing => unreachable!(),
    }
}

#[test]
fn a_cursor_ahead_of_the_server_for_more_than_a_second_gets_the_full_state() {
    block_on(async {
        let (rocket, clock, _opener) = service(figment(), |builder| builder).await;
        let client = asynchronous::Client::untracked(rocket).await.unwrap();
        let own = result(&client, "/v1/changes".to_owned()).await;
        let ahead = ahead_of(&cursor(&own), 1_000);
        for query in ["", "&wait=30"] {
            let requesting = result(&client, format!("/v1/changes?since={ahead}{query}"));
            let found = while_time_passes(&clock, requesting).await;
            assert_eq!((&found["full"], states(&found).len()), (&json!(true), 2), "{query}");
        }
        let mut stream = client.get(format!("/v1/changes/stream?since={ahead}")).dispatch().await;
        let first = while_time_passes(&clock, read_until(&mut stream, r#""changed":["#)).await;
        assert!(first.contains("event:areas") && first.contains(r#""full":true"#), "{first}");
    });
}

#[test]
fn a_cursor_ahead_of_the_server_for_a_moment_gets_a_delta_once_the_server_catches_up() {
    block_on(async {
        let (rocket, _clock, _opener) = service(figment(), |builder| builder).await;
        let client = asynchronous::Client::untracked(rocket).await.unwrap();
        let next = ahead_of(&cursor(&result(&client, "/v1/changes".to_owned()).await), 1);
        // With a stopped clock the server may still reach the cursor, so it must wait.
        let setting = client.put("/v1/floods/1").header(key(KEY)).body(r#"{"state":4}"#).dispatch();
        let (found, set) = join!(result(&client, format!("/v1/changes?since={next}")), setting);
        assert_eq!(set.status(), Status::Ok);
        assert_eq!((cursor(&found), &found["full"], states(&found)), (next, &json!(false), vec![]));
    });
}

#[test]
fn a_wait_without_a_change_ends_with_an_empty_delta() {
    let siaga = Siaga::start();
    let first = cursor(&delta(&siaga.client, ""));
    let found = delta(&siaga.client, &format!("?since={first}&wait=1"));
    assert_eq!((cursor(&found), states(&found), &found["full"]), (first, vec![], &json!(false)));
}

/// Reads a stream until its text contains a needle.
pub(crate) async fn read_until(response: &mut asynchronous::LocalResponse<'_>, wanted: &str) -> String {
    let mut text = String::new();
    let reading = async {
        let mut buffer = [0; 4096];
        while !text.contains(wanted) {
            let count = response.read(&mut buffer).await.unwrap();
            assert!(count > 0, "the stream ended without {wanted:?}: {text}");
            text.push_str(str::from_utf8(&buffer[..count]).unwrap());
        }
    };
    timeout(Duration::from_secs(20), reading).await.unwrap_or_else(|_| panic!("no {wanted:?}"));
    text
}

#[test]
fn a_stream_begins_with_the_full_state_and_resumes_where_the_client_was_cut_off() {
    block_on(async {
        let (rocket, _clock, _opener) = service(figment(), |builder| builder).await;
        let client = asynchronous::Client::untracked(rocket).await.unwrap();
        let mut stream = client.get("/v1/changes/stream").dispatch().await;
        assert_eq!(stream.status(), Status::Ok);
        for (name, value) in [("Cache-Control", "no-store"), ("X-Accel-Buffering", "no")] {
            assert_eq!(stream.headers().get_one(name), Some(value));
        }
        assert!(stream.headers().get_one("Content-Type").unwrap().starts_with("text/event-stream"));
        let first = read_until(&mut stream, "event:changed\n").await;
        let block = first.split("\n\n").next().unwrap();
        assert!(block.starts_with("retry:") && block.contains("\nevent:areas\n"), "{block}");
        assert!(block.contains(r#""full":true"#), "{block}");
        let id = first.split("id:").nth(1).unwrap().lines().next().unwrap().to_owned();
        let put = |area: u8, state: u8| {
            let request = client.put(format!("/v1/floods/{area}")).header(key(KEY));
            request.body(format!("{{\"state\":{state}}}")).dispatch()
        };
        assert_eq!(put(1, 4).await.status(), Status::Ok);
        let second = read_until(&mut stream, r#""area_id":"1","state":4"#).await;
        assert!(second.contains(r#""full":false"#), "{second}");
        drop(stream);
        assert_eq!(put(2, 3).await.status(), Status::Ok);
        let again = client.get("/v1/changes/stream").header(Header::new("Last-Event-ID", id));
        let mut again = again.dispatch().await;
        let missed = read_until(&mut again, r#""area_id":"2","state":3"#).await;
        assert!(
            missed.contains(r#""area_id":"1","state":4"#) && !missed.contains(r#""full":true"#),
            "{missed}"
        );
    });
}

/// The events of a stream, as clients read them.
fn events(text: &str) -> Vec<Value> {
    let blocks = text.split("\n\n").filter(|block| block.contains("data:"));
    let event = |block: &str| {
        let fields =
            block.lines().filter_map(|line| line.split_once(':')).filter(|(name, _)| !name.is_empty());
        fields
            .map(|(name, value)| {
                let number = (name == "retry").then(|| value.parse::<u64>().unwrap());
                (name.to_owned(), number.map_or_else(|| json!(value), |number| json!(number)))
            })
            .collect()
    };
    blocks.map(event).collect()
}

#[test]
fn the_events_of_a_stream_are_as_described() {
    block_on(async {
        let (rocket, _clock, _opener) = service(figment(), |builder| builder).await;
        let client = asynchronous::Client::untracked(rocket).await.unwrap();
        let document: Value = client.get("/openapi.json").dispatch().await.into_json().await.unwrap();
        let content = &document["paths"]["/changes/stream"]["get"]["responses"]["200"]["content"];
        assert_eq!(content["text/event-stream"]["schema"]["$ref"], "#/components/schemas/ChangeEvent");
        let validator = |schema: &Value| {
            let mut schema = schema.clone();
            schema["components"] = document["components"].clone();
            jsonschema::validator_for(&schema).unwrap()
        };
        let described = &document["components"]["schemas"]["ChangeEvent"];
        let mut stream = client.get("/v1/changes/stream").dispatch().await;
        let mut text = read_until(&mut stream, "event:changed\n").await;
        let hiding = client.put("/v1/reports/7/visibility").header(key(ADMIN_KEY));
        let hidden = hiding.body(r#"{"hidden":true,"reason":"a name"}"#).dispatch().await;
        assert_eq!(hidden.status(), Status::Ok);
        text += &read_until(&mut stream, "event:changed\ndata:[\"reports\"]\n\n").await;
        let events = events(&text);
        let names: Vec<_> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
        assert_eq!(names, ["areas", "changed", "gone_reports", "changed"]);
        for event in &events {
            validator(described).validate(event).unwrap_or_else(|fault| panic!("{event}: {fault}"));
            let kinds = described["oneOf"].as_array().unwrap();
            let kind = kinds.iter().find(|kind| kind["properties"]["event"]["const"] == event["event"]);
            let data: Value = serde_json::from_str(event["data"].as_str().unwrap()).unwrap();
            let schema = &kind.unwrap()["properties"]["data"]["contentSchema"];
            validator(schema).validate(&data).unwrap_or_else(|fault| panic!("{data}: {fault}"));
        }
    });
}

#[test]
fn a_response_has_the_reports_hidden_before_the_request() {
    let siaga = Siaga::start();
    for round in 0..5 {
        let since = cursor(&delta(&siaga.client, ""));
        let moderation = format!(r#"{{"hidden":{},"reason":"a name"}}"#, round % 2 == 0);
        let hidden = siaga.request(Method::Put, "/v1/reports/7/visibility", moderation);
        assert_eq!(hidden.status(), Status::Ok);
        drop(hidden);
        let found = delta(&siaga.client, &format!("?since={since}"));
        assert_eq!(found["changed"], json!(["reports"]), "{round}");
        let gone = if round % 2 == 0 { json!(["7"]) } else { json!([]) };
        assert_eq!(found["gone_reports"], gone, "{round}");
    }
}

#[test]
fn disabled_streams_are_204_and_long_polls_return_at_once() {
    let siaga = Siaga::with_setting("siaga.streams.total", 0);
    assert_eq!(siaga.get("/v1/changes/stream").status(), Status::NoContent);
    let first = cursor(&delta(&siaga.client, ""));
    let begun = Instant::now();
    delta(&siaga.client, &format!("?since={first}&wait=30"));
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[test]
fn the_streams_of_a_client_are_limited() {
    block_on(async {
        let figment = figment().merge(("siaga.streams.per_address", 2)).merge(("siaga.streams.total", 3));
        let (rocket, _clock, _opener) = service(figment, |builder| builder).await;
        let client = asynchronous::Client::untracked(rocket).await.unwrap();
        let open = |last: u8| {
            let mut request = client.get("/v1/changes/stream");
            request.set_remote(([192, 0, 2, last], 80).into());
            request.dispatch()
        };
        let (first, second) = (open(1).await, open(1).await);
        assert_eq!((first.status(), second.status()), (Status::Ok, Status::Ok));
        let third = open(1).await;
        assert_eq!(third.status(), Status::TooManyRequests);
        assert!(third.headers().get_one("Retry-After").is_some());
        let other = open(2).await;
        assert_eq!(other.status(), Status::Ok);
        assert_eq!(open(3).await.status(), Status::ServiceUnavailable);
        drop(first);
        assert_eq!(open(1).await.status(), Status::Ok);
    });
}

#[test]
fn a_client_cut_off_after_any_event_resumes_without_a_gap() {
    block_on(async {
        let (rocket, _clock, _opener) = service(figment(), |builder| builder).await;
        let client = asynchronous::Client::untracked(rocket).await.unwrap();
        let mut stream = client.get("/v1/changes/stream").dispatch().await;
        let mut text = read_until(&mut stream, "event:changed\n").await;
        for (area, state) in [(1, 4), (5, 0), (2, 1), (30, 2), (1, 0), (10, 3)] {
            let address = format!("/v1/floods/{area}");
            let request = if state == 0 { client.delete(address) } else { client.put(address) };
            let request = request.header(key(KEY)).body(format!("{{\"state\":{state}}}"));
            assert_eq!(request.dispatch().await.status(), Status::Ok);
            text += &read_until(&mut stream, &format!(r#""area_id":"{area}""#)).await;
        }
        let events = events(&(text + "\n\n"));
        assert!(events.len() >= 8, "{events:?}");
        let mut expected = BTreeMap::new();
        apply(&mut expected, &result(&client, "/v1/changes".to_owned()).await);
        assert_eq!(expected.len(), 3);
        let (mut known, mut since) = (BTreeMap::new(), String::new());
        for count in 0..=events.len() {
            let mut resumed = known.clone();
            apply(&mut resumed, &result(&client, format!("/v1/changes{since}")).await);
            assert_eq!(resumed, expected, "after {count} events");
            let Some(event) = events.get(count) else { break };
            since = event["id"].as_str().map_or(since, |id| format!("?since={id}"));
            if event["event"] == "areas" {
                apply(&mut known, &serde_json::from_str(event["data"].as_str().unwrap()).unwrap());
            }
        }
    });
}
