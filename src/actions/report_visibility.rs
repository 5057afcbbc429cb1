use std::sync::Arc;

use rocket::serde::json::json;

use super::Author;
use crate::archive::Archive;
use crate::changes::Follower;
use crate::guards::JsonBody;
use crate::http::error::Problem;
use crate::model::bodies::{Visibility, read_visibility};
use crate::model::{Moderation, ModerationAction, ReportKey};
use crate::photos::CardImages;
use crate::rendering::ApiResponse;
use crate::stores::{Resource, Store};

pub(crate) async fn set_report_visibility(
    Author { by, limit }: Author,
    report: ReportKey,
    body: JsonBody,
    store: &Arc<dyn Store>,
    images: &CardImages,
    follower: &Follower,
    archive: Option<&Archive>,
) -> Result<ApiResponse, Problem> {
    let Visibility { hidden, reason } =
        read_visibility(&body.0).map_err(|faults| Problem::faults(&faults))?;
    let action = if hidden { ModerationAction::Hide } else { ModerationAction::Show };
    let changed = store.moderate(&Moderation { report, made_at: None, action, by, limit, reason }).await?;
    // If the store cannot return the new revision, the request fails: responses cached earlier may still contain the report.
    follower.withdrawn_revision().note(store.revision(Resource::Reports).await?);
    if let Some(archive) = archive {
        archive.withdraw().await?;
    }
    images.move_photo_of(report).await;
    ApiResponse::bare(&json!({ "report_id": report, "hidden": hidden, "updated": changed }))
}
