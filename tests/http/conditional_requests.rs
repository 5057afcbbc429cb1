use rocket::http::{Header, Status};

use crate::support::Siaga;

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
        let ask = |tags: &str| {
            siaga.client.get(address).header(Header::new("If-None-Match", tags.to_owned())).dispatch()
        };
        for tags in [old.clone(), format!("\"other\", {old}"), format!("W/{old}"), "*".to_owned()] {
            let response = ask(&tags);
            assert_eq!(response.status(), Status::NotModified, "{address} {tags}");
            assert_eq!(response.headers().get_one("ETag"), Some(old.as_str()));
            assert_eq!(response.into_string().unwrap_or_default(), "");
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
fn public_answers_are_revalidated_and_changes_are_kept_by_nobody() {
    let siaga = Siaga::start();
    let response = siaga.get("/v1/floods");
    let header = |name| response.headers().get_one(name);
    assert_eq!(header("Cache-Control"), Some("public, no-cache, stale-if-error=3600"));
    assert_eq!(header("Vary"), Some("Accept, Accept-Encoding"));
    let tag = header("ETag").unwrap();
    assert!(tag.starts_with('"') && tag.ends_with('"'), "a strong tag: {tag}");
    let response = siaga.put("/v1/floods/5", r#"{"state":2}"#);
    assert_eq!(response.headers().get_one("Cache-Control"), Some("no-store"));
    assert_eq!(response.headers().get_one("ETag"), None);
}

#[test]
fn each_format_of_the_same_areas_has_its_own_tag() {
    let siaga = Siaga::start();
    let mut tags =
        ["topojson", "geojson", "cap"].map(|name| etag(&siaga, &format!("/v1/floods?geoformat={name}")));
    tags.sort();
    assert!(tags.windows(2).all(|pair| pair[0] != pair[1]), "{tags:?}");
}
