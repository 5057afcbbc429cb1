//! Health endpoints.

use rocket::http::{Method, Status};
use serde_json::json;

use crate::independent::away::with_away;
use crate::suite::support::{Siaga, json_of, key};

#[test]
fn health_allows_only_get_and_head_and_needs_no_credential() {
    let siaga = Siaga::start();
    for address in ["/health/live", "/health/ready", "/health/live/"] {
        let head = siaga.client.head(address).dispatch();
        assert_eq!(head.status(), Status::Ok, "{address}");
        assert_eq!(head.into_string().unwrap_or_default(), "");
        assert_eq!(siaga.client.get(address).header(key("a wrong key")).dispatch().status(), Status::Ok);
        let refused = siaga.request(Method::Delete, address, "");
        assert_eq!(refused.status(), Status::MethodNotAllowed);
        assert_eq!(refused.headers().get_one("Allow"), Some("GET, HEAD, OPTIONS"));
    }
    assert_eq!(siaga.get("/v1/health/live").status(), Status::NotFound);
}

#[test]
fn an_unreachable_store_makes_the_service_unready_without_details() {
    let siaga = with_away();
    assert_eq!(siaga.get("/health/live").status(), Status::Ok);
    let response = siaga.get("/health/ready");
    assert_eq!(response.status(), Status::ServiceUnavailable);
    let body = json_of(response);
    assert_eq!((&body["statusCode"], &body["result"]["status"]), (&json!(503), &json!("unready")), "{body}");
    let store = &body["result"]["checks"][0];
    assert_eq!((&store["name"], &store["ok"]), (&json!("store"), &json!(false)));
    assert_eq!(store["required"], true, "{body}");
    assert_eq!(store["reason"], "does not answer");
    assert!(!body.to_string().contains("10.0.0.7"), "{body}");
}

#[test]
fn a_storage_of_images_that_cannot_be_written_to_degrades_the_service_which_stays_ready() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    for (place, status) in [(folder.path().join("made/later"), "ready"), (file.join("below"), "degraded")] {
        let url = format!("file://{}", place.display());
        let siaga = Siaga::with_setting("siaga.images.url", url);
        let response = siaga.get("/health/ready");
        assert_eq!(response.status(), Status::Ok);
        let body = json_of(response);
        assert_eq!(body["result"]["status"], status, "{body}");
        let checks = body["result"]["checks"].as_array().unwrap();
        let images = checks.iter().find(|check| check["name"] == "images").unwrap();
        let ok = status == "ready";
        assert_eq!((&images["ok"], &images["required"]), (&json!(ok), &json!(false)), "{body}");
        assert_eq!(images["reason"].is_null(), ok, "{body}");
        assert!(!place.exists(), "checking makes nothing");
        let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(left.len(), 1, "checking leaves nothing behind: {left:?}");
        assert!(!body.to_string().contains(folder.path().to_str().unwrap()), "{body}");
    }
}
