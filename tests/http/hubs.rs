//! Two readers of alerts, which do what the open alert hubs of the IFRC and of KDE do, follow a flood minute by minute.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use proptest::prelude::*;
use rocket::http::{Header, Status};
use rocket::local::blocking::Client;
use siaga::model::Timestamp;
use siaga::model::alerts::{CONFIRMED_FOR, LIFETIME};

use crate::fixture;
use crate::independent::xml::texts;
use crate::suite::support::Siaga;

const AREAS: [u64; 5] = [1, 2, 5, 10, 30];
const LENGTH: usize = 44 * 60;

fn path(address: &str) -> String {
    assert!(address.starts_with("http://"), "{address} cannot be fetched");
    address.trim_start_matches("http://localhost").to_owned()
}

fn moment(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

fn only(document: &str, name: &str) -> String {
    let [text] = <[String; 1]>::try_from(texts(document, name)).unwrap();
    text
}

/// What a reader keeps of a message.
#[derive(Clone, Debug)]
struct Kept {
    area: String,
    is_over: bool,
    expires: Timestamp,
}

/// Reads a message as both hubs do: without any `info` that is valid, it is dropped.
fn read(document: &str, now: Timestamp) -> Option<Kept> {
    if only(document, "status") != "Actual" || only(document, "scope") == "Private" {
        return None;
    }
    let valid: Vec<_> =
        texts(document, "expires").iter().map(|text| moment(text)).filter(|at| *at > now).collect();
    assert!(!texts(document, "polygon").is_empty());
    for polygon in texts(document, "polygon") {
        assert!(
            polygon
                .split(' ')
                .all(|pair| pair.split(',').filter(|text| text.parse::<f64>().is_ok()).count() == 2)
        );
    }
    let area = texts(document, "areaDesc").remove(0);
    Some(Kept { area, is_over: only(document, "msgType") == "Cancel", expires: *valid.first()? })
}

/// The hub of the IFRC: fetches each address once, and shows a message until it expires.
#[derive(Default)]
struct Ifrc {
    known: HashSet<String>,
    kept: Vec<Kept>,
}

impl Ifrc {
    fn poll(&mut self, client: &Client, now: Timestamp) {
        let feed = client.get("/v1/alerts").dispatch().into_string().unwrap();
        for address in texts(&feed, "id").into_iter().skip(1) {
            if self.known.insert(address.clone()) {
                let document = client.get(path(&address)).dispatch().into_string().unwrap();
                self.kept.extend(read(&document, now));
            }
        }
        self.kept.retain(|kept| kept.expires > now);
    }

    fn shows(&self) -> HashSet<&str> {
        self.kept.iter().filter(|kept| !kept.is_over).map(|kept| kept.area.as_str()).collect()
    }
}

/// The server of KDE: does not fetch what it knows or what has expired by the feed, and drops what left the feed. Each new
/// identifier makes phones ring.
#[derive(Default)]
struct Kde {
    tag: Option<String>,
    kept: HashMap<(String, String), Kept>,
    rung: HashMap<String, usize>,
}

impl Kde {
    fn poll(&mut self, client: &Client, now: Timestamp) {
        let mut request = client.get("/v1/alerts");
        if let Some(tag) = &self.tag {
            request.add_header(Header::new("If-None-Match", tag.clone()));
        }
        let response = request.dispatch();
        if response.status() != Status::NotModified {
            self.tag = response.headers().get_one("ETag").map(str::to_owned);
            let feed = response.into_string().unwrap();
            let mut listed = HashSet::new();
            for entry in feed.trim_end_matches("</feed>").split("<entry>").skip(1) {
                let entry = format!("<entry xmlns:cap=\"\">{entry}");
                let key = (only(&entry, "cap:identifier"), only(&entry, "cap:sent"));
                listed.insert(key.clone());
                if self.kept.contains_key(&key) || moment(&only(&entry, "cap:expires")) <= now {
                    continue;
                }
                let link = r#"<link rel="alternate" type="application/cap+xml" href=""#;
                let address = entry.split_once(link).unwrap().1.split_once('"').unwrap().0;
                let document = client.get(path(address)).dispatch().into_string().unwrap();
                assert_eq!((only(&document, "identifier"), only(&document, "sent")), key);
                if let Some(kept) = read(&document, now) {
                    *self.rung.entry(kept.area.clone()).or_default() += 1;
                    self.kept.insert(key, kept);
                }
            }
            self.kept.retain(|key, _| listed.contains(key));
        }
        self.kept.retain(|_, kept| kept.expires > now);
    }

    fn shows(&self) -> HashSet<&str> {
        self.kept.values().filter(|kept| !kept.is_over).map(|kept| kept.area.as_str()).collect()
    }
}

/// What an area has been through, by the minute.
#[derive(Clone, Debug, Default)]
struct Course {
    state: Option<u64>,
    /// When its state was last set.
    confirmed: Option<usize>,
    cleared: Option<usize>,
    /// How many runs with a state it had, and how long they stood.
    runs: usize,
    cleared_runs: usize,
    stood: Vec<usize>,
}

/// A flood: which area gets which state in which minute; 0 clears it.
fn flood() -> impl Strategy<Value = Vec<(usize, usize, u64)>> {
    let change = (0..LENGTH, 0..AREAS.len(), prop_oneof![2 => Just(0), 3 => 2..5_u64]);
    // Most areas change now and then; the last one is forgotten after its only change.
    prop::collection::vec(change, 40).prop_map(|mut changes| {
        changes.retain(|(_, area, _)| area + 1 < AREAS.len());
        changes.push((7, AREAS.len() - 1, 3));
        changes.sort_unstable();
        changes.dedup_by_key(|(minute, area, _)| (*minute, *area));
        changes
    })
}

#[test]
fn hubs_show_what_stands_soon_and_ring_seldom() {
    let config = ProptestConfig { max_shrink_iters: 20, ..ProptestConfig::with_cases(1) };
    proptest!(config, |(changes in flood())| follow(changes));
}

/// Follows a flood from its first minute to the last.
fn follow(changes: Vec<(usize, usize, u64)>) {
    let siaga = Siaga::start();
    let start = fixture::now().after(Duration::from_hours(48));
    let names: HashMap<_, _> = fixture::areas()
        .iter()
        .map(|area| {
            let parts = [&*area.name, &*area.parent_name].into_iter().filter(|part| !part.is_empty());
            (area.id.number(), parts.collect::<Vec<_>>().join(", "))
        })
        .collect();
    let mut changes = changes.into_iter().peekable();
    let (mut ifrc, mut kde) = (Ifrc::default(), Kde::default());
    let mut courses: Vec<Course> = vec![Course::default(); AREAS.len()];
    for minute in 0..LENGTH {
        let now = start.after(Duration::from_mins(minute as u64));
        siaga.clock.set(now);
        while let Some((_, area, code)) = changes.next_if(|(at, ..)| *at == minute) {
            let address = format!("/v1/floods/{}", AREAS[area]);
            let state = Some(code).filter(|code| *code > 0);
            let status = match state {
                Some(code) => siaga.put(&address, format!("{{\"state\":{code}}}")).status(),
                None => siaga.delete(&address).status(),
            };
            assert_eq!(status, Status::Ok);
            let course = &mut courses[area];
            let confirms = course.state == state
                && course.confirmed.is_some_and(|at| minute - at <= CONFIRMED_FOR.as_secs() as usize / 60);
            if !confirms {
                course.cleared_runs += usize::from(course.state.is_some() && state.is_none());
                course.runs += usize::from(state.is_some());
                course.stood.extend(state.map(|_| 0));
            }
            course.cleared = Some(minute).filter(|_| state.is_none()).or(course.cleared);
            (course.state, course.confirmed) = (state, Some(minute));
        }
        for course in &mut courses {
            if course.state.is_some()
                && let Some(stood) = course.stood.last_mut()
            {
                *stood += 1;
            }
        }
        ifrc.poll(&siaga.client, now);
        kde.poll(&siaga.client, now);
        let name = |area: usize| names[&AREAS[area]].as_str();
        for (area, course) in courses.iter().enumerate() {
            let since = course.confirmed.map(|at| Duration::from_mins((minute - at) as u64));
            match course.state {
                Some(_) if since.is_some_and(|since| since <= CONFIRMED_FOR) => {
                    assert!(kde.shows().contains(name(area)), "KDE: {} in minute {minute}", name(area));
                    assert!(ifrc.shows().contains(name(area)), "IFRC: {} in minute {minute}", name(area));
                }
                Some(_) if since.is_some_and(|since| since <= CONFIRMED_FOR + LIFETIME) => {}
                Some(_) => assert!(!ifrc.shows().contains(name(area)) && !kde.shows().contains(name(area))),
                None => {
                    assert!(!kde.shows().contains(name(area)), "KDE: {} in minute {minute}", name(area));
                    let long = course.cleared.is_none_or(|at| minute - at > LIFETIME.as_secs() as usize / 60);
                    assert!(!long || !ifrc.shows().contains(name(area)), "IFRC: {}", name(area));
                }
            }
        }
    }
    for (area, course) in courses.iter().enumerate() {
        let renewals: usize = course.stood.iter().map(|minutes| minutes / (5 * 60)).sum();
        let most = course.runs + renewals + course.cleared_runs;
        let rung = kde.rung.get(&names[&AREAS[area]]).copied().unwrap_or_default();
        assert!(rung <= most, "{}: phones rang {rung} times, not {most}", names[&AREAS[area]]);
        assert!(rung >= course.runs, "{}: not every rise was told", names[&AREAS[area]]);
    }
    assert!(
        courses[AREAS.len() - 1].state.is_some() && !kde.shows().contains("RW 30"),
        "a forgotten state ends"
    );
}
