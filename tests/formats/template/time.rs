use std::time::Duration;

use siaga::conformance::fixture;
use siaga::formats::Format;

use super::{failure, template};

const SECOND: Option<Duration> = Some(Duration::from_secs(1));

#[test]
fn a_template_changes_with_time_when_it_mentions_the_time() {
    for (source, expected) in [
        ("{{ layer }}", None),
        ("now {# now #}{{ 'now' }}{% raw %}{{ now }}{% endraw %}", None),
        ("{% set now = 1 %}{{ now }}", None),
        ("{{ now }}", SECOND),
        ("{% if false %}{{ now|rfc822 }}{% endif %}", SECOND),
        ("{% macro at() %}{{ now }}{% endmacro %}{{ at() }}", SECOND),
        ("{% for now in [1] %}{{ now }}{% endfor %}{{ now }}", SECOND),
    ] {
        assert_eq!(template(source, "text/plain").time_step(), expected, "{source}");
    }
}

#[test]
fn who_comes_to_the_time_unnoticed_does_not_get_it() {
    // The engine takes the parameter for the variable from here on.
    let hidden = template("{% macro at(now) %}{% endmacro %}{{ now }}", "text/plain");
    if hidden.time_step().is_none() {
        assert!(failure(&hidden, &fixture::empty_layer()).contains("`now` is undefined"));
    }
}
