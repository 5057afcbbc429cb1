use serde_json::json;

use super::cards::shown_card_data;
use super::common::{number_as_text, or_null, written_moment};
use super::{Named, object, reference};
use crate::model::Report;

pub(super) fn named() -> Named {
    let text = |says: &str| json!({ "type": "string", "description": says });
    vec![(
        "ReportProperties",
        object(json!({
            "pkey": number_as_text("The report."),
            "created_at": written_moment("When it was made."),
            "source": text("Where it came from: `grasp` for cards, else the name of the feed."),
            "status": { "const": Report::STATUS },
            "url": or_null(text("The card, if it came from one.")),
            "image_url": or_null(text("Where its image is.")),
            "disaster_type": text("What it is about: `flood`, `earthquake`, `fire`, `haze`, `wind`, `volcano`, `prep`, or a type of the installation."),
            "report_data": shown_card_data(),
            "tags": reference("Tags"),
            "title": text("Its title."),
            "text": text("What its reporter wrote."),
            "is_training": { "type": "boolean", "description": "Whether it was made in a training." },
            "partner_code": or_null(text("The partner it came through.")),
            "partner_icon": or_null(text("Where the icon of that partner is.")),
        })),
    )]
}
