//! The report form for residents: one page without a script, several steps with a script. Its texts are in the group `form`.

mod form_data;
mod form_report;
mod form_request;
mod hazards;
mod places;
mod responses;
mod submission;

use std::sync::Arc;

use rocket::http::ContentType;
use rocket::{Data, State, get, post};
use serde_json::json;

use self::form_data::FormData;
use self::form_request::FormRequest;
use self::responses::RenderedForm;
pub(crate) use self::submission::ReportLimits;
use crate::guards::{Caller, CardIdParam};
use crate::http::error::Problem;
use crate::model::{Card, CardId};
use crate::pages::assets::Assets;
use crate::rendering::ApiResponse;
use crate::stores::StoreError;

/// Responds with the form for people without a link from a bot.
#[get("/report")]
pub(super) async fn show(request: FormRequest<'_>) -> Result<RenderedForm, Problem> {
    let mut form = FormData::default();
    form.set("token", &form_data::new_token()?);
    request.form(None, form, &[]).await
}

/// Responds with the form of a card, the thank-you page of a used card, or a page about reporting without a card.
#[get("/report/<id>")]
pub(super) async fn show_card(
    request: FormRequest<'_>,
    id: CardIdParam<'_>,
) -> Result<RenderedForm, Problem> {
    match request.card(id).await? {
        CardLookup::Unused(card) => {
            request.with_card(&card).form(Some(&card.id), FormData::default(), &[]).await
        }
        CardLookup::Used(card) => request.with_card(&card).thanks(&card, None).await,
        CardLookup::Missing => request.expired(),
    }
}

#[post("/report", data = "<body>")]
pub(super) async fn send(
    request: FormRequest<'_>,
    kind: Option<&ContentType>,
    body: Data<'_>,
) -> Result<RenderedForm, Problem> {
    request.receive(None, kind, body).await
}

/// Receives the form of a card, which may have expired since the form was opened.
#[post("/report/<id>", data = "<body>")]
pub(super) async fn send_card(
    request: FormRequest<'_>,
    id: CardIdParam<'_>,
    kind: Option<&ContentType>,
    body: Data<'_>,
) -> Result<RenderedForm, Problem> {
    match request.card(id).await? {
        CardLookup::Unused(card) | CardLookup::Used(card) => {
            request.with_card(&card).receive(Some(&card), kind, body).await
        }
        CardLookup::Missing => request.receive_expired(kind, body).await,
    }
}

/// Responds with the thank-you page, or with the form if the card has no report yet.
#[get("/report/<id>/thanks")]
pub(super) async fn thank(request: FormRequest<'_>, id: CardIdParam<'_>) -> Result<RenderedForm, Problem> {
    match request.card(id).await? {
        CardLookup::Used(card) => request.with_card(&card).thanks(&card, None).await,
        CardLookup::Unused(card) => {
            request.with_card(&card).form(Some(&card.id), FormData::default(), &[]).await
        }
        CardLookup::Missing => request.expired(),
    }
}

/// Adds the photo to a report that was sent without one. Accepts it only from the sender of the report.
#[post("/report/<id>/photo", data = "<body>")]
pub(super) async fn send_photo(
    request: FormRequest<'_>,
    id: CardIdParam<'_>,
    kind: Option<&ContentType>,
    body: Data<'_>,
) -> Result<RenderedForm, Problem> {
    match request.card(id).await? {
        CardLookup::Used(card) => request.with_card(&card).receive_later(&card, kind, body).await,
        CardLookup::Unused(_) | CardLookup::Missing => request.expired(),
    }
}

#[get("/reporting/places")]
pub(super) async fn find_place(request: FormRequest<'_>) -> Result<ApiResponse, Problem> {
    let area = request.text("area")?.unwrap_or_default();
    let place = places::find(request.places().await?.areas(), &area);
    let place = place.ok_or_else(|| Problem::not_found("this area"))?;
    ApiResponse::private_result(&json!({ "lat": place.coord().y, "lng": place.coord().x }))
}

#[get("/reporting/<file>")]
pub(super) async fn find_file(
    _caller: Caller,
    file: &str,
    files: &State<Assets>,
) -> Result<ApiResponse, Problem> {
    files.find("/reporting/", file).await
}

enum CardLookup {
    Unused(Arc<Card>),
    Used(Arc<Card>),
    Missing,
}

impl FormRequest<'_> {
    /// Finds a card. Fails only if the store fails, or if the client has requested too many unknown cards.
    async fn card(&self, id: CardIdParam<'_>) -> Result<CardLookup, Problem> {
        let Ok(id): Result<CardId, _> = id.read(self.config) else { return Ok(CardLookup::Missing) };
        self.user.check_guesses()?;
        match self.user.card(&id, self.store).await {
            Ok(card) if card.report.is_some() => Ok(CardLookup::Used(card)),
            Ok(card) => Ok(CardLookup::Unused(card)),
            Err(StoreError::NotFound { .. }) => Ok(CardLookup::Missing),
            Err(error) => Err(error.into()),
        }
    }
}
