//! What single files may say, and what a wrong row is answered.

use std::sync::Arc;

use siaga::folder::FolderFile;
use siaga::model::{FloodState, ManualClock};
use siaga::stores::CardStore;
use siaga::stores::memory::MemoryStore;

use super::support::{area, folder_of, load};
use crate::fixture::{self, block_on};

const REPORTS: &str = r#"{"type":"FeatureCollection","features":[
{"type":"Feature","properties":{"pkey":"17","created_at":"2016-12-19T10:00:00Z","source":"grasp","disaster_type":"flood"},"geometry":{"type":"Point","coordinates":[0.5,0.2]}}
]}"#;

const CARDS: &str = "card_id,pkey,username,network,language,network_data,report
card-one,1, Ibu ,telegram,id,\"{\"\"a\"\": [1]}\",17
card-two,2,,,,,
";

const POSTS: &str = "post_id,pkey\n-4711,17\n";

#[test]
fn a_folder_gives_its_cards_and_posts() {
    let folder = folder_of(&[
        (FolderFile::Reports, REPORTS),
        (FolderFile::Cards, CARDS),
        (FolderFile::PartnerPosts, POSTS),
    ]);
    let dataset = load(folder.path()).unwrap();
    let [one, two] = &dataset.cards[..] else { panic!("two") };
    assert_eq!((one.pkey, one.id.as_str(), one.holder.username.as_str()), (1, "card-one", " Ibu "));
    assert_eq!(one.holder.network_data.as_ref().unwrap().get(), "{\"a\": [1]}");
    assert_eq!(one.report.unwrap().number(), 17);
    assert!(two.holder.network_data.is_none() && two.report.is_none());
    let [post] = &dataset.partner_posts[..] else { panic!("one") };
    assert_eq!((post.post_id, post.report.number()), (-4711, 17));
}

