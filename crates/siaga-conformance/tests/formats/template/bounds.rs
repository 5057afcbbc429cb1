use std::time::{Duration, Instant};

use siaga_conformance::fixture;

use super::{declared, failure, template_from, text};

const LOOPS: &str = "{% for x in [0] * 100000 %}{% for x in [0] * 100000 %}";
const ENDS: &str = "{% endfor %}{% endfor %}";

#[test]
fn what_is_too_long_is_an_error_and_what_is_as_long_as_allowed_is_not() {
    let (_folder, figment) = declared("12345{{ layer }}", "text/plain");
    let limited =
        |bytes: u64| template_from(&figment.clone().merge(("siaga.formats.template.x.max_bytes", bytes)));
    assert_eq!(text(&limited(11), &fixture::empty_layer()), "12345floods");
    let failure = failure(&limited(10), &fixture::empty_layer());
    assert!(failure.ends_with("template: it makes more than max_bytes, 10B"), "{failure}");
}

#[test]
fn no_template_goes_on_forever() {
    for (source, says) in [
        (format!("{LOOPS}{ENDS}"), ", line 1: it takes more steps than max_time allows"),
        (format!("{{% set x %}}{LOOPS}{ENDS}{{% endset %}}"), "it takes more steps than max_time allows"),
        ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}".to_owned(), "recursion"),
        ("{% include 'x' %}".to_owned(), "could not render include"),
        ("{% extends 'x' %}".to_owned(), "cyc"),
    ] {
        let (_folder, figment) = declared(source.as_str(), "text/plain");
        let template = template_from(&figment.merge(("siaga.formats.template.x.max_time", "200ms")));
        let start = Instant::now();
        let failure = failure(&template, &fixture::empty_layer());
        assert!(failure.contains(says), "{source}: {failure}");
        assert!(start.elapsed() < Duration::from_secs(20), "{source}: {:?}", start.elapsed());
    }
}

#[test]
fn the_clock_is_looked_at_with_each_feature() {
    let source = "{% for of in features %}{% set long = 'x' * (50000000 + loop.index) %}{% endfor %}";
    let (_folder, figment) = declared(source, "text/plain");
    let template = template_from(&figment.merge(("siaga.formats.template.x.max_time", "1ms")));
    let failure = failure(&template, &fixture::layer(&[]));
    assert!(failure.ends_with(", line 1: it takes longer than max_time, 1ms"), "{failure}");
}

#[test]
fn what_never_leaves_the_template_is_bounded_too() {
    for (source, says) in [
        (
            "{% set x %}{% for i in range(2000) %}{{ 'x' * 1000 }}{% endfor %}{% endset %}{{ x|length }}",
            "it prints more than 4 times max_bytes, 1KiB, in blocks it captures",
        ),
        ("{% set x %}{{ 'x' * 1025 }}{% endset %}", "it makes more than max_bytes, 1KiB"),
    ] {
        let (_folder, figment) = declared(source, "text/plain");
        let template = template_from(&figment.merge(("siaga.formats.template.x.max_bytes", 1024)));
        let failure = failure(&template, &fixture::empty_layer());
        assert!(failure.contains(", line 1: ") && failure.contains(says), "{source}: {failure}");
    }
}

#[test]
fn what_is_captured_may_be_as_long_as_what_is_made() {
    for source in [
        "{% set x %}{{ 'x' * 1024 }}{% endset %}{{ x }}",
        "{% macro f() %}{{ 'x' * 1024 }}{% endmacro %}{% set x %}{{ f() }}{% endset %}{{ x }}",
    ] {
        let (_folder, figment) = declared(source, "text/plain");
        let template = template_from(&figment.merge(("siaga.formats.template.x.max_bytes", 1024)));
        assert_eq!(text(&template, &fixture::empty_layer()), "x".repeat(1024), "{source}");
    }
}
