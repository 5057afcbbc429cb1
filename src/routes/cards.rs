use std::sync::Arc;

use rocket::http::Header;
use rocket::serde::json::json;
use rocket::tokio::time;
use rocket::{Responder, State, get, patch, post, put};
use serde::Serialize;

use crate::config::Config;
use crate::described;
use crate::guards::{
    Authorized, CardIdParam, CardUser, CardsRead, CardsWrite, FileType, JsonBody, PHOTO_TOKEN,
};
use crate::http::error::Problem;
use crate::model::bodies::{Fault, ORIGIN, TimeWindow, effective_time, read_card_holder, read_card_report};
use crate::model::{Card, CardId, Clock, ReportKey, WaitingOrigin};
use crate::openapi::Described;
use crate::photos::{CardImages, ImageError};
use crate::rendering::ApiResponse;
use crate::schema::{self, object, reference};
use crate::stores::{Store, StoreError};
use crate::telemetry::{Metrics, ReportOrigin};

pub(super) fn routes() -> Vec<Described> {
    vec![
        described!(create_card)
            .summary("Makes a card")
            .body(|_| reference("CardHolder"))
            .response(reference("NewCard")),
        described!(find_card).summary("A card").result(reference("Card")),
        described!(receive_card_report)
            .summary("Publishes the report of a card")
            .body(|interface| {
                schema::card_report(&interface.config.disaster_types(), &interface.config.cards)
            })
            .response(reference("CardReceipt"))
            .error(409, "The card has its report."),
        described!(invite_image)
            .summary("The address to upload the image of a card to, after its report; before it if `cards.open` or `cards.photo_first`")
            .response(reference("Invitation"))
            .error(409, "The card has no report yet, or it has an image."),
        described!(confirm_image)
            .summary("For clients that confirm an upload; changes nothing")
            .body(|_| object(json!({
                "image_url?": { "description": "Ignored: the service knows the address." },
                "image_type?": { "description": "Ignored." },
            })))
            .response(object(json!({
                "statusCode": { "const": 200 }, "cardId": { "type": "string" }, "updated": { "const": true },
            })))
            .error(409, "The card has neither a report nor an upload that waits for it."),
    ]
}

#[derive(Serialize)]
struct CardRecord<'a> {
    pkey: String,
    card_id: &'a CardId,
    username: &'a str,
    network: &'a str,
    language: &'a str,
    received: bool,
    report_id: Option<ReportKey>,
}

impl<'a> CardRecord<'a> {
    /// Describes a card. Only callers with a credential get the name of its holder.
    fn new(card: &'a Card, with_name: bool) -> Self {
        Self {
            pkey: card.pkey.to_string(),
            card_id: &card.id,
            username: if with_name { &card.holder.username } else { "" },
            network: &card.holder.network,
            language: &card.holder.language,
            received: card.report.is_some(),
            report_id: card.report,
        }
    }
}

#[post("/cards", data = "<body>")]
pub(super) async fn create_card(
    _authorized: Authorized<CardsWrite>,
    body: JsonBody,
    store: &State<Arc<dyn Store>>,
) -> Result<ApiResponse, Problem> {
    let holder = read_card_holder(&body.0).map_err(|faults| Problem::faults(&faults))?;
    let card = store.create_card(holder).await?;
    ApiResponse::bare(&json!({ "cardId": card.id, "created": true }))
}

#[get("/cards/<id>")]
pub(super) async fn find_card(
    user: CardUser<CardsRead>,
    id: CardIdParam<'_>,
    config: &State<Config>,
    store: &State<Arc<dyn Store>>,
) -> Result<ApiResponse, Problem> {
    let id = id.read(config)?;
    match user.card(&id, &***store).await {
        Ok(card) => ApiResponse::private_result(&CardRecord::new(&card, user.has_credential())),
        Err(error @ StoreError::NotFound { .. }) => Err(Problem::from(error).with_not_found_members()),
        Err(error) => Err(error.into()),
    }
}

