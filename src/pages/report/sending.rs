//! Takes the report of the form: exactly one, however often it is sent.

use std::time::Duration;

use rocket::Data;
use rocket::http::ContentType;
use rocket::tokio::time::timeout;

use super::content::{Times, read};
use super::form::{self, Filled, Photo, TOKEN, Unreadable};
use super::page::Shown;
use super::visit::Visit;
use crate::config::Config;
use crate::error::Problem;
use crate::images::ImageError;
use crate::model::duration::written;
use crate::model::{Card, CardHolder, CardId};
use crate::quotas::Hourly;
use crate::stores::StoreError;
use crate::telemetry::ReportOrigin;

/// The network of cards that the page makes.
const NETWORK: &str = "website";
/// How long the rest of a photo that is not needed may take.
const LONGEST_REST: Duration = Duration::from_mins(2);

/// How many reports an address can send by the page.
pub(crate) struct Limits {
    reviewed: Hourly,
    refused: Hourly,
}

impl Limits {
    pub(crate) fn of(config: &Config) -> Self {
        let settings = &config.report;
        Self { reviewed: Hourly::new(settings.reviewed_after), refused: Hourly::new(settings.refused_after) }
    }
}

impl Visit<'_> {
    /// Takes a report: of a card, or of a form without one, whose card is made here. The photo comes first, so that the report
    /// never appears without it: a request that ends in between has sent nothing, and is repeated.
    pub(super) async fn receive(
        self,
        card: Option<&Card>,
        kind: Option<&ContentType>,
        body: Data<'_>,
    ) -> Result<Shown, Problem> {
        let (filled, mut photo) = self.read(kind, body).await?;
        let shown = self.take(card, filled, photo.as_mut()).await;
        if let Some(photo) = photo {
            // A browser that cannot send its photo to the end does not read the response.
            let _ = timeout(LONGEST_REST, photo.discard()).await;
        }
        shown
    }

    /// Takes the photo of a report that came without one. Nothing changes if there is one already.
    pub(super) async fn receive_later(
        self,
        card: &Card,
        kind: Option<&ContentType>,
        body: Data<'_>,
    ) -> Result<Shown, Problem> {
        let (_, photo) = self.read(kind, body).await?;
        let Some(mut photo) = photo else { return self.thanks(card, Some("photo")).await };
        let received = match self.photo_token(card).await? {
            Some(_) => self.receive_photo(&card.id, &mut photo).await,
            None => Ok(Ok(())),
        };
        let _ = timeout(LONGEST_REST, photo.discard()).await;
        match received? {
            Ok(()) => Ok(self.photo_accepted(&card.id)),
            Err(field) => self.thanks(card, Some(field)).await,
        }
    }

    /// Reads the texts of a form, up to its photo.
    async fn read<'d>(
        &self,
        kind: Option<&ContentType>,
        body: Data<'d>,
    ) -> Result<(Filled, Option<Photo<'d>>), Problem> {
        let limit = self.config.limits.timeout;
        let reading = timeout(limit, form::read(kind, body, self.config)).await;
        match reading.map_err(|_| Problem::timeout(written(limit)))? {
            Ok(read) => Ok(read),
            Err(Unreadable::NoForm) => {
                Err(Problem::unsupported_media_type("Content-Type must be multipart/form-data"))
            }
            Err(error) => Err(Problem::bad_request(crate::error::Source::Body, &[], error.to_string())),
        }
    }

    async fn take(
        self,
        card: Option<&Card>,
        filled: Filled,
        photo: Option<&mut Photo<'_>>,
    ) -> Result<Shown, Problem> {
        let Some(id) = self.id(card, &filled).await? else {
            let mut filled = filled;
            filled.put("token", &form::token()?);
            return self.form(None, filled, &["token".to_owned()]).await;
        };
        let link = card.map(|card| &card.id);
        if card.is_some_and(|card| card.report.is_some()) {
            return self.sent(&id, None).await;
        }
        let arrival = self.clock.now();
        let open = arrival.before(self.config.cards.open_for);
        let earliest = card.and_then(|card| card.created_at).map_or(open, |made| made.max(open));
        let areas = self.areas().await;
        let content = match read(&id, &filled, Times { earliest, arrival }, &areas, self.config) {
            Ok(content) => content,
            Err(fields) => return self.form(link, filled, &fields).await,
        };
        if self.limits.refused.count(self.address).is_err() {
            return self.refused();
        }
        if card.is_none() {
            let made = self.store.create_card_as(&id, self.holder()).await;
            match made {
                // The same form was sent before.
                Err(StoreError::Conflict { .. }) => {}
                made => drop(made?),
            }
            if self.store.card(&id).await?.report.is_some() {
                return self.sent(&id, None).await;
            }
        }
        if let Some(photo) = photo
            && let Err(field) = self.receive_photo(&id, photo).await?
        {
            return self.form(link, filled, &[field.to_owned()]).await;
        }
        // A field that people do not see was filled in by a program.
        let is_program = filled.get("website").is_some();
        let is_one_of_many = self.limits.reviewed.count(self.address).is_err();
        let waits = self.config.report.review || is_program || is_one_of_many;
        let received = if waits {
            self.store.receive_waiting_report(&id, content).await
        } else {
            self.store.receive_card_report(&id, content).await
        };
        match received {
            Ok(_) => self.metrics.report_taken(ReportOrigin::Page),
            Err(StoreError::Conflict { .. }) => return self.sent(&id, None).await,
            Err(error) => return Err(error.into()),
        }
        self.sent(&id, Some(waits)).await
    }

    /// Returns the identifier of a card, or that which the token of a form makes; `None` if that is no token.
    async fn id(&self, card: Option<&Card>, filled: &Filled) -> Result<Option<CardId>, Problem> {
        if let Some(card) = card {
            return Ok(Some(card.id.clone()));
        }
        let Some(token) = filled.get("token").filter(|token| is_token(token)) else { return Ok(None) };
        Ok(Some(self.images.card_of_form(token).await?))
    }

    /// Receives the photo; returns the field with the fault if it is refused.
    async fn receive_photo(
        &self,
        id: &CardId,
        photo: &mut Photo<'_>,
    ) -> Result<Result<(), &'static str>, Problem> {
        let beginning = timeout(self.config.limits.timeout, photo.is_image()).await;
        match beginning.map_err(|_| ImageError::TooSlow)? {
            Ok(true) => {}
            Ok(false) => return Ok(Err("photo")),
            Err(error) => {
                return Err(Problem::bad_request(crate::error::Source::Body, &["photo"], error.to_string()));
            }
        }
        match self.images.receive_early(id, photo).await {
            Ok(()) => Ok(Ok(())),
            Err(ImageError::TooLarge(_)) => Ok(Err("photo")),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the holder of a card that the page makes: it knows no name.
    fn holder(&self) -> CardHolder {
        CardHolder {
            username: String::new(),
            network: NETWORK.to_owned(),
            language: self.language.code().to_owned(),
            network_data: None,
        }
    }

    /// Responds to a report that was accepted, now or, with `None`, before.
    async fn sent(&self, id: &CardId, waits: Option<bool>) -> Result<Shown, Problem> {
        let token = if waits.is_some() { self.images.photo_token(id).await.ok() } else { None };
        self.accepted(id, waits, token)
    }
}

fn is_token(text: &str) -> bool {
    text.len() == TOKEN && text.bytes().all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase())
}