#[test]
fn a_wrong_card_or_post_is_named_by_file_line_and_reason() {
    for (file, from, to, line, reason) in [
        (FolderFile::Cards, "card-one", "card", 2, "card_id must be of 7 to 14 characters"),
        (FolderFile::Cards, "card-two", "card-one", 3, "card_id is that of line 2 already"),
        (FolderFile::Cards, "card-two,2", "card-two,1", 3, "pkey is that of line 2 already"),
        (
            FolderFile::Cards,
            "card-two,2",
            "card-two,0",
            3,
            "pkey must be a whole number from 1 to 9223372036854775807",
        ),
        (FolderFile::Cards, "card-two,2", "card-two,9223372036854775808", 3, "pkey must be a whole number"),
        (FolderFile::Cards, " Ibu ", "Ibu\0", 2, "username must be a text without NUL characters"),
        (FolderFile::Cards, "telegram", "\0", 2, "network must be a text without NUL characters"),
        (FolderFile::Cards, "[1]", "[", 2, "network_data must be a JSON object or empty"),
        (FolderFile::Cards, "\"{\"\"a\"\": [1]}\"", "[1]", 2, "network_data must be a JSON object or empty"),
        (FolderFile::Cards, "[1]", "\"\"\\u0000\"\"", 2, "network_data must not contain NUL characters"),
        (
            FolderFile::Cards,
            "[1]",
            "[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]",
            2,
            "network_data must be nested at most 16 levels deep",
        ),
        (
            FolderFile::Cards,
            ",17",
            ",x",
            2,
            "report must be a whole number from 1 to 9223372036854775807 or empty",
        ),
        (FolderFile::Cards, ",17", ",18", 2, "report 18 is no known report"),
        (FolderFile::Cards, "network_data", "data", 1, "the column network_data is missing"),
        (
            FolderFile::PartnerPosts,
            "-4711",
            "x",
            2,
            "post_id must be a whole number from -9223372036854775808",
        ),
        (FolderFile::PartnerPosts, "-4711", "9223372036854775808", 2, "post_id must be a whole number"),
        (FolderFile::PartnerPosts, "17", "", 2, "pkey must be a whole number from 1"),
        (FolderFile::PartnerPosts, "17", "18", 2, "pkey 18 is no known report"),
        (FolderFile::PartnerPosts, "17\n", "17\n-4711,1\n", 3, "post_id is that of line 2 already"),
        (FolderFile::PartnerPosts, "17\n", "17\n4711,17\n", 3, "pkey is that of line 2 already"),
        (FolderFile::PartnerPosts, "pkey", "report", 1, "the column pkey is missing"),
    ] {
        let change = |of, content: &str| {
            assert!(of != file || content.contains(from), "{from}");
            (of, if of == file { content.replacen(from, to, 1) } else { content.to_owned() })
        };
        let files = [
            change(FolderFile::Reports, REPORTS),
            change(FolderFile::Cards, CARDS),
            change(FolderFile::PartnerPosts, POSTS),
        ];
        let folder = folder_of(&files.each_ref().map(|(file, content)| (*file, content.as_str())));
        let error = load(folder.path()).map(drop).unwrap_err();
        assert!(error.starts_with(&format!("{file}, line {line}: {reason}")), "{to}: {error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}

#[test]
fn a_change_has_its_subject_and_the_last_of_one_moment_counts() {
    let areas = format!("{{\"type\":\"FeatureCollection\",\"features\":[{},{}]}}", area("7"), area("3"));
    let states = "area_id,state,changed_at,username,subject
7,1,2016-12-19T10:00:00Z,,first
3, 2 ,2016-12-19T10:00:00Z,bpbd,key
7,4,2016-12-19T09:00:00Z,,
7,,2016-12-19T17:00:00+07:00,\" Ibu\", last
";
    let folder = folder_of(&[(FolderFile::Areas, &areas), (FolderFile::FloodStates, states)]);
    let log = load(folder.path()).unwrap().flood_log;
    let log: Vec<_> = log
        .iter()
        .map(|change| {
            let state = change.state.map(FloodState::code);
            (change.area.number(), state, change.by.subject.as_str(), change.by.username.as_deref())
        })
        .collect();
    assert_eq!(
        log,
        [(7, Some(4), "import", None), (3, Some(2), "key", Some("bpbd")), (7, None, " last", Some(" Ibu"))]
    );
}

#[test]
fn a_gauge_whose_province_is_null_has_none_and_one_that_says_nothing_is_located() {
    let regions = r#"{"type":"FeatureCollection","features":[
{"type":"Feature","properties":{"code":"ID-JK","name":"DKI Jakarta"},"geometry":{"type":"Polygon","coordinates":[[[0,0],[9,0],[9,9],[0,9],[0,0]]]}}
]}"#;
    for (given, expected) in [
        ("", Some("ID-JK")),
        (",\"instance_region_code\":\"\"", Some("ID-JK")),
        (",\"instance_region_code\":null", None),
        (",\"instance_region_code\":\"ID-JB\"", Some("ID-JB")),
    ] {
        let gauges = format!(
            r#"{{"type":"FeatureCollection","features":[{{"type":"Feature","properties":{{"gaugeid":" T","gaugenameid":"A"{given}}},"geometry":{{"type":"Point","coordinates":[1,1]}}}}]}}"#
        );
        let folder = folder_of(&[(FolderFile::Regions, regions), (FolderFile::Gauges, &gauges)]);
        let dataset = load(folder.path()).unwrap();
        assert_eq!(dataset.gauges[0].gauge.region_code.as_deref(), expected, "{given}");
        assert_eq!(dataset.gauges[0].gauge.id, " T", "a name is as it stands there");
    }
}

#[test]
fn a_new_card_of_the_memory_store_counts_on_from_the_highest() {
    let folder = folder_of(&[
        (FolderFile::Reports, REPORTS),
        (FolderFile::Cards, &CARDS.replace("card-one,1", "card-one,99")),
    ]);
    let clock = Arc::new(ManualClock::new(fixture::now()));
    let store = MemoryStore::new(load(folder.path()).unwrap(), clock);
    let holder = || fixture::cards()[0].holder.clone();
    let made = [(); 2].map(|()| block_on(store.create_card(holder())).unwrap().pkey);
    assert_eq!(made, [100, 101]);
}
