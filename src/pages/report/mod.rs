//! The page on which residents report: one form without a script, steps with one. Its texts are the group `form`.

mod content;
mod form_data;
mod form_request;
mod hazards;
mod page;
mod places;
mod sending;

use std::sync::Arc;

use rocket::http::ContentType;
use rocket::{Data, State, get, post};

use self::form_data::FormData;
use self::form_request::FormRequest;
use self::page::RenderedForm;
pub(crate) use self::sending::Limits;
use crate::guards::{Caller, CardIdParam};
use crate::http::error::Problem;
use crate::model::{Card, CardId};
use crate::pages::files::Files;
use crate::rendering::ApiResponse;
use crate::stores::StoreError;

/// `GET /report`: responds with the form for people without a link of a bot.
#[get("/report")]
pub(super) async fn show(visit: FormRequest<'_>) -> Result<RenderedForm, Problem> {
    let mut filled = FormData::default();
    filled.put("token", &form_data::token()?);
    visit.form(None, filled, &[]).await
}

/// `GET /report/:cardId`: responds with the form of a card, or says that it was used, or what to do without a card.
#[get("/report/<id>")]
pub(super) async fn show_card(visit: FormRequest<'_>, id: CardIdParam<'_>) -> Result<RenderedForm, Problem> {
    match visit.card(id).await? {
        CardLookup::Unused(card) => {
            visit.with_card(&card).form(Some(&card.id), FormData::default(), &[]).await
        }
        CardLookup::Used(card) => visit.with_card(&card).thanks(&card, None).await,
        CardLookup::Nothing => visit.expired(),
    }
}

/// `POST /report`: takes the report of a form without a card.
#[post("/report", data = "<body>")]
pub(super) async fn send(
    visit: FormRequest<'_>,
    kind: Option<&ContentType>,
    body: Data<'_>,
) -> Result<RenderedForm, Problem> {
    visit.receive(None, kind, body).await
}

/// `POST /report/:cardId`: takes the report of a card.
#[post("/report/<id>", data = "<body>")]
pub(super) async fn send_card(
    visit: FormRequest<'_>,
    id: CardIdParam<'_>,
    kind: Option<&ContentType>,
    body: Data<'_>,
) -> Result<RenderedForm, Problem> {
    match visit.card(id).await? {
        CardLookup::Unused(card) | CardLookup::Used(card) => {
            visit.with_card(&card).receive(Some(&card), kind, body).await
        }
        CardLookup::Nothing => visit.receive_expired(kind, body).await,
    }
}

/// `GET /report/:cardId/thanks`: says thank you and what to do now.
#[get("/report/<id>/thanks")]
pub(super) async fn thank(visit: FormRequest<'_>, id: CardIdParam<'_>) -> Result<RenderedForm, Problem> {
    match visit.card(id).await? {
        CardLookup::Used(card) => visit.with_card(&card).thanks(&card, None).await,
        CardLookup::Unused(card) => {
            visit.with_card(&card).form(Some(&card.id), FormData::default(), &[]).await
        }
        CardLookup::Nothing => visit.expired(),
    }
}

/// `POST /report/:cardId/photo`: takes the photo of a report that came without one, for those who have sent the report.
#[post("/report/<id>/photo", data = "<body>")]
pub(super) async fn send_photo(
    visit: FormRequest<'_>,
    id: CardIdParam<'_>,
    kind: Option<&ContentType>,
    body: Data<'_>,
) -> Result<RenderedForm, Problem> {
    match visit.card(id).await? {
        CardLookup::Used(card) => visit.with_card(&card).receive_later(&card, kind, body).await,
        CardLookup::Unused(_) | CardLookup::Nothing => visit.expired(),
    }
}

/// `GET /reporting/places?q=`: responds with the areas that a part of a name finds.
#[get("/reporting/places")]
pub(super) async fn find_places(visit: FormRequest<'_>) -> Result<ApiResponse, Problem> {
    let text = visit.text("q")?.unwrap_or_default();
    ApiResponse::private_result(&places::found(visit.places().await?.areas(), &text))
}

/// `GET /reporting/:file`: responds with a file that the page loads.
#[get("/reporting/<file>")]
pub(super) async fn find_file(
    _caller: Caller,
    file: &str,
    files: &State<Files>,
) -> Result<ApiResponse, Problem> {
    files.find("/reporting/", file).await
}

/// The card in an address.
enum CardLookup {
    Unused(Arc<Card>),
    Used(Arc<Card>),
    /// It is unknown or has expired, or no card can have this identifier.
    Nothing,
}

impl FormRequest<'_> {
    async fn card(&self, id: CardIdParam<'_>) -> Result<CardLookup, Problem> {
        let Ok(id): Result<CardId, _> = id.read(self.config) else { return Ok(CardLookup::Nothing) };
        self.user.check_guesses()?;
        match self.user.card(&id, self.store).await {
            Ok(card) if card.report.is_some() => Ok(CardLookup::Used(card)),
            Ok(card) => Ok(CardLookup::Unused(card)),
            Err(StoreError::NotFound { .. }) => Ok(CardLookup::Nothing),
            Err(error) => Err(error.into()),
        }
    }
}
