//! Folders made of small extracts and GeoJSON files.

#[path = "../../../tests/common/extract.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod extract;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use siaga_setup::{Options, SetupError};
use tempfile::TempDir;

use self::extract::{Line, Square, extract};

/// A folder to work in, with a file to make cities of.
struct Desk(TempDir);

impl Desk {
    fn new(name: &str, content: impl AsRef<[u8]>) -> Self {
        let desk = Self(tempfile::tempdir().unwrap());
        fs::write(desk.0.path().join(name), content).unwrap();
        desk
    }

    fn with(squares: &[Square], lines: &[Line]) -> Self {
        Self::new("x.osm.pbf", extract(squares, lines))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The answers that have no default.
    fn options(&self, file: &str) -> Options {
        Options {
            folder: self.path("city"),
            yes: true,
            from: Some(self.path(file).display().to_string()),
            agency: Some("Agency".to_owned()),
            time_zone: Some("Asia/Jakarta".to_owned()),
            region_code: Some("ID-JK".to_owned()),
            ..Options::default()
        }
    }

    fn of_place(&self, place: &str) -> Options {
        Options { place: Some(place.to_owned()), level: Some(8), ..self.options("x.osm.pbf") }
    }

    fn names(&self) -> Vec<String> {
        let names = areas(&self.path("city"), "areas").into_iter();
        names.map(|area| area["area_name"].as_str().unwrap().to_owned()).collect()
    }
}

/// Makes the folder, and returns the lines for the operator.
fn make(options: Options) -> Result<Vec<String>, SetupError> {
    let prepared = options.prepare()?;
    let written = prepared.write()?;
    let notes = written.notes.clone();
    written.finish()?;
    Ok(notes.into_iter().chain(prepared.lines).collect())
}

fn refused(options: Options) -> String {
    make(options).unwrap_err().to_string()
}

/// The properties of the features of a file.
fn areas(folder: &Path, file: &str) -> Vec<Value> {
    let text = fs::read(folder.join(format!("data/{file}.geojson"))).unwrap();
    let file: Value = serde_json::from_slice(&text).unwrap();
    file["features"].as_array().unwrap().iter().map(|feature| feature["properties"].clone()).collect()
}

/// A country with two provinces; in the first, a district with two of its three municipalities in the place.
fn country() -> Vec<Square> {
    let with =
        |tags: &[(&'static str, &'static str)], square: Square| Square { tags: tags.to_vec(), ..square };
    vec![
        with(&[("ISO3166-1", "XX")], Square::new(1, 2, "Country", (0, 0), 100)),
        with(&[("ISO3166-2", "XX-A")], Square::new(2, 4, "Province", (0, 0), 50)),
        with(&[("ISO3166-2", "XX-B")], Square::new(3, 4, "Far province", (50, 50), 50)),
        with(&[("name:de", "Stadt")], Square::new(4, 6, "Town", (0, 0), 20)),
        Square::new(5, 7, "Half", (0, 0), 10),
        with(&[("name:de", "Nord")], Square::new(6, 8, "North", (0, 0), 10)),
        Square::new(7, 8, "South", (10, 0), 10),
        Square::new(8, 8, "Elsewhere", (60, 60), 10),
    ]
}

#[test]
fn a_place_has_the_areas_inside_with_their_names_larger_areas_and_province() {
    let desk = Desk::with(&country(), &[]);
    let options = Options { language: Some("de".to_owned()), region_code: None, ..desk.of_place("STADT") };
    make(Options { larger_area_level: Some(7), ..options }).unwrap();
    let found = areas(&desk.path("city"), "areas");
    let expected = |id, name, parent| {
        json!({ "area_id": id, "area_name": name, "parent_name": parent, "city_name": "Stadt", "city": "stadt",
            "instance_region_code": "XX-A" })
    };
    assert_eq!(found, [expected(6, "Nord", "Half"), expected(7, "South", "Stadt")]);
    assert_eq!(areas(&desk.path("city"), "regions"), [json!({ "code": "XX-A", "name": "Province" })]);
    assert_eq!(areas(&desk.path("city"), "cities"), [json!({ "code": "stadt", "name": "Stadt" })]);
}

#[test]
fn without_a_province_the_country_is_the_region_and_an_unknown_one_is_asked_for() {
    let mut squares = country();
    squares[1].tags.clear();
    let desk = Desk::with(&squares, &[]);
    make(Options { region_code: None, ..desk.of_place("Town") }).unwrap();
    assert_eq!(areas(&desk.path("city"), "areas")[0]["instance_region_code"], "XX");
    squares[0].tags.clear();
    let desk = Desk::with(&squares, &[]);
    let missing = refused(Options { region_code: None, time_zone: None, ..desk.of_place("Town") });
    assert!(missing.contains("--region-code CODE"), "{missing}");
}

#[test]
fn an_area_without_all_its_ways_is_left_out_and_named_but_not_one_of_the_neighbours() {
    let mut squares = country();
    squares.push(Square { missing: vec![2], ..Square::new(9, 8, "Gap", (10, 10), 10) });
    squares.push(Square { missing: vec![2], ..Square::new(10, 8, "Neighbour", (20, 0), 10) });
    let desk = Desk::with(&squares, &[]);
    let lines = make(desk.of_place("Town")).unwrap().join("\n");
    assert!(lines.contains("Gap (r9), without w92."), "{lines}");
    assert!(!lines.contains("Neighbour"), "{lines}");
    assert_eq!(desk.names(), ["North", "South"]);
}

#[test]
fn a_place_with_one_gap_is_closed_by_a_line_and_one_with_two_needs_its_parts_or_another_way() {
    let mut squares = country();
    squares[3].missing = vec![1];
    let desk = Desk::with(&squares, &[]);
    let lines = make(desk.of_place("Town")).unwrap().join("\n");
    assert!(lines.contains("a straight line closes its gap"), "{lines}");
    assert_eq!(desk.names(), ["North", "South"]);

    squares[3].missing = vec![0, 2];
    let desk = Desk::with(&squares, &[]);
    let why = refused(desk.of_place("Town"));
    for part in ["Town (r4), without w40, w42", "--place-id", "--whole-file", "larger extract"] {
        assert!(why.contains(part), "{part}: {why}");
    }
    let whole = Options { place: None, whole_file: Some(true), ..desk.of_place("") };
    make(whole).unwrap();
    assert_eq!(desk.names(), ["North", "South", "Elsewhere"]);

    squares[3].parts = vec![7, 8];
    let desk = Desk::with(&squares, &[]);
    let lines = make(desk.of_place("Town")).unwrap().join("\n");
    assert!(lines.contains("those that it lists"), "{lines}");
    assert_eq!(desk.names(), ["South", "Elsewhere"]);
}

#[test]
fn a_name_at_two_levels_is_the_one_with_the_most_areas() {
    let mut squares = country();
    squares.push(Square::new(9, 7, "Town", (0, 0), 10));
    let desk = Desk::with(&squares, &[]);
    make(desk.of_place("Town")).unwrap();
    assert_eq!(desk.names(), ["North", "South"]);
}

#[test]
fn two_places_of_one_name_are_told_apart_by_number() {
    let mut squares = country();
    squares.push(Square::new(9, 6, "Town", (60, 60), 20));
    squares.push(Square::new(10, 8, "Beyond", (70, 60), 10));
    let desk = Desk::with(&squares, &[]);
    let why = refused(desk.of_place("Town"));
    for part in ["--place-id", "Town (r4), level 6, in Province", "Town (r9), level 6, in Far province"] {
        assert!(why.contains(part), "{part}: {why}");
    }
    make(Options { place_id: Some("r9".to_owned()), ..desk.of_place("Town") }).unwrap();
    assert_eq!(desk.names(), ["Elsewhere", "Beyond"]);
}

#[test]
fn a_level_without_two_areas_is_refused_with_the_levels_that_there_are() {
    let desk = Desk::with(&country(), &[]);
    let why = refused(Options { level: Some(7), ..desk.of_place("Town") });
    for part in ["--level 7 has 1 closed areas", "level 8 has 2"] {
        assert!(why.contains(part), "{part}: {why}");
    }
    let why = refused(desk.of_place("Atlantis"));
    assert!(why.contains("\"Atlantis\" is not in the extract: it has Country, Province"), "{why}");
}

#[test]
fn the_level_whose_areas_are_smallest_and_cover_the_place_is_the_default() {
    let mut squares = country();
    squares.push(Square::new(9, 10, "Hamlet", (0, 0), 1));
    squares.push(Square::new(10, 10, "Hamlet too", (1, 1), 1));
    let desk = Desk::with(&squares, &[]);
    make(Options { level: None, ..desk.of_place("Town") }).unwrap();
    assert_eq!(desk.names(), ["North", "South"]);
}

#[test]
fn the_base_map_has_the_parts_of_roads_near_the_place() {
    let line = |id, tags: &[(&'static str, &'static str)], at: &[(i64, i64)]| Line {
        id,
        tags: tags.to_vec(),
        at: at.to_vec(),
    };
    let lines = [
        line(90, &[("highway", "primary"), ("name", "Main road")], &[(5, 5), (10, 5), (40, 5), (60, 5)]),
        line(91, &[("waterway", "river"), ("name", "River")], &[(5, 0), (5, 9)]),
        line(92, &[("highway", "primary")], &[(70, 70), (80, 80)]),
        line(93, &[("natural", "water")], &[(1, 1), (2, 1), (2, 2), (1, 1)]),
        line(94, &[("building", "yes")], &[(1, 1), (2, 1)]),
    ];
    let desk = Desk::with(&country(), &lines);
    make(desk.of_place("Town")).unwrap();
    let kinds: Vec<_> =
        areas(&desk.path("city"), "basemap").iter().map(|feature| feature["kind"].clone()).collect();
    assert_eq!(kinds, ["primary", "river", "water"]);
    let text = fs::read_to_string(desk.path("city/data/basemap.geojson")).unwrap();
    assert!(text.contains("[[0.05,0.05],[0.1,0.05],[0.4,0.05]]"), "{text}");
    assert_eq!(areas(&desk.path("city"), "infrastructure")[0]["name"], "River");
}

#[test]
fn a_damaged_extract_is_refused_and_nothing_stays() {
    let whole = extract(&country(), &[]);
    let broken = [
        ("is empty", Vec::new()),
        ("is not a complete .osm.pbf file, download it again", whole[..whole.len() - 5].to_vec()),
        ("is not a complete .osm.pbf file", b"<osm version=\"0.6\"/>".to_vec()),
        ("has no closed boundaries", extract(&[], &[])),
    ];
    for (reason, content) in broken {
        let desk = Desk::new("x.osm.pbf", content);
        let why = refused(desk.of_place("Town"));
        assert!(why.contains(reason), "{reason}: {why}");
        assert_eq!(fs::read_dir(desk.0.path()).unwrap().count(), 1);
    }
    // Any damaged byte gives a message or a city, never a panic of the program.
    for index in 0..whole.len() {
        let mut content = whole.clone();
        content[index] ^= 0x15;
        let desk = Desk::new("x.osm.pbf", content);
        let _ = desk.of_place("Town").prepare();
    }
}

#[test]
fn all_missing_answers_are_named_at_once() {
    let options = Options { yes: true, folder: "/nowhere/city".into(), ..Options::default() };
    let Err(SetupError::Missing(missing)) = options.prepare() else { panic!() };
    assert_eq!(missing, ["--from FILE", "--place NAME", "--agency NAME"]);
}

fn squares_in_geojson(properties: &[Value]) -> String {
    let features = (0..).zip(properties).map(|(index, properties)| {
        let ring: Vec<_> = [(0, 0), (1, 0), (1, 1), (0, 0)].map(|(x, y)| json!([index + x, y])).to_vec();
        json!({ "type": "Feature", "properties": properties, "geometry": { "type": "Polygon", "coordinates": [ring] } })
    });
    json!({ "type": "FeatureCollection", "features": features.collect::<Value>() }).to_string()
}

#[test]
fn a_file_of_ones_own_gives_numbers_names_and_larger_areas_by_its_properties() {
    let rows = [
        json!({ "CODE": "7.0", "NAME": "One", "DISTRICT": "West" }),
        json!({ "CODE": 9, "NAME": "Two", "DISTRICT": "West" }),
    ];
    let desk = Desk::new("own.geojson", squares_in_geojson(&rows));
    let options = || Options {
        place: Some("City".to_owned()),
        language: Some("en".to_owned()),
        ..desk.options("own.geojson")
    };
    assert!(refused(options()).contains("--id-column PROPERTY"));
    let columns = |id: &str| Options {
        id_column: Some(id.to_owned()),
        parent_column: Some("DISTRICT".to_owned()),
        ..options()
    };
    let why = refused(columns("KODE"));
    assert!(
        why.contains("\"KODE\" of --id-column; the first has [\"CODE\", \"NAME\", \"DISTRICT\"]"),
        "{why}"
    );
    make(columns("CODE")).unwrap();
    let found = areas(&desk.path("city"), "areas");
    assert_eq!((&found[0]["area_id"], &found[1]["area_id"]), (&json!("7.0"), &json!(9)));
    assert_eq!(
        (&found[0]["area_name"], &found[0]["parent_name"], &found[0]["city"]),
        (&json!("One"), &json!("West"), &json!("city"))
    );
}

#[test]
fn a_shapefile_is_refused_with_the_command_that_converts_it() {
    let desk = Desk::new("own.shp", "");
    let why = refused(desk.options("own.shp"));
    assert!(why.contains("ogr2ogr -f GeoJSON -t_srs EPSG:4326"), "{why}");
}

#[test]
fn properties_of_ones_own_file_are_kept_and_an_area_may_lack_its_name() {
    let rows =
        [json!({ "id": 7, "name": null, "city": "own", "people": 12 }), json!({ "id": 9, "name": "Two" })];
    let desk = Desk::new("own.geojson", squares_in_geojson(&rows));
    make(Options { place: Some("City".to_owned()), ..desk.options("own.geojson") }).unwrap();
    let found = areas(&desk.path("city"), "areas");
    assert_eq!(
        (&found[0]["area_name"], &found[0]["city"], &found[0]["people"]),
        (&json!(""), &json!("own"), &json!(12))
    );
    assert_eq!((&found[1]["area_name"], &found[1]["city"]), (&json!("Two"), &json!("city")));
}

#[test]
fn a_second_run_takes_the_options_of_the_folder_and_keeps_what_was_edited() {
    let desk = Desk::with(&country(), &[]);
    make(desk.of_place("Town")).unwrap();
    let (settings, regions) = (desk.path("city/Rocket.toml"), desk.path("city/country/regions.csv"));
    let before = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, before.clone() + "# mine\n").unwrap();
    fs::remove_file(&regions).unwrap();
    let again = |agency: &str| Options {
        folder: desk.path("city"),
        yes: true,
        agency: Some(agency.to_owned()),
        ..Options::default()
    };
    let lines = make(again("Other")).unwrap().join("\n");
    assert!(lines.contains("Rocket.toml was edited and is kept"), "{lines}");
    assert_eq!(fs::read_to_string(&settings).unwrap(), before.clone() + "# mine\n");
    assert!(fs::read_to_string(desk.path("city/.Rocket.toml.new")).unwrap().contains("agency = \"Other\""));
    assert!(regions.is_file());
    // Once the edit is undone, the file is replaced again.
    fs::write(&settings, fs::read(desk.path("city/.Rocket.toml.new")).unwrap()).unwrap();
    make(again("Third")).unwrap();
    assert!(fs::read_to_string(&settings).unwrap().contains("agency = \"Third\""));
}

