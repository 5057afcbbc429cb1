//! The dashboard, alerts and runbook match each other and the metrics of docs/operating.md; a test
//! beside the metrics compares that page with the code.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::Stdio;

use serde_json::Value;

use crate::blocks::pages;
use crate::demo::Demo;
use crate::tools::{printed, program, python};

const DASHBOARD: &str = include_str!("../../deploy/grafana.json");
const ALERTS: &str = include_str!("../../deploy/alerts.yml");

/// The time series of docs/operating.md, with the parts of histograms.
fn series() -> BTreeSet<String> {
    let page = &pages()["docs/operating.md"];
    let mut series = BTreeSet::new();
    for row in page.lines().filter(|line| line.starts_with("| `siaga_") || line.starts_with("| `process_")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        for name in cells[1].split('`').skip(1).step_by(2) {
            let parts: &[&str] =
                if cells[2].starts_with("histogram") { &["_bucket", "_sum", "_count"] } else { &[""] };
            series.extend(parts.iter().map(|part| format!("{name}{part}")));
        }
    }
    assert!(series.len() > 20, "{series:?}");
    series
}

/// The names of series in an expression.
fn named(expression: &str) -> BTreeSet<String> {
    let words = expression.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let named = words.filter(|word| word.starts_with("siaga_") || word.starts_with("process_"));
    named.map(str::to_owned).collect()
}

/// Asserts that expressions are valid `PromQL` (with Grafana's variables replaced) and use existing series.
fn check(expressions: &[&str]) {
    let read = "import sys, promql_parser\nfor expression in sys.argv[1:]: promql_parser.parse(expression)";
    let filled: Vec<String> = expressions
        .iter()
        .map(|expression| expression.replace("$__rate_interval", "1m").replace("$instance", ".*"))
        .collect();
    printed("expressions", python().args(["-c", read]).args(&filled));
    let series = series();
    for expression in expressions {
        let unknown: Vec<_> = named(expression).into_iter().filter(|name| !series.contains(name)).collect();
        assert!(unknown.is_empty(), "{unknown:?} in {expression}");
    }
}

/// The rules of the alerts.
fn alerts() -> Vec<Value> {
    let read = "import sys, json, yaml; print(json.dumps(yaml.safe_load(sys.argv[1])))";
    let read: Value = serde_json::from_str(&printed("alerts", python().args(["-c", read, ALERTS]))).unwrap();
    let groups = read["groups"].as_array().unwrap();
    groups.iter().flat_map(|group| group["rules"].as_array().unwrap()).cloned().collect()
}

#[test]
fn the_dashboard_shows_exactly_the_existing_metrics() {
    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels.iter().filter_map(|panel| panel["targets"].as_array()).flatten();
    let expressions: Vec<_> = targets.map(|target| target["expr"].as_str().unwrap()).collect();
    check(&expressions);
    let shown: BTreeSet<_> = expressions.iter().flat_map(|expression| named(expression)).collect();
    let metric = |series: &str| {
        let part = ["_bucket", "_sum", "_count"].iter().find_map(|part| series.strip_suffix(part));
        part.unwrap_or(series).to_owned()
    };
    let shown: BTreeSet<_> = shown.iter().map(|series| metric(series)).collect();
    let missing: Vec<_> = series().into_iter().filter(|series| !shown.contains(&metric(series))).collect();
    assert!(missing.is_empty(), "no panel shows {missing:?}");
}

#[test]
fn promtool_finds_nothing_wrong_with_the_metrics() {
    let demo = Demo::configured(&[("SIAGA_METRICS__ENABLED", "true")]);
    demo.text("floods");
    let mut check = program("promtool").args(["check", "metrics"]).stdin(Stdio::piped()).spawn().unwrap();
    check.stdin.take().unwrap().write_all(demo.body("/metrics").as_bytes()).unwrap();
    assert!(check.wait().unwrap().success(), "promtool prints what is wrong");
    demo.end();
}

#[test]
fn every_alert_is_in_the_runbook_and_names_its_section() {
    let alerts = alerts();
    assert!(alerts.len() > 5, "{alerts:?}");
    let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{value}: no text")).to_owned();
    let expressions: Vec<String> = alerts.iter().map(|alert| text(&alert["expr"])).collect();
    check(&expressions.iter().map(String::as_str).collect::<Vec<_>>());
    let page = &pages()["docs/runbook.md"];
    let sections: Vec<&str> = page.split("\n## ").skip(1).collect();
    let names: BTreeSet<_> = alerts.iter().map(|alert| text(&alert["alert"])).collect();
    for alert in &alerts {
        let name = text(&alert["alert"]);
        let section = sections.iter().find(|section| section.lines().next() == Some(&name));
        let section = section.unwrap_or_else(|| panic!("docs/runbook.md has no section {name}"));
        for part in ["**Means.**", "**Look.**", "**Do.**"] {
            assert!(section.contains(part), "{name} lacks {part}");
        }
        let annotations = &alert["annotations"];
        assert_eq!(text(&annotations["runbook"]), format!("docs/runbook.md#{}", name.to_ascii_lowercase()));
        assert!(!text(&annotations["summary"]).is_empty());
        let severity = text(&alert["labels"]["severity"]);
        assert!(["info", "warning", "critical"].contains(&severity.as_str()), "{name}");
    }
    assert_eq!((alerts.len(), sections.len()), (names.len(), names.len()), "each section is of one alert");
}
