//! `/map/picture.png`: the picture that services show of a link to the map.

use std::time::Duration;

use image::RgbImage;
use rocket::http::Status;
use serde_json::json;

use crate::suite::eventually::{LONG, eventually_blocking};
use crate::suite::support::Siaga;

/// The content of a property in the head of a page of the map.
fn property(siaga: &Siaga, address: &str, name: &str) -> Option<String> {
    let page = siaga.get(&format!("/map?lang=en{address}")).into_string().unwrap();
    let (_, rest) = page.split_once(&format!("\"og:{name}\" content=\""))?;
    let text = rest.split_once('"')?.0;
    Some(text.replace("&#x2f;", "/").replace("&amp;", "&"))
}

fn picture_of(siaga: &Siaga, address: &str) -> String {
    let picture = property(siaga, address, "image").unwrap();
    picture.strip_prefix("http://localhost").unwrap().to_owned()
}

/// The bytes at an address, and whether caches may store them.
fn got(siaga: &Siaga, address: &str) -> (Vec<u8>, bool) {
    let response = siaga.get(address);
    assert_eq!(
        (response.status(), response.content_type().unwrap().to_string()),
        (Status::Ok, "image/png".into())
    );
    let is_stored = response.headers().get_one("Cache-Control") != Some("no-store");
    (response.into_bytes().unwrap(), is_stored)
}

fn drawn(siaga: &Siaga, address: &str) -> RgbImage {
    image::load_from_memory(&got(siaga, address).0).unwrap().to_rgb8()
}

const WARN: [u8; 3] = [0x9b, 0x1c, 0x1c];
const PICK: [u8; 3] = [0x0a, 0x2f, 0x55];

fn has(image: &RgbImage, colour: [u8; 3]) -> bool {
    image.pixels().any(|pixel| pixel.0 == colour)
}

#[test]
fn a_page_names_a_picture_of_its_state_with_the_time_in_words_and_address() {
    let siaga = Siaga::start();
    let title = property(&siaga, "&area=5", "title").unwrap();
    assert!(title.contains(": 10–70 cm, 19 December 2016"), "{title}");
    assert_eq!(property(&siaga, "&area=5", "image:alt").unwrap(), title);
    for address in ["", "&area=5", "&city=jbd"] {
        let picture = picture_of(&siaga, address);
        assert!(picture.contains("time=2016-"), "{picture}");
        let (png, is_stored) = got(&siaga, &picture);
        assert!(is_stored && png.len() <= 60_000, "{address}: {} bytes", png.len());
        let image = image::load_from_memory(&png).unwrap().to_rgb8();
        assert_eq!(image.dimensions(), (1200, 630));
        assert_eq!((has(&image, PICK), has(&image, WARN)), (address == "&area=5", false), "{address}");
    }
}

#[test]
fn a_title_has_the_time_of_what_it_says_and_marks_an_exercise() {
    let siaga = Siaga::start();
    siaga.delete("/v1/floods/5");
    siaga.pass(Duration::from_hours(30));
    let dry = property(&siaga, "&area=5", "title").unwrap();
    assert!(dry.contains("21 December 2016"), "it is so now, not at the end of the flood: {dry}");
    let exercise = Siaga::with_setting("siaga.formats.cap.status", "Exercise");
    for name in ["title", "image:alt"] {
        let title = property(&exercise, "&area=5", name).unwrap();
        assert!(title.starts_with("Exercise: "), "{title}");
    }
}

#[test]
fn the_picture_of_a_city_has_only_its_floods() {
    let siaga = Siaga::start();
    // The flood of area 30, in the other city, is unconfirmed.
    siaga.put("/v1/floods/30", r#"{"state":4}"#);
    let severe = [0xcc, 0x2a, 0x41];
    assert!(has(&drawn(&siaga, "/map/picture.png"), severe));
    assert!(has(&drawn(&siaga, "/map/picture.png?city=bdg"), severe));
    assert!(!has(&drawn(&siaga, "/map/picture.png?city=jbd"), severe));
}

#[test]
fn an_older_address_has_the_present_picture_which_nobody_stores() {
    let siaga = Siaga::start();
    let before = picture_of(&siaga, "");
    let old = got(&siaga, &before).0;
    siaga.pass(Duration::from_hours(1));
    siaga.put("/v1/floods/5", r#"{"state":4}"#);
    // The page may be two seconds old.
    let after = eventually_blocking("a new address", LONG, || picture_of(&siaga, ""), |of| *of != before);
    let (present, is_stored) = got(&siaga, &after);
    assert!(is_stored && present != old);
    assert_eq!(got(&siaga, &before), (present.clone(), false));
    assert_eq!(got(&siaga, "/map/picture.png"), (present, false));
}

#[test]
fn an_exercise_has_a_red_frame_and_a_silent_source_grey_stripes() {
    let plain = drawn(&Siaga::start(), "/map/picture.png");
    let exercise = Siaga::with_setting("siaga.formats.cap.status", "Exercise");
    let framed = drawn(&exercise, "/map/picture.png");
    assert_eq!([framed.get_pixel(2, 2).0, framed.get_pixel(1197, 627).0], [WARN, WARN]);
    let desk = json!({ "subject": "bpbd", "every": "1h", "covers": ["floods"] });
    let silent = drawn(&Siaga::with_setting("siaga.sources.desk", desk), "/map/picture.png");
    let other = plain.pixels().zip(silent.pixels()).filter(|(one, other)| one != other).count();
    assert!((60_000..400_000).contains(&other), "{other} pixels have a stripe");
}

#[test]
fn what_cannot_be_drawn_is_an_error_and_no_page_names_it() {
    let siaga = Siaga::start();
    for (query, status) in [
        ("area=77", Status::NotFound),
        ("area=x", Status::NotFound),
        ("time=yesterday", Status::BadRequest),
        ("city=none", Status::BadRequest),
    ] {
        assert_eq!(siaga.get(&format!("/map/picture.png?{query}")).status(), status, "{query}");
    }
    assert_eq!(property(&siaga, "&area=77", "image"), None);
}
