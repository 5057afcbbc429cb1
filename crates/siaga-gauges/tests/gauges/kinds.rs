use serde_json::{Value, json};

use super::server::{Reply, Server};
use super::{noon, reader, response};

/// Serves responses by the end of the requested address.
async fn feed(responses: &'static [(&'static str, &'static str)]) -> Server {
    Server::start(move |request| {
        let line = request.head.lines().next().unwrap();
        let found =
            responses.iter().find(|(end, _)| line.ends_with(&format!("{} http/1.1", end.to_lowercase())));
        Reply::ok(&found.map_or_else(
            || r#"{"value":[],"features":[],"items":[]}"#.to_owned(),
            |(_, name)| response(name),
        ))
    })
    .await
}

/// Reads a feed once. Returns the bodies that Siaga received, and what was left out.
async fn sent(settings: &str) -> (Vec<Value>, Vec<String>) {
    let siaga = Server::siaga().await;
    let round = reader(&siaga, settings).round(noon()).await;
    assert!(!round.failed && round.rejected.is_empty(), "{round:?}");
    let requests = siaga.requests();
    for request in &requests {
        assert!(request.head.starts_with("put /v1/floodgauges http/1.1\r\n"), "{}", request.head);
        assert!(request.head.contains("x-api-key: secret\r\n"), "{}", request.head);
    }
    let mut bodies: Vec<_> = requests.into_iter().map(|request| request.body).collect();
    bodies.sort_by_key(|body| body["gaugeid"].to_string());
    (bodies, round.omissions)
}

fn gauge(id: &str, name: &str, (lat, lng): (f64, f64), (time, level, alert): (&str, f64, u8)) -> Value {
    json!({
        "gaugeid": id, "gaugenameid": name, "location": { "lat": lat, "lng": lng },
        "observations": [{ "observed_at": format!("2026-11-27T{time}Z"), "level": level, "alert": alert }],
    })
}

#[tokio::test]
async fn readings_of_the_environment_agency_get_names_and_places_from_the_stations() {
    let server = feed(&[
        ("/stations", "environment-agency-stations.json"),
        ("/readings", "environment-agency-readings.json"),
    ])
    .await;
    let address = &server.address;
    let (bodies, omissions) = sent(&format!(
        "kind = \"environment-agency\"\nunit = \"m\"\nalert = \"normal\"
        address = \"{address}/readings\"\nstations = \"{address}/stations\""
    ))
    .await;
    let mill = (51.5, -1.25);
    assert_eq!(
        bodies,
        [
            gauge(
                "river-9001-level-downstage-i-15_min-mASD",
                "Mill Bridge (Downstream Stage)",
                mill,
                ("11:45:00.000", -5.0, 4)
            ),
            gauge("river-9001-level-stage-i-15_min-mASD", "Mill Bridge", mill, ("11:30:00.000", 41.2, 4)),
            gauge(
                "river-9002-level-stage-i-15_min-mAOD",
                "Weir Lane",
                (52.0, -0.5),
                ("11:45:00.000", 1420.0, 4)
            ),
        ]
    );
    assert_eq!(
        omissions,
        [
            r#"left out 1: no readable gauge (first: "" "")"#,
            r#"left out 1: not a water level (first: "9001-flow--i-15_min-m3_s" "")"#,
            r#"left out 1: the value is not a number (first: "9001-level-stage-i-15_min-mASD" "")"#,
        ]
    );
}

#[tokio::test]
async fn levels_of_the_usgs_in_feet_are_sent_in_centimetres_and_pages_are_followed_on_one_host() {
    let server = feed(&[("/items?page=1", "usgs.json"), ("/items?page=2", "usgs-2.json")]).await;
    let (bodies, omissions) = sent(&format!(
        "kind = \"usgs\"\nunit = \"ft\"\naddress = \"{}/items?page=1\"\nzero = 10\nalert = \"normal\"
        [feed.gauge.series-a]\nas = \"potomac\"\nname = \"Potomac\"\nthresholds = {{ alert = 168.801, watch = 150 }}
        [feed.gauge.series-b]\n[feed.gauge.series-c]\n[feed.gauge.series-d]\nlocation = {{ lat = 38.7, lng = -77.4 }}",
        server.address
    ))
    .await;
    let mut potomac = gauge("potomac", "Potomac", (38.5, -77.125), ("11:45:00.000", 168.801, 2));
    potomac["observations"][0]["alert"] = Value::Null;
    potomac["thresholds"] = json!({ "alert": 168.801, "watch": 150.0 });
    assert_eq!(
        bodies,
        [potomac, gauge("river-series-d", "TEST-03", (38.7, -77.4), ("11:50:00.000", 40.48, 4))]
    );
    assert_eq!(
        omissions,
        [
            r#"left out 1: it has another unit: set `unit`, or select only water levels (first: "series-b" "ft^3/s")"#,
            r#"left out 1: the value is a sentinel (first: "series-c" "-999999")"#,
        ]
    );
    assert_eq!(server.requests().len(), 2, "the link to another host is not followed");
}

