//! Takes the report of the form: exactly one, however often it is sent.

use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rocket::Data;
use rocket::http::ContentType;
use rocket::tokio::time::timeout;

use super::content::{FormReport, read};
use super::form_data::{self, FormData, Photo, TOKEN, Unreadable};
use super::form_request::FormRequest;
use super::page::{PhotoOutcome, RenderedForm};
use crate::config::Config;
use crate::http::error::Problem;
use crate::http::quotas::{HourlyLimiter, ReviewPolicy};
use crate::model::bodies::TimeWindow;
use crate::model::duration::written;
use crate::model::{Card, CardHolder, CardId, Timestamp, WaitingOrigin};
use crate::photos::ImageError;
use crate::stores::StoreError;
use crate::telemetry::ReportOrigin;

/// The network of cards that the page makes.
const NETWORK: &str = "website";
/// How long the rest of a photo that is not needed may take.
const LONGEST_REST: Duration = Duration::from_mins(2);

/// How many reports without a link people can send. Those with a link are limited by it: it is good for one.
pub(crate) struct Limits {
    unreviewed: ReviewPolicy,
    refused: HourlyLimiter,
    /// Until when the desk says that too many reports arrive.
    crowded_until: Mutex<Option<Timestamp>>,
}

/// How long the desk says that too many reports have arrived.
const CROWDED: Duration = Duration::from_mins(10);

impl Limits {
    pub(crate) fn new(config: &Config) -> Self {
        let settings = &config.report;
        Self {
            unreviewed: ReviewPolicy::new(settings.reviewed_after, settings.reviewed_total),
            refused: HourlyLimiter::new(settings.refused_after),
            crowded_until: Mutex::default(),
        }
    }

    /// Counts a report without a link; returns whether it waits for review.
    fn waits(&self, address: Option<IpAddr>, now: Timestamp) -> bool {
        let verdict = self.unreviewed.count(address);
        if verdict.is_crowded() {
            *self.crowded_until.lock().unwrap_or_else(PoisonError::into_inner) = Some(now.after(CROWDED));
        }
        verdict.is_held()
    }

    /// Returns whether too many reports in total have just arrived at this server, so that some wait for review.
    pub(crate) fn is_crowded(&self, now: Timestamp) -> bool {
        let until = *self.crowded_until.lock().unwrap_or_else(PoisonError::into_inner);
        until.is_some_and(|until| now < until)
    }
}