#[test]
fn a_folder_of_something_else_is_refused_and_left_alone() {
    let desk = Desk::with(&country(), &[]);
    for folder in ["city", "city.part"] {
        fs::create_dir(desk.path(folder)).unwrap();
        fs::write(desk.path(folder).join("letter.txt"), "mine").unwrap();
        let why = refused(desk.of_place("Town"));
        assert!(why.contains(folder), "{why}");
        assert_eq!(fs::read_to_string(desk.path(folder).join("letter.txt")).unwrap(), "mine");
        fs::remove_dir_all(desk.path(folder)).unwrap();
    }
}

#[test]
fn a_folder_that_is_not_finished_is_removed() {
    let desk = Desk::with(&country(), &[]);
    let prepared = desk.of_place("Town").prepare().unwrap();
    let written = prepared.write().unwrap();
    assert!(desk.path("city.part/Rocket.toml").is_file() && !desk.path("city").exists());
    // Another run at the same time, or after a kill, touches nothing.
    assert!(prepared.write().unwrap_err().to_string().contains("city.part: exists"));
    drop(written);
    assert_eq!(fs::read_dir(desk.0.path()).unwrap().count(), 1);
}

#[test]
fn names_with_quotes_and_lines_stay_texts() {
    let mut squares = country();
    squares[3].name = "To\"wn, \\ or\nnot";
    let desk = Desk::with(&squares, &[]);
    make(Options { place_id: Some("r4".to_owned()), ..desk.of_place("") }).unwrap();
    let settings: toml::Table = fs::read_to_string(desk.path("city/Rocket.toml")).unwrap().parse().unwrap();
    let name = settings["default"]["siaga"]["site"]["name"].as_str().unwrap();
    assert!(name.starts_with("Siaga To\"wn, \\ or"), "{name}");
    let rows = fs::read_to_string(desk.path("city/country/regions.csv")).unwrap();
    assert_eq!(rows.lines().count(), 3, "{rows}");
}

