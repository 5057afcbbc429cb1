//! Reading of folders.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use siaga::folder::{Dataset, FolderFile, FolderRules};
use siaga::model::{Attributes, FloodState, InfrastructureKind, ManualClock};
use siaga::stores::CardStore;
use siaga::stores::memory::MemoryStore;

use super::samples::{AREAS, CARDS, REGIONS, REPORTS, SAMPLES};
use super::support::{POINT, collection, feature, folder_of, load, loaded};
use crate::fixture::{self, block_on};

#[test]
fn unknown_properties_of_an_area_become_its_attributes_unchanged() {
    for (more, expected) in [
        ("", None),
        (
            ",\"Z\":1.50,\"A\":{ \"b\" :\n[1e2, \"x y\"] },\"none\":null",
            Some(r#"{"Z":1.50,"A":{"b":[1e2,"x y"]},"none":null}"#),
        ),
        (r#","attributes":{"b":1,"a":2}"#, Some(r#"{"b":1,"a":2}"#)),
        (r#","c":3,"attributes":{"b":1,"a":2},"a":9"#, Some(r#"{"b":1,"a":2,"c":3}"#)),
        (r#","attributes":null"#, None),
        (r#","attributes":{},"a":1"#, Some(r#"{"a":1}"#)),
        (r#","attributes":"text""#, Some(r#"{"attributes":"text"}"#)),
        (r#","state":2,"last_updated":"2016-12-19T13:41:35.000Z""#, None),
        (r#","a":1,"b":2,"a":3"#, Some(r#"{"b":2,"a":3}"#)),
    ] {
        let areas = AREAS.replace(r#""city":"jbd"}"#, &format!(r#""city":"jbd"{more}}}"#));
        let read = loaded(&[(FolderFile::Areas, &areas)]).unwrap();
        let found = read.places.areas()[1].attributes.as_ref().map(Attributes::as_json);
        assert_eq!(found, expected, "{more}");
    }
}

#[test]
fn a_folder_is_read_with_places_history_gauges_reports_cards_and_posts() {
    let folder = folder_of(&SAMPLES);
    fs::write(folder.path().join("notes.txt"), b"\xff ignored").unwrap();
    let dataset = load(folder.path()).unwrap();
    let areas = dataset.places.areas();
    let (three, seven) = (&areas[0], &areas[1]);
    assert_eq!((three.id.number(), &*three.name, three.geometry().type_name()), (3, "", "MultiPolygon"));
    assert_eq!((seven.id.number(), &*seven.city_code), (7, "jbd"));
    let ring: Vec<_> = seven.outline.0[0].exterior().coords().map(|at| (at.x, at.y)).collect();
    let wound = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0), (0.0, 0.0)];
    assert_eq!(ring, wound, "rings are wound as RFC 7946 asks");
    assert_eq!(dataset.places.regions()[0].name, "DKI Jakarta");
    assert_eq!(dataset.flood_log[2].at.to_string(), "2016-12-19T14:00:00.500Z");
    assert_eq!(dataset.flood_log[2].by.username.as_deref(), Some("O'Neil, \"x\""));
    let [pump, river] = dataset.places.infrastructure() else { panic!("two") };
    assert_eq!((pump.kind, pump.tags.local_area_id.unwrap().number()), (InfrastructureKind::Pumps, 769));
    assert_eq!(river.tags.local_area_id.unwrap().number(), 7, "located where it begins");
    let [a, b] = &dataset.gauges[..] else { panic!("two") };
    assert_eq!((a.gauge.id.as_str(), &*a.observations[0].label), ("TMA1", "SIAGA IV"));
    assert_eq!((b.observations[0].level, &*b.observations[0].label), (-12.5, "SIAGA I !"));
    let [flood, wind] = &dataset.reports[..] else { panic!("two") };
    assert_eq!((flood.key.number(), wind.key.number()), (17, 18), "counted on from the highest");
    assert_eq!(flood.tags.local_area_id.unwrap().number(), 3, "as the file has it");
    assert_eq!(wind.tags.local_area_id.unwrap().number(), 7, "located");
    assert_eq!(
        flood.content.report_data.as_ref().unwrap().get(),
        r#"{"volcanicSigns":[2],"report_type":"flood","flood_depth":5,"impact":9,"other":"3"}"#,
        "as the types that clients read"
    );
    assert_eq!((&*flood.content.text, &*wind.content.text), ("line\nline", ""));
    assert_eq!((flood.content.is_training, wind.content.is_training), (false, true));
    assert_eq!((&flood.content.partner_code, wind.content.partner_code.as_deref()), (&None, Some("PMI")));
    assert_eq!(wind.content.partner_icon.as_deref(), Some("https://example.org/1.png"));
    let [one, two] = &dataset.cards[..] else { panic!("two") };
    assert_eq!((one.pkey, one.id.as_str(), one.holder.username.as_str()), (1, "card-one", " Ibu "));
    assert_eq!(one.holder.network_data.as_ref().unwrap().get(), "{\"a\": [1]}");
    assert_eq!(one.report.unwrap().number(), 17);
    assert!(two.holder.network_data.is_none() && two.report.is_none());
    let [post] = &dataset.partner_posts[..] else { panic!("one") };
    assert_eq!((post.post_id, post.report.number()), (-4711, 17));
}

#[test]
fn every_file_is_optional_and_in_utf_8_perhaps_with_a_byte_order_mark() {
    let regions = loaded(&[(FolderFile::Regions, REGIONS)]).unwrap();
    assert_eq!((regions.places.areas().len(), regions.places.regions().len()), (0, 1));
    let marked = format!("\u{feff}{AREAS}");
    assert_eq!(loaded(&[(FolderFile::Areas, &marked)]).unwrap().places.areas().len(), 2);
    let states = "area_id,state,changed_at\nGROGOL";
    for (file, content) in [(FolderFile::Areas, AREAS), (FolderFile::FloodStates, states)] {
        let mut bytes = content.as_bytes().to_vec();
        bytes[content.find("GROGOL").unwrap()] = 0xff;
        let error = loaded(&[(file, bytes)]).map(drop).unwrap_err();
        assert_eq!(error, format!("{file}, line 2: is not UTF-8"));
    }
}

#[test]
fn a_path_that_is_not_a_data_folder_is_refused_with_the_expected_files() {
    let refused = |path: &str| {
        let loaded = Dataset::load(path, &FolderRules::default(), fixture::now());
        loaded.map(drop).unwrap_err().to_string()
    };
    for path in ["nowhere", "Demo", ""] {
        let error = refused(path);
        assert!(error.starts_with("siaga.dataset must be demo, empty or a folder"), "{error}");
    }
    assert!(!Path::new("nowhere").exists());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    for (name, found) in [
        ("", "the folder is empty"),
        ("rw.shp", "found rw.shp"),
        ("Areas.GeoJSON", "found Areas.GeoJSON, rw.shp"),
    ] {
        if !name.is_empty() {
            fs::write(folder.path().join(name), AREAS).unwrap();
        }
        let error = refused(path);
        assert!(
            error.starts_with(&format!("{path} holds no data set: looked for areas.geojson,")),
            "{error}"
        );
        assert!(error.ends_with(found), "{error}");
        assert_eq!(Dataset::find(path).unwrap_err().to_string(), error);
    }
}

#[test]
fn a_change_keeps_its_subject_and_the_last_one_of_a_moment_counts() {
    let states = "area_id,state,changed_at,username,subject
7,1,2016-12-19T10:00:00Z,,first
3, 2 ,2016-12-19T10:00:00Z,bpbd,key
7,4,2016-12-19T09:00:00Z,,
7,,2016-12-19T17:00:00+07:00,\" Ibu\", last
";
    let log = loaded(&[(FolderFile::Areas, AREAS), (FolderFile::FloodStates, states)]).unwrap().flood_log;
    let log = log.iter().map(|change| {
        let (state, by) = (change.state.map(FloodState::code), &change.by);
        (change.area.number(), state, by.subject.as_str(), by.username.as_deref())
    });
    let expected =
        [(7, Some(4), "import", None), (3, Some(2), "key", Some("bpbd")), (7, None, " last", Some(" Ibu"))];
    assert_eq!(log.collect::<Vec<_>>(), expected);
}

#[test]
fn a_gauge_with_a_null_province_has_none_and_one_without_the_property_is_located() {
    for (given, expected) in [
        ("", Some("ID-JK")),
        (",\"instance_region_code\":\"\"", Some("ID-JK")),
        (",\"instance_region_code\":null", None),
        (",\"instance_region_code\":\"ID-JB\"", Some("ID-JB")),
    ] {
        let gauge = feature(&format!(r#""gaugeid":" T","gaugenameid":"A"{given}"#), POINT);
        let gauges = collection(&[gauge]);
        let dataset = loaded(&[(FolderFile::Regions, REGIONS), (FolderFile::Gauges, &gauges)]).unwrap();
        assert_eq!(dataset.gauges[0].gauge.region_code.as_deref(), expected, "{given}");
        assert_eq!(dataset.gauges[0].gauge.id, " T", "a name is as it stands there");
    }
}

#[test]
fn a_new_card_of_the_memory_store_gets_the_number_after_the_highest() {
    let cards = CARDS.replace("card-one,1", "card-one,99");
    let dataset = loaded(&[(FolderFile::Reports, REPORTS), (FolderFile::Cards, &cards)]).unwrap();
    let store = MemoryStore::new(dataset, Arc::new(ManualClock::new(fixture::now())));
    let holder = || fixture::cards()[0].holder.clone();
    let keys = [(); 2].map(|()| block_on(store.create_card(holder())).unwrap().pkey);
    assert_eq!(keys, [100, 101]);
}