impl FormRequest<'_> {
    /// Takes a report: of a card, or of a form without one, whose card is made here. The photo comes first, so that the report
    /// never appears without it: a request that ends in between has sent nothing, and is repeated.
    pub(super) async fn receive(
        self,
        card: Option<&Card>,
        kind: Option<&ContentType>,
        body: Data<'_>,
    ) -> Result<RenderedForm, Problem> {
        let (filled, mut photo) = self.read(kind, body).await?;
        // Boxed: it is most of the future of the route.
        let shown = Box::pin(self.take(card, filled, photo.as_mut())).await;
        discard(photo).await;
        shown
    }

    /// Takes the photo of a report that came without one. Nothing changes if there is one already.
    pub(super) async fn receive_later(
        self,
        card: &Card,
        kind: Option<&ContentType>,
        body: Data<'_>,
    ) -> Result<RenderedForm, Problem> {
        let (_, mut photo) = self.read(kind, body).await?;
        let received = match (&mut photo, self.photo_token(card).await?) {
            (_, None) => Ok(Err("photoLate")),
            (None, Some(_)) => Ok(Err("photo")),
            (Some(photo), Some(_)) => self.receive_photo(&card.id, photo).await,
        };
        discard(photo).await;
        match received? {
            Ok(PhotoOutcome::Later) => self.thanks(card, Some("photoBusy")).await,
            Ok(_) => Ok(self.photo_accepted(&card.id)),
            Err(fault) => self.thanks(card, Some(fault)).await,
        }
    }

    /// Responds to a report by a link that is unknown or no longer valid: with the form without a link, in which everything but the
    /// photo is filled in. The script of the page has kept the photo too.
    pub(super) async fn receive_expired(
        self,
        kind: Option<&ContentType>,
        body: Data<'_>,
    ) -> Result<RenderedForm, Problem> {
        let (mut filled, photo) = self.read(kind, body).await?;
        discard(photo).await;
        if self.is_script {
            return self.expired();
        }
        filled.put("token", &form_data::token()?);
        let shown = self.form(None, filled, &["link".to_owned()]).await?;
        Ok(shown.not_found())
    }

    /// Reads the texts of a form, up to its photo.
    async fn read<'d>(
        &self,
        kind: Option<&ContentType>,
        body: Data<'d>,
    ) -> Result<(FormData, Option<Photo<'d>>), Problem> {
        let limit = self.config.limits.timeout;
        let reading = timeout(limit, form_data::read(kind, body, self.config)).await;
        match reading.map_err(|_| Problem::timeout(written(limit)))? {
            Ok(read) => Ok(read),
            Err(Unreadable::NoForm) => {
                Err(Problem::unsupported_media_type("Content-Type must be multipart/form-data"))
            }
            Err(error) => Err(Problem::bad_request(crate::http::error::Source::Body, &[], error.to_string())),
        }
    }

    async fn take(
        self,
        card: Option<&Card>,
        filled: FormData,
        photo: Option<&mut Photo<'_>>,
    ) -> Result<RenderedForm, Problem> {
        let Some(id) = self.id(card, &filled).await? else {
            let mut filled = filled;
            filled.put("token", &form_data::token()?);
            return self.form(None, filled, &["token".to_owned()]).await;
        };
        let link = card.map(|card| &card.id);
        if self.has_report(card, &id).await? {
            return self.repeated(card, &id, filled, photo).await;
        }
        let window = TimeWindow::new(self.clock.now(), card.and_then(|card| card.created_at));
        let places = self.places().await?;
        let FormReport { content, is_outside } = match read(&id, &filled, window, &places, self.config) {
            Ok(read) => read,
            Err(fields) => return self.form(link, filled, &fields).await,
        };
        if card.is_none() {
            if self.limits.refused.count_address(self.address).is_err() {
                return self.refused();
            }
            let made = self.store.create_card_as(&id, self.holder()).await;
            match made {
                // The same form was sent before, but its report was not received.
                Err(StoreError::Conflict { .. }) => {}
                made => drop(made?),
            }
        }
        let photo = match photo {
            None => PhotoOutcome::None,
            Some(photo) => match self.receive_photo(&id, photo).await? {
                Ok(outcome) => outcome,
                Err(field) => return self.form(link, filled, &[field.to_owned()]).await,
            },
        };
        // A field that people do not see was filled in by a program.
        let is_program = filled.get("website").is_some();
        let waits = self.config.report.review
            || is_program
            || is_outside
            || self.is_foreign
            || (card.is_none() && self.limits.waits(self.address, self.clock.now()));
        let received = if waits {
            let sender = match self.address {
                Some(address) => Some(self.images.sender(&address.into()).await?),
                None => None,
            };
            let origin = WaitingOrigin { sender, is_suspect: is_program };
            self.store.receive_waiting_report(&id, content, origin).await
        } else {
            self.store.receive_card_report(&id, content).await
        };
        match received {
            Ok(_) => self.metrics.count_report(ReportOrigin::Page),
            // The same form arrived twice at once, with the same photo.
            Err(StoreError::Conflict { .. }) => return self.repeated(card, &id, filled, None).await,
            Err(error) => return Err(error.into()),
        }
        let token = self.images.photo_token(&id).await.ok();
        self.accepted(&id, Some(waits), photo, token)
    }

    /// Returns whether the report of a card was received, which a form without one may have made.
    async fn has_report(&self, card: Option<&Card>, id: &CardId) -> Result<bool, Problem> {
        if let Some(card) = card {
            return Ok(card.report.is_some());
        }
        match self.store.card(id).await {
            Ok(card) => Ok(card.report.is_some()),
            Err(StoreError::NotFound { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Responds to a form whose report was received before. Its photo is received if none is stored, from the sender of that report
    /// only: the identifier of the card is public by now.
    async fn repeated(
        &self,
        card: Option<&Card>,
        id: &CardId,
        filled: FormData,
        photo: Option<&mut Photo<'_>>,
    ) -> Result<RenderedForm, Problem> {
        let is_sender = match (card, filled.get("token")) {
            // The identifier was made from the token.
            (None, _) => true,
            (Some(card), Some(token)) => self.permits_photo(card, token).await?,
            (Some(_), None) => false,
        };
        let received = match photo {
            None => PhotoOutcome::None,
            Some(_) if !is_sender => PhotoOutcome::Refused,
            Some(photo) => match self.receive_photo(id, photo).await? {
                Ok(outcome) => outcome,
                Err(field) => return self.form(card.map(|card| &card.id), filled, &[field.to_owned()]).await,
            },
        };
        let photo = if self.store.has_upload(id).await? { PhotoOutcome::Stored } else { received };
        let token = if is_sender { self.images.photo_token(id).await.ok() } else { None };
        self.accepted(id, None, photo, token)
    }

    /// Returns the identifier of a card, or that which the token of a form makes; `None` if that is no token.
    async fn id(&self, card: Option<&Card>, filled: &FormData) -> Result<Option<CardId>, Problem> {
        if let Some(card) = card {
            return Ok(Some(card.id.clone()));
        }
        let Some(token) = filled.get("token").filter(|token| is_token(token)) else { return Ok(None) };
        Ok(Some(self.images.card_of_form(token).await?))
    }

    /// Receives the photo, unless too many uploads are in progress; returns the field with the fault if it is refused.
    async fn receive_photo(
        &self,
        id: &CardId,
        photo: &mut Photo<'_>,
    ) -> Result<Result<PhotoOutcome, &'static str>, Problem> {
        let beginning = timeout(self.config.limits.timeout, photo.is_image()).await;
        match beginning.map_err(|_| ImageError::TooSlow)? {
            Ok(true) => {}
            Ok(false) => return Ok(Err("photo")),
            Err(error) => {
                return Err(Problem::bad_request(
                    crate::http::error::Source::Body,
                    &["photo"],
                    error.to_string(),
                ));
            }
        }
        match self.images.receive_early(id, self.address, photo).await {
            Ok(()) => Ok(Ok(PhotoOutcome::Stored)),
            Err(ImageError::Busy | ImageError::ClientBusy | ImageError::Full) => Ok(Ok(PhotoOutcome::Later)),
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
}

/// Reads what is left of a photo: a browser that cannot send it to the end does not read the response.
async fn discard(photo: Option<Photo<'_>>) {
    if let Some(photo) = photo {
        let _ = timeout(LONGEST_REST, photo.discard()).await;
    }
}

fn is_token(text: &str) -> bool {
    text.len() == TOKEN && text.bytes().all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase())
}