#[test]
fn a_lake_is_drawn_whole_with_its_islands_or_not_at_all() {
    let lake = |id, name, tags: &[(&'static str, &'static str)], at, size| Square {
        tags: [("type", "multipolygon"), ("boundary", ""), ("natural", "water")]
            .iter()
            .chain(tags)
            .copied()
            .collect(),
        ..Square::new(id, 8, name, at, size)
    };
    // Only one corner of the lake is near the place; the second lake lacks a shore.
    let mut squares = country();
    squares.push(lake(9, "Lake", &[], (19, 19), 30));
    squares.push(Square { missing: vec![3], ..lake(10, "Open lake", &[], (5, 5), 5) });
    let desk = Desk::with(&squares, &[]);
    make(desk.of_place("Town")).unwrap();
    let drawn = areas(&desk.path("city"), "basemap");
    assert_eq!(drawn, [json!({ "kind": "water", "name": "Lake" })]);
    let text = fs::read_to_string(desk.path("city/data/basemap.geojson")).unwrap();
    assert!(text.contains("[0.49,0.49]"), "{text}");
}

#[test]
fn a_long_straight_line_does_not_close_a_border() {
    let mut squares = country();
    // Three of four sides are not there: the line would be as long as what is known.
    squares[3].missing = vec![1, 2, 3];
    let desk = Desk::with(&squares, &[]);
    let why = refused(desk.of_place("Town"));
    assert!(why.contains("has gaps in this extract"), "{why}");
}

