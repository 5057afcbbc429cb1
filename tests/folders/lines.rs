//! Rows are reported with their first line.

use std::fmt::Write as _;

use siaga::folder::{DatasetError, Folder, FolderFile, FolderRow};
use siaga::model::Card;

use super::faults::fault;
use super::support::{area, areas_of, folder_of};

/// The lines the areas of a file begin on.
fn lines_of(content: &str) -> Vec<u64> {
    let folder = folder_of(&[(FolderFile::Areas, content)]);
    areas_of(&Folder::open(folder.path()).unwrap()).unwrap().iter().map(|row| row.line).collect()
}

#[test]
fn a_feature_has_the_line_it_begins_on_wherever_it_stands() {
    let [one, two, three] = ["1", "2", "3"].map(area);
    let spread = two.replace(",\"geometry\"", ",\n\"geometry\"");
    let lf = format!(
        "{{\n\"features\" :[\n{one}, {spread}\n\n,\n\n{three}],\n\"crs\":{{\"a\":[1]}},\"type\":\"FeatureCollection\"}}\n"
    );
    assert_eq!(lines_of(&lf), [3, 3, 8]);
    assert_eq!(lines_of(&lf.replace('\n', "\r\n")), [3, 3, 8]);
    assert_eq!(lines_of(&format!("\u{feff}\n\n{lf}")), [5, 5, 10]);
}

#[test]
fn a_file_that_is_not_a_feature_collection_is_refused_wherever_that_shows() {
    let one = area("1");
    let last = format!("{{\"features\":[\n{one}\n],\n\"type\":\"Feature\"}}");
    let twice = "{\"type\":\"FeatureCollection\",\"features\":[],\n\"features\":[]}";
    let within = format!("{{\"type\":\"FeatureCollection\",\"features\":[\n{one},\n{{\"a\":\n?}}]}}");
    for (content, reason) in [
        (&*last, "line 1: type must be FeatureCollection, not \"Feature\""),
        ("{\"type\":\"Topology\",\n\"features\":?", "line 1: type must be FeatureCollection, not"),
        ("{\n\"features\":[]}", "line 2: missing field `type`"),
        ("{\"type\":\"FeatureCollection\"}", "line 1: missing field `features`"),
        (twice, "line 2: duplicate field `features`"),
        ("{\"type\":\"FeatureCollection\",\n\"features\":{}}", "line 2: "),
        ("{\"type\":\"FeatureCollection\",\"features\":[]}\n{}", "line 2: trailing characters"),
        (&within, "line 4: expected value"),
    ] {
        let error = fault(&[(FolderFile::Areas, content)]);
        assert!(error.starts_with(&format!("areas.geojson, {reason}")), "{content}: {error}");
    }
}

#[test]
fn a_row_has_the_line_it_begins_on_whatever_its_fields_hold() {
    const HEADER: &str = "card_id,pkey,username,network,language,network_data,report\n";
    let few = format!(
        "\n{HEADER}\n\ncard-one,1,\"a\n\nb\",n,l,,\n\ncard-two,2,u,n,\"l\n\",,\ncard-three,3,u,n,l,,\n"
    );
    let mut many = HEADER.to_owned();
    for number in 1..2000 {
        write!(many, "card-{number:04},{number},\"{}\n\",n,l,,\n\n", "☔".repeat(number % 50)).unwrap();
    }
    let expected = (1..2000).map(|number| 3 * number - 1).collect();
    for (rows, expected) in [(few, vec![5, 9, 11]), (many, expected)] {
        for content in [rows.replace('\n', "\r\n"), format!("\u{feff}{rows}")] {
            let folder = folder_of(&[(FolderFile::Cards, &content)]);
            let mut lines = Vec::new();
            let each = |row: FolderRow<Card>| {
                lines.push(row.line);
                Ok::<_, DatasetError>(())
            };
            Folder::open(folder.path()).unwrap().cards(each).unwrap();
            assert_eq!(lines, expected, "{content:.200?}");
        }
    }
}
