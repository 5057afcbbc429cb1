use std::sync::Arc;

use rocket::serde::json::json;
use rocket::tokio::time;
use rocket::{State, get, post, put};
use serde::Serialize;

use crate::config::Config;
use crate::described;
use crate::error::Problem;
use crate::guards::{Authorized, CardIdParam, CardsRead, CardsWrite, FileType, JsonBody};
use crate::images::{CardImages, Invitation};
use crate::model::bodies::{read_card_holder, read_card_report};
use crate::model::{Card, CardId, ReportKey};
use crate::openapi::Described;
use crate::rendering::Answer;
use crate::schema::{self, reference};
use crate::stores::{Store, StoreError};
use crate::telemetry::{Metrics, ReportOrigin};

/// Returns the routes of the resource.
pub(super) fn routes() -> Vec<Described> {
    vec![
        described!(create_card)
            .says("Makes a card")
            .takes(|_| reference("CardHolder"))
            .gives(reference("NewCard")),
        described!(find_card).says("A card").gives_result(reference("Card")),
        described!(receive_card_report)
            .says("Publishes the report of a card")
            .takes(|interface| {
                schema::card_report(&interface.config.disasters.all(), &interface.config.cards)
            })
            .gives(reference("CardReceipt"))
            .refuses(409, "The card has its report."),
        described!(invite_image)
            .says("The address to upload the image of a card to, after its report")
            .gives(reference("Invitation"))
            .refuses(409, "The card has no report yet, or it has an image."),
    ]
}

/// A card as responses show it.
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

impl<'a> From<&'a Card> for CardRecord<'a> {
    fn from(card: &'a Card) -> Self {
        Self {
            pkey: card.pkey.to_string(),
            card_id: &card.id,
            username: &card.holder.username,
            network: &card.holder.network,
            language: &card.holder.language,
            received: card.report.is_some(),
            report_id: card.report,
        }
    }
}

/// `POST /cards`: makes a card.
#[post("/cards", data = "<body>")]
pub(super) async fn create_card(
    _authorized: Authorized<CardsWrite>,
    body: JsonBody,
    store: &State<Arc<dyn Store>>,
) -> Result<Answer, Problem> {
    let holder = read_card_holder(&body.0).map_err(|faults| Problem::faults(&faults))?;
    let card = store.create_card(holder).await?;
    Answer::bare(&json!({ "cardId": card.id, "created": true }))
}

/// `GET /cards/:cardId`: responds with a card.
#[get("/cards/<id>")]
pub(super) async fn find_card(
    _authorized: Authorized<CardsRead>,
    id: CardIdParam<'_>,
    config: &State<Config>,
    store: &State<Arc<dyn Store>>,
) -> Result<Answer, Problem> {
    let id = id.read(config)?;
    match store.card(&id).await {
        Ok(card) => Answer::private_result(&CardRecord::from(&*card)),
        Err(error @ StoreError::NotFound { .. }) => Err(Problem::from(error).for_card_reader()),
        Err(error) => Err(error.into()),
    }
}

/// `PUT /cards/:cardId`: publishes the report of a card.
#[put("/cards/<id>", data = "<body>")]
pub(super) async fn receive_card_report(
    _authorized: Authorized<CardsWrite>,
    id: CardIdParam<'_>,
    body: Result<JsonBody, Problem>,
    config: &State<Config>,
    store: &State<Arc<dyn Store>>,
    metrics: &State<Metrics>,
) -> Result<Answer, Problem> {
    let id = id.read(config)?;
    let about_card = |error: StoreError| Problem::from(error).about_card(&id);
    let receiving = async {
        // A card that does not exist, or already has its report, is reported before the body is checked.
        let card = store.card(&id).await.map_err(about_card)?;
        if card.report.is_some() {
            return Err(about_card(StoreError::received(&id)));
        }
        let body = body.map_err(|problem| problem.about_card(&id))?;
        let content = read_card_report(&id, &body.0, &config.disasters.all(), &config.cards)
            .map_err(|faults| Problem::faults(&faults).about_card(&id))?;
        store.receive_card_report(&id, content).await.map_err(about_card)
    };
    // Both questions to the store together have the time of one.
    let received = time::timeout(config.limits.timeout, receiving).await;
    received.unwrap_or_else(|elapsed| Err(Problem::late(elapsed).about_card(&id)))?;
    metrics.report_taken(ReportOrigin::Card);
    Answer::bare(&json!({ "statusCode": 200, "cardId": id, "created": true }))
}

/// `GET /cards/:cardId/images`: responds with the address to which the image of a card is uploaded.
#[get("/cards/<id>/images")]
pub(super) async fn invite_image(
    _authorized: Authorized<CardsRead>,
    id: CardIdParam<'_>,
    file_type: FileType,
    config: &State<Config>,
    images: &State<Arc<CardImages>>,
) -> Result<Answer, Problem> {
    let id = id.read(config)?;
    let FileType(image_type) = file_type;
    let invited = images.invite(&id, image_type).await;
    let Invitation { signed_request, url } = invited.map_err(|error| Problem::from(error).about_card(&id))?;
    Answer::bare(&json!({ "signedRequest": signed_request, "url": url }))
}
