//! The example of a city in the Philippines starts with its own configuration and data.

use figment::Figment;
use figment::providers::{Format, Toml};
use rocket::config::LogLevel;
use rocket::http::{Header, Status};
use rocket::local::asynchronous::Client;
use siaga::Builder;

/// Its paths are relative to the root of the repository, where Cargo runs tests.
const MANILA: &str = "examples/country/manila/Rocket.toml";

/// The file alone, without the environment.
fn figment() -> Figment {
    let quiet = rocket::Config { log_level: LogLevel::Off, ..rocket::Config::debug_default() };
    Figment::from(quiet).merge(Toml::file_exact(MANILA).nested())
}

#[rocket::async_test]
async fn the_example_of_manila_starts_and_shows_its_map_in_both_languages() {
    let rocket = Builder::default().figment(figment()).build().await.unwrap().rocket;
    let client = Client::untracked(rocket).await.unwrap();
    for (language, title, depth) in [
        ("en", "Exercise: Flood map, 4 barangays flooded", "More than 150 cm"),
        ("tl", "Pagsasanay: Mapa ng baha, 4 barangay na binaha", "Higit sa 150 cm"),
    ] {
        let map = &[title, depth, "Example Hillside", "tel:911"][..];
        for (address, expected) in [("/map", map), ("/desk", &[]), ("/report", &[])] {
            let request = client.get(address).header(Header::new("Accept", "text/html"));
            let response = request.header(Header::new("Accept-Language", language)).dispatch().await;
            assert_eq!(response.status(), Status::Ok, "{address}, {language}");
            let page = response.into_string().await.unwrap();
            assert!(page.contains(&format!("<html lang=\"{language}\">")), "{address}: {page}");
            for text in expected {
                assert!(page.contains(text), "{language}, {text}: {page}");
            }
        }
    }
    let archive = "/v1/reports/archive?start=2026-01-17T00:00:00Z&end=2026-01-18T00:00:00Z";
    let reports = client.get(archive).dispatch().await.into_string().await.unwrap();
    assert_eq!(reports.matches("\"pkey\"").count(), 3, "{reports}");
}