#[tokio::test]
async fn observations_of_sensorthings_are_read_with_their_datastream_and_thing() {
    let server = feed(&[("/Observations", "sensorthings.json")]).await;
    let (bodies, omissions) = sent(&format!(
        "kind = \"sensorthings\"\nunit = \"cm\"\nalert = \"normal\"\naddress = \"{}/Observations\"",
        server.address
    ))
    .await;
    assert_eq!(
        bodies,
        [
            gauge("river-7", "Pintu Air Contoh", (-6.25, 106.85), ("11:50:00.500", 123.25, 4)),
            gauge("river-urn:8", "Sungai Contoh", (-6.3, 106.9), ("11:50:00.000", 88.0, 4)),
        ]
    );
    assert_eq!(omissions, [r#"left out 1: no readable gauge (first: "" "")"#]);
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn observations_of_waterml_are_read_with_their_monitoring_point() {
    let server = feed(&[("/wml", "waterml.xml")]).await;
    let (bodies, omissions) = sent(&format!(
        "kind = \"waterml\"\nunit = \"m\"\nalert = \"normal\"\naddress = \"{}/wml\"
        [feed.gauge.\"P-77/WaterLevel\"]\n[feed.gauge.\"P-78/WaterLevel\"]\nas = \"P78\"\nlocation = {{ lat = 47.4, lng = 8.2 }}",
        server.address
    ))
    .await;
    assert_eq!(
        bodies,
        [
            gauge("P78", "Lower Bridge", (47.4, 8.2), ("11:50:00.000", -25.0, 4)),
            gauge("river-P-77/WaterLevel", "Bridge & Mill", (47.5, 8.25), ("11:40:00.000", 150.0, 4)),
        ]
    );
    assert_eq!(omissions, [r#"left out 1: the value is not a number (first: "P-77/WaterLevel" "")"#]);
}

#[tokio::test]
async fn columns_decimals_and_local_times_of_csv_are_configured() {
    let server = feed(&[("/levels.csv", "levels.csv")]).await;
    let (bodies, omissions) = sent(&format!(
        "kind = \"csv\"\nunit = \"m\"\nalert = \"normal\"\nprefix = \"\"\naddress = \"{}/levels.csv\"
        delimiter = \";\"\ndecimal = \",\"\noffset = \"+07:00\"\ntime_format = \"%d.%m.%Y %H:%M\"
        columns = {{ gauge = \"Stasiun\", name = \"Nama\", time = \"Waktu\", level = \"TMA\", lat = \"Lintang\", lng = \"Bujur\" }}",
        server.address
    ))
    .await;
    assert_eq!(
        bodies,
        [
            gauge("TMA-7", "Pos Contoh", (-6.2, 106.85), ("11:40:00.000", 190.0, 4)),
            gauge("TMA-8", "Pos Lain", (-6.3, 106.9), ("11:50:00.000", 205.0, 4)),
        ]
    );
    assert_eq!(omissions, [r#"left out 1: the value is not a number (first: "TMA-7" "rusak")"#]);
}

#[tokio::test]
async fn files_of_a_folder_are_read_and_name_their_gauge() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("upper.csv", "time,level\n2026-11-27T11:50:00Z,10\n"),
        ("lower.csv", "time,level\n2026-11-27T11:50:00Z,-3\n"),
        ("broken.csv", "when,level\n2026-11-27T11:50:00Z,20\n"),
        ("half.csv.part", "time,level\n2026-11-27T11:50:00Z,3"),
    ] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let settings = format!(
        "kind = \"csv\"\nunit = \"cm\"\nalert = \"normal\"\nfile = {:?}\ncolumns = {{ time = \"time\", level = \"level\" }}
        [feed.gauge.upper]\nlocation = {{ lat = 1, lng = 2 }}\n[feed.gauge.lower]\nlocation = {{ lat = 3, lng = 4 }}",
        folder.path()
    );
    let siaga = Server::siaga().await;
    let round = reader(&siaga, &settings).round(noon()).await;
    assert!(round.failed, "a file is broken");
    let expected = [
        gauge("river-lower", "lower", (3.0, 4.0), ("11:50:00.000", -3.0, 4)),
        gauge("river-upper", "upper", (1.0, 2.0), ("11:50:00.000", 10.0, 4)),
    ];
    assert_eq!(siaga.bodies(), expected, "the other files are sent");
}

#[tokio::test]
async fn a_document_of_another_kind_is_a_failure_of_the_feed_and_a_redirect_is_not_followed() {
    let siaga = Server::siaga().await;
    for kind in ["environment-agency", "usgs", "sensorthings", "waterml", "csv"] {
        for text in ["", "<html>Gateway</html>", "{\"error\":\"busy\"}", "\u{0}", "[1,2]"] {
            let server = Server::start(move |_| Reply::ok(text)).await;
            let columns = if kind == "csv" { "columns = { time = \"time\", level = \"level\" }" } else { "" };
            let settings =
                format!("kind = \"{kind}\"\nunit = \"m\"\naddress = \"{}\"\n{columns}", server.address);
            assert!(reader(&siaga, &settings).round(noon()).await.failed, "{kind}: {text}");
        }
    }
    let to = format!("Location: {}/other\r\n", siaga.address);
    let server = Server::start(move |_| Reply::Status(302, to.clone(), String::new())).await;
    let settings = format!("kind = \"usgs\"\nunit = \"m\"\naddress = \"{}\"", server.address);
    assert!(reader(&siaga, &settings).round(noon()).await.failed);
    assert!(siaga.requests().is_empty());
}
