use crate::documents::{ALERT, assert_each_found, assert_found, changed, checked};

#[test]
fn order_and_number_of_elements_follow_the_schema() {
    let (sources, once) =
        ("<source>x</source><source>y</source><scope>", "error <source> occurs more than once");
    let resource = "<resource><uri>x</uri></resource>\n<area>\n<areaDesc>RW 1<";
    let lacks = ["error <resource> has no <resourceDesc>", "error <resource> has no <mimeType>"];
    assert_each_found(
        ALERT,
        &[
            ("<scope>Public</scope>\n", "", &["error <alert> has no <scope>"]),
            ("<scope>", "<note>x</note><scope>", &["error <scope> stands too late"]),
            ("<scope>", sources, &[once]),
            ("<scope>", "<urgent>x</urgent><scope>", &["error CAP 1.2 does not allow <urgent> here"]),
            ("<scope>", "<x xmlns=\"urn:x\"/><scope>", &["error CAP 1.2 does not allow <x> here"]),
            ("<scope>", "Public<scope>", &["error <alert> holds the text \"Public\""]),
            ("<scope>Public", "<scope><b/>Public", &["error CAP 1.2 does not allow <b> here"]),
            ("<info>\n<language>", "<info id=\"1\">\n<language>", &["error <info> has the attribute \"id\""]),
            ("<value>OET-081</value>", "", &["error <eventCode> has no <value>"; 2]),
            ("<area>\n<areaDesc>RW 1<", resource, &lacks),
        ],
    );
}

#[test]
fn values_have_the_types_of_the_schema() {
    assert_each_found(
        ALERT,
        &[
            ("Actual", "Real", &["error <status> is \"Real\"", "recommendation hubs show only Actual"]),
            (">Met<", ">Flood<", &["error <category> is \"Flood\""; 2]),
            (">Avoid<", "> Avoid<", &["error <responseType> is \" Avoid\""; 2]),
            ("id-ID", "Indonesian language", &["error <language> is \"Indonesian language\""]),
            ("<info>\n<category>", "<info>\n<language/><category>", &[]),
            (
                "</areaDesc>\n<poly",
                "</areaDesc>\n<altitude>high</altitude>\n<poly",
                &[["error <altitude> is \"high\"", "error <polygon> stands too late"]; 2].concat(),
            ),
        ],
    );
    let size = |size| {
        let names = "<resourceDesc>x</resourceDesc><mimeType>a/b</mimeType>";
        let resource = format!("<resource>{names}<size>{size}</size></resource>\n");
        changed(ALERT, "<area>\n<areaDesc>RW 1<", &format!("{resource}<area>\n<areaDesc>RW 1<"))
    };
    assert_found(&size("12"), &[]);
    assert_found(&size("1.2"), &["error <size> is \"1.2\""]);
}

#[test]
fn times_have_the_format_of_cap() {
    let sent = "<sent>2026-11-22T12:00:00+07:00<";
    for right in ["2026-11-22T05:00:00-00:00", "2026-11-22T05:00:00+00:00", "2026-11-22T01:30:00-03:30"] {
        assert_found(&changed(ALERT, sent, &format!("<sent>{right}<")), &[]);
    }
    for wrong in [
        "2026-11-22T05:00:00Z",
        "2026-11-22T12:00:00.5+07:00",
        "2026-11-22 12:00:00+07:00",
        "2026-11-22T12:00:00+0700",
        "2026-11-22T12:00:60+07:00",
        "2026-11-22T12:00:00+14:01",
        "2026-02-30T12:00:00+07:00",
        "",
    ] {
        let found = format!("error <sent> is {wrong:?}");
        assert_found(&changed(ALERT, sent, &format!("<sent>{wrong}<")), &[&found]);
    }
    let expires = ["error <expires> is \"2026-11-22T18:00:00Z\""; 2];
    assert_found(&changed(ALERT, "18:00:00+07:00", "18:00:00Z"), &expires);
}

#[test]
fn signatures_and_schema_hints_are_allowed() {
    let signature = "<Signature xmlns=\"http://www.w3.org/2000/09/xmldsig#\"><x/></Signature>";
    let signed = changed(ALERT, "</alert>", &format!("{signature}</alert>"));
    let hint = "<alert xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:schemaLocation=\"a b\" ";
    assert_found(&changed(&signed, "<alert ", hint), &[]);
    let early = changed(ALERT, "<scope>", &format!("{signature}<scope>"));
    assert!(checked(&early).to_string().contains("<scope> stands too late"));
}
