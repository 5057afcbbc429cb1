//! What can be asked for, by the configuration.

use rocket::http::Status;
use siaga::model::LayerKind;
use siaga::resources::describe;

use crate::suite::support::{Siaga, assert_invalid, figment};

#[test]
fn each_resource_is_asked_for_by_its_configured_codes() {
    let resources = LayerKind::ALL.map(describe);
    for described in resources {
        let (resource, has_cities) = (described.kind().name(), described.has_cities());
        let address = format!("/v1/{}", described.path());
        // Codes that are known by the configuration alone, of which each resource has others.
        let mut figment = figment()
            .merge(("siaga.areas.cities", ["its", "others"]))
            .merge(("siaga.areas.provinces", ["ID-ITS", "ID-OTHERS"]));
        for other in resources {
            let is_other = other.kind() != described.kind();
            let (city, admin) = if is_other { ("others", "ID-OTHERS") } else { ("its", "ID-ITS") };
            let cities = if other.has_cities() { vec![city] } else { vec![] };
            let other = other.kind().name();
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
