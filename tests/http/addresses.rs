//! Mount points of the interface.

use std::collections::BTreeSet;

use rocket::http::{Method, Status};
use siaga::Builder;

use crate::suite::support::{ADMIN_KEY, Siaga, figment, json_of, key};

fn also_at(paths: &[&str]) -> Siaga {
    Siaga::with_setting("siaga.also_at", paths)
}

#[test]
fn also_at_mounts_the_interface_a_second_time() {
    let siaga = also_at(&["/", "/api/v0"]);
    for path in ["floods", "floods/?city=jbd", "reports?disaster=flood", "stats/reportsSummary", "admin"] {
        let [first, second, third] =
            ["/v1/", "/", "/api/v0/"].map(|base| siaga.get(&format!("{base}{path}")).into_string());
        assert!(first.is_some() && first == second && second == third, "{path}");
    }
    let put = siaga.client.put("/floods/5").header(key(ADMIN_KEY)).body(r#"{"state":4}"#).dispatch();
    assert_eq!(put.status(), Status::Ok);
    assert_eq!(siaga.result("/v1/floods/states")[0]["state"], 4);
    for base in ["", "/v1", "/api/v0"] {
        let address = format!("{base}/floods/5/");
        let refused = siaga.get(&address);
        assert_eq!(refused.headers().get_one("Allow"), Some("PUT, DELETE, OPTIONS"));
        let preflight = siaga.client.options(address.clone()).dispatch();
        assert_eq!(preflight.status(), Status::NoContent, "{address}");
    }
    for address in ["/", "/docs", "/openapi.json", "/health/live"] {
        assert_eq!(siaga.get(address).status(), Status::Ok, "{address}");
    }
    assert_eq!(siaga.get("/nothing").status(), Status::NotFound);
    assert_eq!(also_at(&[]).get("/floods").status(), Status::NotFound);
}

#[test]
fn the_openapi_document_has_one_interface_wherever_it_is_mounted() {
    let [once, twice] = [&[][..], &["/"]].map(|paths| json_of(also_at(paths).get("/openapi.json")));
    assert_eq!(once, twice);
    assert_eq!(twice["servers"][0]["url"], "http://localhost/v1");
}

#[test]
fn the_base_address_redirects_to_the_front_page() {
    let siaga = also_at(&["/", "/api"]);
    for address in ["/v1", "/v1/", "/v1/?a=b", "/api/"] {
        for method in [Method::Get, Method::Head] {
            let response = siaga.client.req(method, address).dispatch();
            assert_eq!(response.status(), Status::TemporaryRedirect, "{method} {address}");
            assert_eq!(response.headers().get_one("Location"), Some("/"), "{method} {address}");
        }
        let response = siaga.client.put(address).dispatch();
        assert_eq!(response.status(), Status::MethodNotAllowed, "{address}");
    }
    assert_eq!(siaga.get("/").status(), Status::Ok);
}

/// Checks a configuration with a base address and a further mount point.
fn check(base: &str, also: &str) -> Result<(), String> {
    let figment = figment().merge(("siaga.base_url", base)).merge(("siaga.also_at", [also]));
    let builder = Builder::default().figment(figment.merge(("siaga.store", "memory")));
    builder.check().map(drop).map_err(|error| error.to_string())
}

#[test]
fn paths_outside_the_interface_are_reserved() {
    let siaga = Siaga::start();
    let outside = siaga.client.rocket().routes().map(|route| route.uri.path().to_owned());
    let outside = outside.filter(|path| !path.starts_with("/v1") && path != "/" && !path.starts_with("/:"));
    let outside = outside.map(|path| path.split('/').nth(1).unwrap().to_owned());
    let outside: BTreeSet<String> = outside.chain(["metrics".to_owned()]).collect();
    assert!(outside.contains("health"), "{outside:?}");
    for path in outside {
        let refused = check("https://example.org/v1", &format!("/{path}")).expect_err(&path);
        assert!(refused.contains("siaga.also_at.0"), "{path}: {refused}");
    }
}

#[test]
fn a_mount_point_that_is_the_path_of_a_resource_is_refused() {
    assert_eq!(check("https://example.org/v1", "/floods"), Ok(()));
    for (base, also) in [("https://example.org/floods", "/"), ("https://example.org", "/reports/v1")] {
        assert!(check(base, also).unwrap_err().contains("mounted at / as well"), "{base} {also}");
    }
}