/// Receives the report of a card. Without a credential, a report from outside all areas waits for review.
#[put("/cards/<id>", data = "<body>")]
pub(super) async fn receive_card_report(
    user: CardUser<CardsWrite>,
    id: CardIdParam<'_>,
    body: Result<JsonBody, Problem>,
    config: &State<Config>,
    store: &State<Arc<dyn Store>>,
    images: &State<Arc<CardImages>>,
    clock: &State<Arc<dyn Clock>>,
    metrics: &State<Metrics>,
) -> Result<Receipt, Problem> {
    let id = id.read(config)?;
    let about_card = |error: StoreError| Problem::from(error).with_card_id(&id);
    let receive = async {
        // A missing or used card takes precedence over errors of the body.
        let card = user.card(&id, &***store).await.map_err(about_card)?;
        if card.report.is_some() {
            return Err(about_card(StoreError::card_used(&id)));
        }
        let body = body.map_err(|problem| problem.with_card_id(&id))?;
        let invalid = |faults: Vec<Fault>| Problem::faults(&faults).with_card_id(&id);
        let mut content =
            read_card_report(&id, &body.0, &config.disaster_types(), &config.cards).map_err(invalid)?;
        if user.has_credential() {
            if content.location.is_origin() {
                return Err(invalid(vec![Fault { path: "location".to_owned(), must: ORIGIN.to_owned() }]));
            }
            content.created_at = effective_time(content.created_at, clock.now()).map_err(|far| {
                invalid(vec![Fault { path: "created_at".to_owned(), must: far.to_string() }])
            })?;
            return store.receive_card_report(&id, content).await.map_err(about_card);
        }
        content.created_at = TimeWindow::new(clock.now(), card.created_at).clamp(content.created_at);
        let places = store.places().await.map_err(about_card)?.value;
        let receive = if places.covers(content.location) {
            store.receive_card_report(&id, content)
        } else {
            store.receive_waiting_report(&id, content, WaitingOrigin::default())
        };
        receive.await.map_err(about_card)
    };
    // A single time limit covers all queries.
    let received = time::timeout(config.limits.timeout, receive).await;
    received.unwrap_or_else(|elapsed| Err(Problem::slow_store(elapsed).with_card_id(&id)))?;
    metrics.count_report(ReportOrigin::Card);
    let response = ApiResponse::bare(&json!({ "statusCode": 200, "cardId": id, "created": true }))?;
    if user.has_credential() {
        return Ok(Receipt::Plain(response));
    }
    // If the token is unavailable, respond without it, because the report is stored already.
    Ok(match images.photo_token(&id).await {
        Ok(token) => Receipt::WithToken(response, Header::new(PHOTO_TOKEN, token)),
        Err(_) => Receipt::Plain(response),
    })
}

#[derive(Responder)]
pub(super) enum Receipt {
    Plain(ApiResponse),
    WithToken(ApiResponse, Header<'static>),
}

/// Returns the upload address of a card. Without a credential, the caller needs the photo token once the card has a report.
#[get("/cards/<id>/images")]
pub(super) async fn invite_image(
    user: CardUser<CardsRead>,
    id: CardIdParam<'_>,
    file_type: FileType,
    config: &State<Config>,
    store: &State<Arc<dyn Store>>,
    images: &State<Arc<CardImages>>,
) -> Result<ApiResponse, Problem> {
    let id = id.read(config)?;
    let FileType(image_type) = file_type;
    let early = config.cards.photo_first || config.cards.open;
    let invite = async {
        if !user.has_credential() {
            let card = user.card(&id, &***store).await?;
            // Checks the token, because the identifier is public once the report is published.
            if card.report.is_some() && !has_token(&user, &card, images).await? {
                return Err(Problem::unauthorized(
                    "the report of the card is there, and the photo token is not",
                    None,
                ));
            }
        }
        Ok(images.expect_upload(&id, image_type, early).await?)
    };
    let invited = time::timeout(config.limits.timeout, invite).await;
    let invited = invited.unwrap_or_else(|elapsed| Err(Problem::slow_store(elapsed)));
    let invitation = invited.map_err(|problem| problem.with_card_id(&id))?;
    let mut body = json!({ "signedRequest": invitation.signed_request, "url": invitation.url });
    if let Some(content_type) = invitation.content_type {
        body["contentType"] = content_type.into();
    }
    ApiResponse::bare(&body)
}

/// Returns whether a caller without a credential has the photo token of a card.
async fn has_token(user: &CardUser<CardsRead>, card: &Card, images: &CardImages) -> Result<bool, ImageError> {
    match user.photo_token(card) {
        Some(token) => images.is_photo_token(token, &card.id).await,
        None => Ok(false),
    }
}

/// Accepts the confirmation that some clients send after an upload. Changes nothing: the service knows the address already.
#[patch("/cards/<id>", data = "<body>")]
pub(super) async fn confirm_image(
    user: CardUser<CardsWrite>,
    id: CardIdParam<'_>,
    body: Result<JsonBody, Problem>,
    config: &State<Config>,
    store: &State<Arc<dyn Store>>,
) -> Result<ApiResponse, Problem> {
    let id = id.read(config)?;
    let about_card = |error: StoreError| Problem::from(error).with_card_id(&id);
    let check = async {
        let card = user.card(&id, &***store).await?;
        if card.report.is_none() && !store.has_upload(&id).await? {
            return Err(StoreError::no_card_report(&id));
        }
        Ok(())
    };
    let confirmed = time::timeout(config.limits.timeout, check).await;
    confirmed.map_err(|elapsed| Problem::slow_store(elapsed).with_card_id(&id))?.map_err(about_card)?;
    body.map_err(|problem| problem.with_card_id(&id))?;
    ApiResponse::bare(&json!({ "statusCode": 200, "cardId": id, "updated": true }))
}
