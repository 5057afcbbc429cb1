use serde_json::{Value, json};

/// The tags in the order of the document: name, first path segments separated by spaces, description.
const GROUPS: [(&str, &str, &str); 15] = [
    (
        "floods",
        "floods",
        "Flood states of local areas: the map, the states alone, the past, and setting a state.",
    ),
    ("areas", "areas", "Outlines and names of areas without states, and the area in which a place lies."),
    ("reports", "reports", "Reports of residents and partners, with their photos."),
    ("floodgauges", "floodgauges", "Gauges and their readings: water levels in centimetres."),
    ("alerts", "alerts", "Alerts with a life, for alert hubs: CAP 1.2, Atom and RSS."),
    ("changes", "changes", "What changed since the last request, as a list or as a stream."),
    ("stats", "stats", "Numbers of flooded areas and of reports."),
    ("infrastructure", "infrastructure basemap", "Pumps, floodgates and waterways, and the ground of maps."),
    ("admin", "admin", "Boundaries of provinces."),
    ("ogc", "ogc", "The data for GIS programs, by OGC API – Features."),
    ("sources", "sources", "The sources of the data, and when each was last heard."),
    (
        "cards",
        "cards uploads images",
        "Cards: forms that one resident fills in once, with a photo if wanted. For bots and their servers.",
    ),
    (
        "petabencana",
        "cities regions needs",
        "Addresses that clients of PetaBencana ask for. New clients use `admin` and `areas`.",
    ),
    ("push", "push", "Subscriptions of phones to messages about areas (Web Push)."),
    ("feeds", "feeds", "Reports that partners send."),
];

pub(super) fn tag(path: &str) -> &str {
    let segment = path.split('/').find(|part| !part.is_empty()).unwrap_or("/");
    let group = GROUPS.iter().find(|(_, segments, _)| segments.split(' ').any(|other| other == segment));
    group.map_or(segment, |(name, ..)| name)
}

/// Returns the tags of these paths in the order of the groups, followed by the tags of other routes.
pub(super) fn tags<'a>(paths: impl Iterator<Item = &'a String>) -> Vec<Value> {
    let mut others: Vec<&str> = Vec::new();
    let mut used = [false; GROUPS.len()];
    for tag in paths.map(|path| tag(path)) {
        match GROUPS.iter().position(|(name, ..)| *name == tag) {
            Some(position) => used[position] = true,
            None if others.contains(&tag) => {}
            None => others.push(tag),
        }
    }
    let known = GROUPS.iter().zip(used).filter(|(_, used)| *used);
    let known = known.map(|((name, _, description), _)| json!({ "name": name, "description": description }));
    let others = others
        .into_iter()
        .map(|tag| json!({ "name": tag, "description": format!("Further operations of this installation: `{tag}`.") }));
    known.chain(others).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_keep_their_order_and_other_tags_follow_once() {
        let paths = ["/told/a", "/images/{name}", "/told/b", "/floods"].map(str::to_owned);
        let tags = tags(paths.iter());
        let names: Vec<_> = tags.iter().map(|tag| tag["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["floods", "cards", "told"]);
    }
}
