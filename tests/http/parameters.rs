//! Every wrong parameter is a 400 with its name and the allowed values.

use rocket::http::{Method, Status};

use crate::suite::support::{Siaga, assert_invalid};

/// Addresses below the base address, the wrong parameter, and the expected message.
const WRONG: [(&str, &str, &str); 42] = [
    ("floods?city=jkt", "city", "one of [bdg, jbd, sby]"),
    ("floods?city=jbd&city=jbd", "city", "given once"),
    ("floods?city=%FF", "city", "UTF-8"),
    ("floods?format=csv", "format", "one of [json, xml]"),
    ("floods?geoformat=kml", "geoformat", "one of [topojson, geojson, cap]"),
    ("floods?minimum_state=0", "minimum_state", "one of [1, 2, 3, 4]"),
    ("floods?area_id=x&time=2016-12-19T13:41:35Z", "area_id", "whole number"),
    ("floods?area_id=5&time=2016-12-19T20:41:35+07:00", "time", "%2B"),
    ("floods?area_id=5&time=now", "time", "YYYY-MM-DD"),
    ("floods/states?city=x", "city", "must be one of"),
    ("areas?level=street", "level", "\"level\" must be one of [area, parent, city]"),
    ("areas?ids=five", "ids", "must be 1 to 100 area_id with commas between them"),
    ("areas/at?lat=106.8&lng=-6.2", "lat", "\"lat\" must be a number of degrees from -90 to 90"),
    ("areas/at?lat=-6.2", "lng", "\"lng\" is required"),
    ("admin?admin=JK", "admin", "ID-JK"),
    ("reports?timeperiod=0", "timeperiod", "from 1 to 604800"),
    ("reports?disaster=storm", "disaster", "one of [flood, earthquake, fire, haze, wind, volcano, prep]"),
    ("reports?admin=ID-XX", "admin", "ID-AC, "),
    ("reports?format=xml", "format", "one of [json]"),
    ("reports?geoformat=cap", "geoformat", "one of [topojson, geojson]"),
    ("reports?training=1", "training", "one of [true, false]"),
    ("stats/reportsSummary?city=ID-XX", "city", "one of [bdg, jbd, sby, ID-AC, "),
    ("stats/floodedRegionsSummary?city=x", "city", "one of"),
    ("infrastructure?type=dams", "type", "\"type\" must be one of [floodgates, pumps, waterways]"),
    ("infrastructure?city=sby", "city", "one of [ID-JK, bdg, jbd]"),
    ("floodgauges?city=jbd", "city", "one of [ID-JK]"),
    ("basemap", "zoom", "\"zoom\" must be a whole number from 0 to 22"),
    ("basemap?zoom=23", "zoom", "\"zoom\" must be a whole number from 0 to 22"),
    ("basemap?zoom=12&bbox=1,2,3", "bbox", "\"bbox\" must be four numbers with commas between them"),
    ("alerts?content=all", "content", "must be one of [inline]"),
    ("alerts/history", "area", "is required"),
    ("alerts/history?area=x", "area", "whole number"),
    ("changes?since=x", "since", "must be a cursor"),
    ("changes?wait=31", "wait", "from 0 to 30"),
    ("cities/bounds?admin=ID-AC&lat=0&long=0", "admin", "\"admin\" must be one of [ID-JB, ID-JK]"),
    ("cities/bounds?lat=0&long=0", "admin", "\"admin\" is required"),
    ("cities/bounds?admin=ID-JK&lat=0&long=181", "long", "from -180 to 180"),
    ("regions/bounds?admin=jbd", "admin", "one of [sby, ID-JB/bdg/BANDUNG, "),
    ("regions/bounds", "admin", "\"admin\" is required"),
    ("floods.geojson?geoformat=cap", "geoformat", "must be one of [geojson]"),
    ("floods.geojson?format=xml", "format", "must be one of [json]"),
    ("alerts?format=html&lang=de", "lang", "must be one of"),
];

/// Parts of paths that are wrong.
const WRONG_PATHS: [(&str, &str, &str); 5] = [
    ("reports/0", "id", "must be a whole number"),
    ("reports/9223372036854775808", "id", "must be a whole number"),
    ("areas/five", "localAreaId", "must be a whole number"),
    ("infrastructure/dams", "type", "\"type\" must be one of [floodgates, pumps, waterways]"),
    ("cards/abc", "cardId", "7 to 14 characters"),
];

fn assert_wrong(siaga: &Siaga, address: &str, source: &str, key: &str, expected: &str) {
    let response = siaga.request(Method::Get, address, "");
    assert_eq!(response.status(), Status::BadRequest, "{address}");
    assert_invalid(response, source, &[key], expected);
}

#[test]
fn a_wrong_parameter_is_400_with_its_name_and_the_allowed_values() {
    let siaga = Siaga::start();
    for (source, wrong) in [("query", &WRONG[..]), ("params", &WRONG_PATHS)] {
        for (address, key, expected) in wrong {
            assert_wrong(&siaga, &format!("/v1/{address}"), source, key, expected);
        }
    }
}

#[test]
fn start_and_end_are_required_and_validated_on_every_route_of_a_period() {
    let siaga = Siaga::start();
    let (start, end) = ("start=2016-12-14T00:00:00Z", "end=2016-12-15T00:00:00Z");
    for route in ["floods/archive", "floods/timeseries", "reports/archive", "reports/timeseries"] {
        for (query, key, expected) in [
            (String::new(), "start", "is required"),
            (start.to_owned(), "end", "is required"),
            (format!("{start}&end="), "end", "is required"),
            (format!("start=yesterday&{end}"), "start", "YYYY-MM-DDTHH:mm:ss"),
            (format!("start=2016-12-14T00:00:00+0700&{end}"), "start", "encode + as %2B"),
            (format!("start=2016-12-16T00:00:00Z&{end}"), "end", "must not be before"),
            (format!("{start}&end=2017-12-15T00:00:01Z"), "end", "at most 366d after"),
        ] {
            assert_wrong(&siaga, &format!("/v1/{route}?{query}"), "query", key, expected);
        }
    }
}

#[test]
fn an_invalid_bbox_is_400_on_every_route_with_a_bbox() {
    let siaga = Siaga::start();
    let expected = "\"bbox\" must be four numbers with commas between them: west, south, east and north in degrees, longitudes \
                from -180 to 180, latitudes from -90 to 90";
    for wrong in
        ["1,2,3", "1,2,3,4,5", "a,b,c,d", "nan,0,1,1", "179,-20,181,-10", "-181,-20,-179,-10", "0,-91,1,0"]
    {
        for path in ["floods", "reports", "areas", "infrastructure", "infrastructure/pumps"] {
            assert_wrong(&siaga, &format!("/v1/{path}?bbox={wrong}"), "query", "bbox", expected);
        }
    }
}
