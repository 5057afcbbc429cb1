//! Handles form submission. Idempotent: resubmitting creates no second report.

use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rocket::Data;
use rocket::http::ContentType;
use rocket::tokio::time::timeout;

use super::form_data::{self, FormData, FormError, Photo, TOKEN_LENGTH};
use super::form_report::{FormReport, parse_report};
use super::form_request::FormRequest;
use super::responses::{PhotoOutcome, RenderedForm};
use crate::config::Config;
use crate::http::error::Problem;
use crate::http::quotas::{HourlyLimiter, ReviewPolicy};
use crate::model::bodies::TimeWindow;
use crate::model::duration::format_duration;
use crate::model::{Card, CardHolder, CardId, Timestamp, WaitingOrigin};
use crate::photos::ImageError;
use crate::stores::StoreError;
use crate::telemetry::ReportOrigin;

const NETWORK: &str = "website";
/// The time limit for reading the rest of a photo, to discard it.
const DISCARD_TIMEOUT: Duration = Duration::from_mins(2);

/// Limits reports without a link from a bot. Reports with a link need no limit, because a link permits only one report.
pub(crate) struct ReportLimits {
    unreviewed: ReviewPolicy,
    refused: HourlyLimiter,
    /// The time until which the desk warns that too many reports arrive.
    crowded_until: Mutex<Option<Timestamp>>,
}

/// The time for which the desk warns after the last report over the limit.
const CROWDED_FOR: Duration = Duration::from_mins(10);

impl ReportLimits {
    pub(crate) fn new(config: &Config) -> Self {
        let settings = &config.report;
        Self {
            unreviewed: ReviewPolicy::new(settings.reviewed_after, settings.reviewed_total),
            refused: HourlyLimiter::new(settings.refused_after),
            crowded_until: Mutex::default(),
        }
    }

    /// Counts a report without a link. Returns whether it must wait for review.
    fn needs_review(&self, address: Option<IpAddr>, now: Timestamp) -> bool {
        let verdict = self.unreviewed.count(address);
        if verdict.is_crowded() {
            *self.crowded_until.lock().unwrap_or_else(PoisonError::into_inner) =
                Some(now.saturating_add(CROWDED_FOR));
        }
        verdict.is_held()
    }

    /// Returns whether this server has recently received too many reports in total, so that some wait for review.
    pub(crate) fn is_crowded(&self, now: Timestamp) -> bool {
        let until = *self.crowded_until.lock().unwrap_or_else(PoisonError::into_inner);
        until.is_some_and(|until| now < until)
    }
}

