//! `deploy/edge/nginx.conf` matches the interface.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::demo::Demo;

const NGINX: &str = include_str!("../../deploy/edge/nginx.conf");

#[test]
fn the_edge_configuration_lists_the_parameters_of_all_public_reads() {
    let demo = Demo::start();
    let paths = serde_json::from_str::<Value>(&demo.body("/openapi.json")).unwrap()["paths"].clone();
    // For GIS programs each column is a parameter, so the cache uses their whole query.
    let stored = paths.as_object().unwrap().iter().filter(|(path, _)| !path.starts_with("/ogc"));
    let reads = stored.filter_map(|(_, path)| path.get("get"));
    let is_public = |read: &&Value| read["security"].as_array().unwrap().contains(&serde_json::json!({}));
    let parameters = reads.filter(is_public).filter_map(|read| read["parameters"].as_array()).flatten();
    let queries = parameters.filter(|parameter| parameter["in"] == "query");
    let mut names: BTreeSet<_> = queries.map(|parameter| parameter["name"].as_str().unwrap()).collect();
    // Long polls and requests for cards are not cached.
    let passed = ["wait", "file_type"];
    for name in passed {
        assert!(names.remove(name), "{name}");
    }
    // Parameters of pages.
    names.extend(["lang", "list", "q"]);
    let arguments = NGINX.lines().filter_map(|line| line.strip_prefix("map $arg_")?.split(' ').next());
    assert_eq!(arguments.filter(|name| *name != "wait").collect::<BTreeSet<_>>(), names);
    let query = NGINX.lines().find(|line| line.contains(" $siaga_known {")).unwrap();
    assert!(names.iter().all(|name| query.contains(&format!("$siaga_q_{name}"))), "{query}");
    demo.end();
}
