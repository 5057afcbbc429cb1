use std::time::Duration;

use siaga::formats::Format;
use siaga_conformance::fixture;

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
        ("{% for now in [1] %}{{ now }}{% endfor %}{{ now }}", SECOND),
    ] {
        assert_eq!(template(source, "text/plain").time_step(), expected, "{source}");
    }
}

#[test]
fn who_comes_to_the_time_unnoticed_does_not_get_it() {
    // The engine mistakes the second `now` for the variable of the template that the first `now` declares.
    let hidden = template("{% with now = now %}{{ now }}{% endwith %}", "text/plain");
    assert_eq!(hidden.time_step(), None);
    assert!(failure(&hidden, &fixture::empty_layer()).contains("`now` is undefined"));
}
