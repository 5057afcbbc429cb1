use std::time::{Duration, Instant};

use siaga::conformance::fixture;

use super::{declared, failure, of, text};

const LOOPS: &str = "{% for x in range(100000) %}{% for x in range(100000) %}";
const ENDS: &str = "{% endfor %}{% endfor %}";

#[test]
fn what_is_too_long_is_an_error_and_what_is_as_long_as_allowed_is_not() {
    let (_folder, figment) = declared("12345{{ layer }}", "text/plain");
    let limited = |bytes: u64| of(&figment.clone().merge(("siaga.formats.template.x.max_bytes", bytes)));
    assert_eq!(text(&limited(11), &fixture::empty_layer()), "12345floods");
    let failure = failure(&limited(10), &fixture::empty_layer());
    assert!(failure.ends_with("template: it makes more than max_bytes"), "{failure}");
}

#[test]
fn no_template_goes_on_forever() {
    for (source, says) in [
        (format!("{LOOPS}x{ENDS}"), "max_"),
        (format!("{LOOPS}{ENDS}"), ", line 1: it takes more steps than max_time allows"),
        (format!("{{% set x %}}{LOOPS}{ENDS}{{% endset %}}"), "it takes more steps than max_time allows"),
        ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}".to_owned(), "recursion"),
        ("{% include 'x' %}".to_owned(), "could not render include"),
        ("{% extends 'x' %}".to_owned(), "cyc"),
    ] {
        let (_folder, figment) = declared(source.as_str(), "text/plain");
        let template = of(&figment.merge(("siaga.formats.template.x.max_time", "200ms")));
        let start = Instant::now();
        let failure = failure(&template, &fixture::empty_layer());
        assert!(failure.contains(says), "{source}: {failure}");
        assert!(start.elapsed() < Duration::from_secs(20), "{source}: {:?}", start.elapsed());
    }
}
