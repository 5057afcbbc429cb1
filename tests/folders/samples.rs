//! Files with a few rows of each kind.

use siaga::folder::FolderFile;

/// A valid folder.
pub(crate) const SAMPLES: [(FolderFile, &str); 9] = [
    (FolderFile::Areas, AREAS),
    (FolderFile::Regions, REGIONS),
    (FolderFile::FloodStates, STATES),
    (FolderFile::Infrastructure, INFRASTRUCTURE),
    (FolderFile::Gauges, GAUGES),
    (FolderFile::GaugeReadings, READINGS),
    (FolderFile::Reports, REPORTS),
    (FolderFile::Cards, CARDS),
    (FolderFile::PartnerPosts, POSTS),
];

pub(crate) const AREAS: &str = r#"{"type":"FeatureCollection","features":[
{"type":"Feature","properties":{"area_id":"7","geom_id":"31","area_name":"RW 01","parent_name":"GROGOL","city_name":"JAKARTA","instance_region_code":"ID-JK","city":"jbd"},"geometry":{"type":"Polygon","coordinates":[[[0,0],[0,1],[1,1],[1,0],[0,0]]]}},
{"type":"Feature","properties":{"area_id":3,"area_name":null},"geometry":{"type":"MultiPolygon","coordinates":[[[[5,5],[6,5],[6,6],[5,5]]],[[[7,7],[8,7],[8,8],[7,7]]]]}}
]}"#;

pub(crate) const REGIONS: &str = r#"{"type":"FeatureCollection","features":[
{"type":"Feature","properties":{"code":"ID-JK","name":"DKI Jakarta"},"geometry":{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}}
]}"#;

pub(crate) const STATES: &str = "area_id,state,changed_at,username
7,3,2016-12-19T20:00:00+07:00,bpbd
3,1,2016-12-18T00:00:00Z,
7,,2016-12-19T14:00:00.5Z,\"O'Neil, \"\"x\"\"\"
";

const INFRASTRUCTURE: &str = r#"{"type":"FeatureCollection","features":[
{"type":"Feature","properties":{"type":"pumps","name":"PA","tags":{"instance_region_code":"ID-JK","local_area_id":"769"}},"geometry":{"type":"Point","coordinates":[5,5,12.5]}},
{"type":"Feature","properties":{"type":"waterways","name":"Kali"},"geometry":{"type":"LineString","coordinates":[[0.5,0.2],[9,9]]}}
]}"#;

const GAUGES: &str = r#"{"type":"FeatureCollection","features":[
{"type":"Feature","properties":{"gaugeid":"TMA2","gaugenameid":"B","instance_region_code":"ID-JK"},"geometry":{"type":"Point","coordinates":[1,1]}},
{"type":"Feature","properties":{"gaugeid":"TMA1","gaugenameid":"A"},"geometry":{"type":"Point","coordinates":[2,2]}}
]}"#;

const READINGS: &str = "gaugeid,observed_at,level,alert,label
TMA2,2016-12-19T10:00:00Z,-12.5,1,SIAGA I !
TMA1,2016-12-19T10:00:00+0700,30,4,
";

pub(crate) const REPORTS: &str = r#"{"type":"FeatureCollection","features":[
{"type":"Feature","properties":{"pkey":"17","created_at":"2016-12-19T10:00:00Z","source":"grasp","status":"confirmed","url":"abcdefg","image_url":null,"disaster_type":"flood","report_data":{"volcanicSigns":2,"report_type":"flood","flood_depth":4.6,"impact":9.0,"evacuationNumber":"3","other":"3"},"tags":{"instance_region_code":null,"local_area_id":"3"},"title":"","text":"line\nline"},"geometry":{"type":"Point","coordinates":[0.5,0.2]}},
{"type":"Feature","properties":{"created_at":"2016-12-18T10:00:00Z","source":"partner","disaster_type":"wind","is_training":true,"partner_code":"PMI","partner_icon":"https://example.org/1.png"},"geometry":{"type":"Point","coordinates":[0.5,0.2]}}
]}"#;

pub(crate) const CARDS: &str = "card_id,pkey,username,network,language,network_data,report
card-one,1, Ibu ,telegram,id,\"{\"\"a\"\": [1]}\",17
card-two,2,,,,,
";

const POSTS: &str = "post_id,pkey\n-4711,17\n";