impl FormRequest<'_> {
    /// Receives a report for a card. For a form without a card, creates a card. Stores the photo first, so that the report never
    /// appears without it. An interrupted request leaves no report, so the client can repeat the request.
    pub(super) async fn receive(
        self,
        card: Option<&Card>,
        kind: Option<&ContentType>,
        body: Data<'_>,
    ) -> Result<RenderedForm, Problem> {
        let (form, mut photo) = self.read_form(kind, body).await?;
        if form.get("choose").is_some() {
            discard(photo).await;
            return self.form_at_place(card, form).await;
        }
        // Boxed, because this future makes up most of the size of the route's future.
        let response = Box::pin(self.submit(card, form, photo.as_mut())).await;
        discard(photo).await;
        response
    }

    /// Responds with the form as it was filled in, and with the places of the address: the person has chosen a city without a script.
    async fn form_at_place(&self, card: Option<&Card>, mut form: FormData) -> Result<RenderedForm, Problem> {
        for name in ["lat", "lng", "area", "city", "parent"] {
            form.remove(name);
        }
        self.form(card.map(|card| &card.id), form, &[]).await
    }

    /// Receives the photo of a report that was sent without one. Does nothing if the report has a photo already.
    pub(super) async fn receive_later(
        self,
        card: &Card,
        kind: Option<&ContentType>,
        body: Data<'_>,
    ) -> Result<RenderedForm, Problem> {
        let (_, mut photo) = self.read_form(kind, body).await?;
        let received = match (&mut photo, self.photo_token(card).await?) {
            (_, None) => Ok(Err("photoLate")),
            (None, Some(_)) => Ok(Err("photo")),
            (Some(photo), Some(_)) => self.receive_photo(&card.id, photo).await,
        };
        discard(photo).await;
        match received? {
            Ok(PhotoOutcome::Later) => self.thanks(card, Some("photoBusy")).await,
            Ok(_) => Ok(self.accept_photo(&card.id)),
            Err(fault) => self.thanks(card, Some(fault)).await,
        }
    }

    /// Responds to a report with an unknown or expired link. People get the form without a link, filled in except for the photo.
    /// A script gets an error; it still has the photo.
    pub(super) async fn receive_expired(
        self,
        kind: Option<&ContentType>,
        body: Data<'_>,
    ) -> Result<RenderedForm, Problem> {
        let (mut form, photo) = self.read_form(kind, body).await?;
        discard(photo).await;
        if self.is_script {
            return self.expired();
        }
        form.set("token", &form_data::new_token()?);
        let response = self.form(None, form, &["link".to_owned()]).await?;
        Ok(response.with_not_found())
    }

    async fn read_form<'d>(
        &self,
        kind: Option<&ContentType>,
        body: Data<'d>,
    ) -> Result<(FormData, Option<Photo<'d>>), Problem> {
        let limit = self.config.limits.timeout;
        let form = timeout(limit, form_data::parse(kind, body, self.config)).await;
        match form.map_err(|_| Problem::timeout(format_duration(limit)))? {
            Ok(read) => Ok(read),
            Err(FormError::NoForm) => {
                Err(Problem::unsupported_media_type("Content-Type must be multipart/form-data"))
            }
            Err(error) => Err(Problem::bad_request(crate::http::error::Source::Body, &[], error.to_string())),
        }
    }

    /// Stores the report. Responds to an invalid form with the form. If the card has a report already, stores only the photo.
    async fn submit(
        self,
        card: Option<&Card>,
        form: FormData,
        photo: Option<&mut Photo<'_>>,
    ) -> Result<RenderedForm, Problem> {
        let Some(id) = self.card_id(card, &form).await? else {
            let mut form = form;
            form.set("token", &form_data::new_token()?);
            return self.form(None, form, &["token".to_owned()]).await;
        };
        let link = card.map(|card| &card.id);
        if self.has_report(card, &id).await? {
            return self.resubmit(card, &id, form, photo).await;
        }
        let window = TimeWindow::new(self.clock.now(), card.and_then(|card| card.created_at));
        let places = self.places().await?;
        let FormReport { content, is_outside } = match parse_report(&id, &form, window, &places, self.config)
        {
            Ok(read) => read,
            Err(fields) => return self.form(link, form, &fields).await,
        };
        if card.is_none() {
            if self.limits.refused.count_address(self.address).is_err() {
                return self.too_many_reports();
            }
            match self.store.create_card_as(&id, self.anonymous_holder()).await {
                // The form was sent before and created the card, but its report was not stored.
                Err(StoreError::Conflict { .. }) => {}
                created => drop(created?),
            }
        }
        let photo = match photo {
            None => PhotoOutcome::None,
            Some(photo) => match self.receive_photo(&id, photo).await? {
                Ok(outcome) => outcome,
                Err(field) => return self.form(link, form, &[field.to_owned()]).await,
            },
        };
        // A honeypot field, which only programs fill in, because people do not see it.
        let is_program = form.get("website").is_some();
        let waits = self.config.report.review
            || is_program
            || is_outside
            || self.is_foreign
            || (card.is_none() && self.limits.needs_review(self.address, self.clock.now()));
        let received = if waits {
            let sender = match self.address {
                Some(address) => Some(self.images.sender_hash(&address.into()).await?),
                None => None,
            };
            let origin = WaitingOrigin { sender, is_suspect: is_program };
            self.store.receive_waiting_report(&id, content, origin).await
        } else {
            self.store.receive_card_report(&id, content).await
        };
        match received {
            Ok(_) => self.metrics.count_report(ReportOrigin::Page),
            // The form was sent twice concurrently, with the same photo.
            Err(StoreError::Conflict { .. }) => return self.resubmit(card, &id, form, None).await,
            Err(error) => return Err(error.into()),
        }
        let token = self.images.photo_token(&id).await.ok();
        self.accept(&id, Some(waits), photo, token)
    }

    /// Returns whether the report of a card, or of a form without one, was received before.
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

    /// Responds to a form whose report was received before. Accepts a missing photo only from the sender of that report, because
    /// the identifier of the card is public by now.
    async fn resubmit(
        &self,
        card: Option<&Card>,
        id: &CardId,
        form: FormData,
        photo: Option<&mut Photo<'_>>,
    ) -> Result<RenderedForm, Problem> {
        let is_sender = match (card, form.get("token")) {
            // The client has the token, because the identifier is derived from it.
            (None, _) => true,
            (Some(card), Some(token)) => self.permits_photo(card, token).await?,
            (Some(_), None) => false,
        };
        let received = match photo {
            None => PhotoOutcome::None,
            Some(_) if !is_sender => PhotoOutcome::Refused,
            Some(photo) => match self.receive_photo(id, photo).await? {
                Ok(outcome) => outcome,
                Err(field) => return self.form(card.map(|card| &card.id), form, &[field.to_owned()]).await,
            },
        };
        let photo = if self.store.has_upload(id).await? { PhotoOutcome::Stored } else { received };
        let token = if is_sender { self.images.photo_token(id).await.ok() } else { None };
        self.accept(id, None, photo, token)
    }

    /// Returns the identifier of the card, or the one derived from the token of the form; `None` if the token is invalid.
    async fn card_id(&self, card: Option<&Card>, form: &FormData) -> Result<Option<CardId>, Problem> {
        if let Some(card) = card {
            return Ok(Some(card.id.clone()));
        }
        let Some(token) = form.get("token").filter(|token| is_token(token)) else { return Ok(None) };
        Ok(Some(self.images.card_of_form(token).await?))
    }

    /// Receives the photo, unless too many uploads are in progress. Returns the faulty field if the photo is rejected.
    async fn receive_photo(
        &self,
        id: &CardId,
        photo: &mut Photo<'_>,
    ) -> Result<Result<PhotoOutcome, &'static str>, Problem> {
        let is_image = timeout(self.config.limits.timeout, photo.is_image()).await;
        match is_image.map_err(|_| ImageError::TooSlow)? {
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

    fn anonymous_holder(&self) -> CardHolder {
        CardHolder {
            username: String::new(),
            network: NETWORK.to_owned(),
            language: self.language.code().to_owned(),
            network_data: None,
        }
    }
}

/// Reads the rest of a photo, because a browser ignores the response until it has sent the whole body.
async fn discard(photo: Option<Photo<'_>>) {
    if let Some(photo) = photo {
        let _ = timeout(DISCARD_TIMEOUT, photo.discard()).await;
    }
}

fn is_token(text: &str) -> bool {
    text.len() == TOKEN_LENGTH
        && text.bytes().all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase())
}