#[test]
fn a_negative_size_of_a_block_ends_the_run() {
    // The size of the second block's content, in its header: field 3.
    let mut content = extract(&country(), &[]);
    let at = content.windows(8).position(|bytes| bytes == b"\x07OSMData").unwrap() + 8;
    content.splice(at + 1..at + 3, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]);
    let header = content[..at].iter().rposition(|byte| *byte == 0x0a).unwrap();
    content[header - 1] += 8;
    let desk = Desk::new("x.osm.pbf", content);
    let why = refused(desk.of_place("Town"));
    assert!(why.contains("is damaged") || why.contains("is not a complete"), "{why}");
}

#[test]
fn another_address_in_a_second_run_changes_what_follows_from_it() {
    let desk = Desk::with(&country(), &[]);
    make(desk.of_place("Town")).unwrap();
    let again = Options {
        folder: desk.path("city"),
        yes: true,
        base_url: Some("https://flood.example".to_owned()),
        ..Options::default()
    };
    make(again).unwrap();
    let settings = fs::read_to_string(desk.path("city/Rocket.toml")).unwrap();
    for part in
        ["base_url = \"https://flood.example/v1\"", "contact = \"https://flood.example/\"", "trusted_proxies"]
    {
        assert!(settings.contains(part), "{part}: {settings}");
    }
    assert!(desk.path("city/Caddyfile").is_file());
}

#[test]
fn texts_outside_indonesia_name_neither_its_electricity_company_nor_its_neighbourhoods() {
    let desk = Desk::with(&country(), &[]);
    make(Options { region_code: None, language: Some("de".to_owned()), ..desk.of_place("Town") }).unwrap();
    for language in ["de", "en"] {
        let text =
            fs::read_to_string(desk.path("city/country/texts").join(format!("{language}.json"))).unwrap();
        assert!(!text.contains("PLN") && !text.contains("RW") && !text.contains("Jakarta"), "{language}");
        let texts: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(texts["desk"]["search_example"], "Nord");
    }
}
