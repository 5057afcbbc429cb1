use std::sync::Arc;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::sample::Sample;
use super::{Description, MapResource, Offer, Reports, SelectableCodes};
use crate::model::{
    CARD_SOURCE, DisasterType, Hazards, Layer, LayerKind, Report, ReportContent, ReportKey, Tags, Timestamp,
};
use crate::schema::{number_as_text, object, or_null, reference, response_card_data, text, utc_date_time};

impl MapResource for Reports {
    const DESCRIPTION: Description = Description {
        kind: LayerKind::Reports,
        path: "reports",
        selectable: |regions| {
            SelectableCodes::new(&[&regions.cities[..], &regions.provinces].concat(), &regions.provinces)
        },
        offer: Offer::AlsoCities,
        preferred_format: None,
        geometries: &["Point"],
        properties,
        sample,
    };
}

fn properties(hazards: &Hazards) -> Value {
    object(json!({
        "pkey": number_as_text("The report."),
        "created_at": utc_date_time("When it was made."),
        "source": text("Where it came from: `grasp` for cards, else the name of the feed."),
        "status": { "const": Report::STATUS },
        "url": or_null(text("The card, if it came from one.")),
        "image_url": or_null(text("Where its image is.")),
        "disaster_type": text("What it is about: `flood`, `earthquake`, `fire`, `haze`, `wind`, `volcano`, `prep`, or a type of the installation."),
        "report_data": response_card_data(hazards),
        "tags": reference("Tags"),
        "title": text("Its title."),
        "text": text("What its reporter wrote."),
        "is_training": { "type": "boolean", "description": "Whether it was made in a training." },
        "partner_code": or_null(text("The partner it came through.")),
        "partner_icon": or_null(text("Where the icon of that partner is.")),
    }))
}

fn sample(sample: Sample, now: Timestamp) -> Layer {
    let mut data = json!({ "report_type": "flood", "flood_depth": 80 });
    if let Some(note) = sample.hostile_text() {
        data["note"] = note.into();
    }
    let full = ReportContent {
        created_at: now,
        source: sample.text(CARD_SOURCE).into(),
        url: Some(sample.text("abcdefg").into()),
        image_url: Some(sample.text("https://images.example/abcdefg.jpg").into()),
        disaster_type: DisasterType::Flood,
        report_data: RawValue::from_string(data.to_string()).ok(),
        title: sample.text("").into(),
        text: sample.text("Water up to the knee").into(),
        location: Sample::place(),
        is_training: true,
        partner_code: Some(sample.text("partner-1").into()),
        partner_icon: Some(sample.text("https://images.example/partner-1.png").into()),
    };
    let bare = ReportContent {
        url: None,
        image_url: None,
        disaster_type: DisasterType::Haze,
        report_data: None,
        title: "".into(),
        text: "".into(),
        is_training: false,
        partner_code: None,
        partner_icon: None,
        ..full.clone()
    };
    let all = [(ReportKey::FIRST, full, Sample::tags()), (ReportKey::LAST, bare, Tags::default())];
    let reports = sample.limit(all.map(|(key, content, tags)| Arc::new(Report { key, content, tags })));
    Layer::Reports(reports.into())
}
