//! What alerts say by the configuration.

use serde_json::json;

use crate::support::{Siaga, figment};

#[test]
fn alerts_and_their_feed_say_what_is_configured() {
    let cap = json!({
        "sender": "bpbd.example.org", "sender_name": "THE AGENCY", "web": "https://example.org/floods",
        "author": "somebody", "title": "Floods", "headline": "LOOK OUT", "expires_after": "90m",
        "agencies": { "bdg": { "sender": "bandung.example.org", "sender_name": "BANDUNG AGENCY" } },
    });
    let figment =
        figment().merge(("siaga.formats.cap", cap)).merge(("siaga.time_zone", "Asia/Jayapura"));
    let siaga = Siaga::with(figment, |builder| builder);
    let feed = |city: &str| {
        siaga.client.get(format!("/v1/floods?geoformat=cap&city={city}")).dispatch().into_string().unwrap()
    };
    let feed_of_jakarta = feed("jbd");
    for expected in [
        "<sender>bpbd.example.org</sender>",
        "<senderName>THE AGENCY</senderName>",
        "<web>https://example.org/floods</web>",
        "<name>somebody</name>",
        "<uri>https://example.org/floods</uri>",
        "<title>Floods</title>",
        "<headline>LOOK OUT</headline>",
        // 90 minutes after the request, which comes at 16:08:52 in UTC.
        "<expires>2016-12-20T02:38:52+09:00</expires>",
    ] {
        assert!(feed_of_jakarta.contains(expected), "{expected}: {feed_of_jakarta}");
    }
    let feed_of_bandung = feed("bdg");
    for expected in ["<sender>bandung.example.org</sender>", "<senderName>BANDUNG AGENCY</senderName>"] {
        assert!(feed_of_bandung.contains(expected), "{expected}: {feed_of_bandung}");
    }
}
