//! What can be asked for, by the configuration.

use rocket::http::Status;

use crate::support::{Siaga, assert_invalid, figment};

#[test]
fn each_resource_is_asked_for_by_its_configured_codes() {
    let resources = [
        ("floods", "/v1/floods"),
        ("reports", "/v1/reports"),
        ("gauges", "/v1/floodgauges"),
        ("infrastructure", "/v1/infrastructure"),
        ("boundaries", "/v1/admin"),
    ];
    for (resource, address) in resources {
        let has_cities = resource != "boundaries";
        // Codes that are known by the configuration alone, of which each resource has others.
        let mut figment = figment()
            .merge(("siaga.areas.cities", ["its", "others"]))
            .merge(("siaga.areas.provinces", ["ID-ITS", "ID-OTHERS"]));
        for (other, _) in resources {
            let (city, admin) = if other == resource { ("its", "ID-ITS") } else { ("others", "ID-OTHERS") };
            let cities = if other == "boundaries" { vec![] } else { vec![city] };
            figment = figment
                .merge((format!("siaga.areas.supported.{other}.city"), cities))
                .merge((format!("siaga.areas.supported.{other}.admin"), [admin]));
        }
        let siaga = Siaga::with(figment, |builder| builder);
        let get = |query: &str| siaga.client.get(format!("{address}?{query}")).dispatch();
        assert_eq!(get("admin=ID-ITS").status(), Status::Ok, "{resource}");
        for wrong in ["ID-OTHERS", "ID-JK"] {
            assert_invalid(get(&format!("admin={wrong}")), "query", &["admin"], "one of [ID-ITS]");
        }
        assert_eq!(get("city=its").status(), Status::Ok, "{resource}");
        if has_cities {
            for wrong in ["others", "jbd"] {
                assert_invalid(get(&format!("city={wrong}")), "query", &["city"], "one of [its]");
            }
        }
    }
}
