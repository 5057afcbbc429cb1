use std::sync::Arc;

use quick_xml::escape::unescape;
use serde_json::{Value, json};
use siaga::model::{DisasterType, Layer, Report, ReportContent, Tags};
use siaga_conformance::fixture;

use super::{example, made, text};
use crate::xml::texts;

fn report(title: &str, text: &str) -> Layer {
    let content = fixture::content(DisasterType::Flood, 1, fixture::place(0.5, 0.5));
    let content = ReportContent { title: title.into(), text: text.into(), ..content };
    let (key, tags) = (1.try_into().unwrap(), Tags::default());
    Layer::Reports(vec![Arc::new(Report { key, content, tags })].into())
}

/// The output of a template for a report with this title.
fn printed(source: &str, media_type: &str, title: &str) -> String {
    let source =
        format!("{{% for feature in features %}}{{% set of = feature.properties %}}{source}{{% endfor %}}");
    made(&source, media_type, &report(title, ""))
}

const TITLE: &str = "{{ of.title }}";

#[test]
fn xml_gets_text_that_is_fit_for_content_and_attributes() {
    for media_type in ["application/xml", "text/xml; charset=utf-8", "application/rss+XML", "text/html"] {
        let printed = printed(TITLE, media_type, "<a href='x'>\"&amp;\" ]]> -- \u{0}\u{b}\u{ffff}\t☔</a>");
        assert_eq!(
            printed,
            "&lt;a href=&apos;x&apos;&gt;&quot;&amp;amp;&quot; ]]&gt; -- \u{fffd}\u{fffd}\u{fffd}\t☔&lt;/a&gt;",
            "{media_type}"
        );
    }
}

#[test]
fn json_gets_values() {
    let title = "\"</script>\\\u{1}\n☔";
    let source = "[{{ of.title }},{{ of.image_url }},{{ of.report_data }},{{ of.tags }},{{ feature.geometry }},\
                  {{ of.report_data.flood_depth }},{{ true }},{{ feature.geometry.coordinates }}]";
    for media_type in ["application/json", "application/geo+json; charset=utf-8"] {
        let printed: Value = serde_json::from_str(&printed(source, media_type, title)).unwrap();
        let expected = json!([
            title,
            null,
            { "report_type": "flood", "flood_depth": 80 },
            { "instance_region_code": null, "local_area_id": null },
            { "type": "Point", "coordinates": [106.804_999_999_999_99, -6.195] },
            80,
            true,
            [106.804_999_999_999_99, -6.195],
        ]);
        assert_eq!(printed, expected);
    }
    for lines in ["application/geo+json-seq", "application/x-ndjson"] {
        assert_eq!(printed(TITLE, lines, "a \"b\"\n"), r#""a \"b\"\n""#, "{lines}");
    }
}

#[test]
fn csv_gets_one_field_that_no_spreadsheet_runs() {
    for (title, expected) in [
        ("RW 01", "RW 01"),
        ("a,b", "\"a,b\""),
        ("a;b", "\"a;b\""),
        ("say \"x\"", "\"say \"\"x\"\"\""),
        ("a\r\nb", "\"a\r\nb\""),
        (" a", "\" a\""),
        (" =1+1", "\"' =1+1\""),
        ("\t1", "\"'\t1\""),
        ("\r1", "\"'\r1\""),
        ("", ""),
    ] {
        assert_eq!(printed(TITLE, "text/csv", title), expected, "{title:?}");
    }
    for sign in "=+-@\u{FF1D}\u{FF0B}\u{FF0D}\u{FF20}".chars() {
        assert_eq!(printed(TITLE, "text/csv", &format!("{sign}A1")), format!("'{sign}A1"));
    }
    assert_eq!(printed("{{ -5 }},{{ 40.5 }},{{ true }},{{ none }}", "text/csv", ""), "-5,40.5,true,");
    let printed = printed("{{ of.report_data }}", "text/csv", "");
    assert_eq!(printed, r#""{""report_type"":""flood"",""flood_depth"":80}""#);
}

#[test]
fn what_is_captured_or_made_by_a_macro_is_escaped_once() {
    for source in [
        "{% set title %}{{ of.title }}{% endset %}{{ title }}",
        "{% macro title(of) %}{{ of.title }}{% endmacro %}{{ title(of) }}",
        "{{ of.title|e }}",
        "{{ [of.title]|join(',') }}",
        "{{ (of.title|upper)|lower }}",
    ] {
        assert_eq!(printed(source, "text/xml", "<&"), "&lt;&amp;", "{source}");
        assert_eq!(printed(source, "application/json", "<\""), r#""<\"""#, "{source}");
        assert_eq!(printed(source, "text/csv", "=,"), "\"'=,\"", "{source}");
    }
}

#[test]
fn only_an_author_who_says_so_gets_a_value_as_it_is() {
    for source in ["{{ of.title|safe }}", "{% autoescape false %}{{ of.title }}{% endautoescape %}"] {
        assert_eq!(printed(source, "text/xml", "<&"), "<&", "{source}");
    }
}

#[test]
fn other_types_get_values_as_they_are_and_never_as_a_template() {
    let printed = printed("{{ of.title }} {{ of.image_url }} {{ of.tags }}", "text/plain", "<&>{{ 1 }}");
    assert_eq!(printed, r#"<&>{{ 1 }}  {"instance_region_code":null,"local_area_id":null}"#);
}

#[test]
fn what_readers_take_for_html_is_escaped_for_it_as_well() {
    let title = "<img src=x onerror='f(\"&amp;\")'>\u{1}";
    let html = "&lt;img src=x onerror=&#39;f(&quot;&amp;amp;&quot;)&#39;&gt;";
    let printed = printed("{{ of.title|html }}{{ of.image_url|html }}", "application/rss+xml", title);
    assert_eq!(printed, html.replace('&', "&amp;") + "\u{fffd}");
}

#[test]
fn no_report_becomes_markup_in_a_reader_of_the_examples() {
    let hostile = "<img src=x onerror=alert(1)> & 1 < 2";
    let layer = report("", hostile);
    for name in ["georss", "kml"] {
        let document = text(&example(name), &layer);
        let descriptions = texts(&document, "description");
        let html = descriptions.last().unwrap();
        assert_eq!(html, "&lt;img src=x onerror=alert(1)&gt; &amp; 1 &lt; 2", "{name}");
        assert_eq!(unescape(html).unwrap(), hostile, "{name}");
    }
    assert_eq!(texts(&text(&example("kml"), &layer), "text"), ["$[description]"]);
}
