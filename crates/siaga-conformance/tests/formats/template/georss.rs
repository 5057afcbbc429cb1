use siaga::formats::Format;
use siaga_conformance::fixture;
use siaga_conformance::format_suite;

use super::{example, text};

format_suite!(example("georss"));

#[test]
fn each_flooded_area_is_an_item_with_its_outline() {
    let feed = text(&example("georss"), &fixture::layer(&[(5, 3), (10, 4)]));
    assert_eq!(feed.matches("<item>").count(), 2);
    assert!(feed.contains("<title>GROGOL, RW 09: Moderate</title>"), "{feed}");
    let guid = "floods?area_id=5&amp;time=2016-12-19T15%3A08%3A52.000Z</guid>";
    assert!(feed.contains(guid), "{feed}");
    assert!(feed.contains("<pubDate>Mon, 19 Dec 2016 22:08:52 +0700</pubDate>"), "{feed}");
    assert!(feed.contains("<georss:polygon>-6.180000000000001 106.81 -6.180000000000001 106.82"), "{feed}");
    assert_eq!(feed.matches("<georss:polygon>").count(), 3);
    assert_eq!(example("georss").time_step(), None, "so that responses can be cached");
}

#[test]
fn reports_and_gauges_are_items_with_a_point() {
    let reports = text(&example("georss"), &fixture::layers()[1]);
    assert!(reports.contains("<georss:point>-6.195 106.80499999999999</georss:point>"), "{reports}");
    let gauges = text(&example("georss"), &fixture::layers()[2]);
    assert!(gauges.contains("<title>Bendung Katulampa: 40.5 cm, SIAGA IV</title>"), "{gauges}");
}
