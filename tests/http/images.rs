use rocket::http::{Method, Status};

use crate::suite::support::{Siaga, json_of, key};

#[test]
fn an_image_that_is_not_there_is_404_whatever_its_name() {
    let siaga = Siaga::start();
    for name in [
        "used-card.jpg",
        "used-card",
        "used-card.png",
        ".jpg",
        "x.jpg",
        "uploads",
        "..%2Fuploads%2Fused-card.jpg",
        "..%2F..%2F..%2Fetc%2Fpasswd",
        "%2e%2e%2fCargo.toml.jpg",
        "used-card.jpg%00",
        "%FF%FE.jpg",
        "=2E=2E=2Fetc.jpg",
    ] {
        let answer = siaga.get(&format!("/v1/images/{name}")).status();
        assert_eq!(answer, Status::NotFound, "{name}");
    }
    let body = json_of(siaga.get("/v1/images/used-card.jpg"));
    assert_eq!((&body["statusCode"], &body["message"]), (&404.into(), &"this image does not exist".into()));
}

#[test]
fn a_bad_credential_is_403_and_other_methods_405() {
    let siaga = Siaga::start();
    let address = "/v1/images/used-card.jpg";
    assert_eq!(siaga.client.get(address).header(key("wrong")).dispatch().status(), Status::Forbidden);
    let answer = siaga.ask(Method::Put, address, "");
    assert_eq!(answer.status(), Status::MethodNotAllowed);
    assert_eq!(answer.headers().get_one("Allow"), Some("GET, HEAD, OPTIONS"));
    let answer = siaga.get("/v1/uploads/used-card.0.jpeg");
    assert_eq!(answer.headers().get_one("Allow"), Some("PUT, OPTIONS"));
}
