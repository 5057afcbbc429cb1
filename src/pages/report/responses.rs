//! The responses of the report form.

use std::time::Duration;

use minijinja::context;
use minijinja::value::Serde;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use rocket::Request;
use rocket::http::Status;
use rocket::response::{Responder, Response, Result as ResponseResult};
use serde_json::{Value, json};

use super::form_data::FormData;
use super::form_report::MAX_TEXT;
use super::form_request::FormRequest;
use super::hazards::{fault_text, hazards, step_faults};
use super::places::choices;
use crate::data::statements::after_report;
use crate::guards::PHOTO_TOKEN;
use crate::http::content::CacheControl;
use crate::http::error::Problem;
use crate::model::{Card, CardId, Report};
use crate::pages::layout::{PageContext, PageTemplate};
use crate::rendering::{ApiResponse, HTML};
use crate::stores::StoreError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PhotoOutcome {
    None,
    /// The photo was received, now or before.
    Stored,
    /// Too many uploads are in progress, but the client can retry.
    Later,
    /// The client cannot prove that it sent the report.
    Refused,
}

impl PhotoOutcome {
    fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Stored => "stored",
            Self::Later => "later",
            Self::Refused => "refused",
        }
    }

    /// Returns the key of the error text that the thank-you page shows, if any.
    fn fault(self) -> Option<&'static str> {
        match self {
            Self::None | Self::Stored => None,
            Self::Later => Some("photoBusy"),
            Self::Refused => Some("photoLate"),
        }
    }
}

const FORM: PageTemplate = PageTemplate::new("form.html", include_str!("form.html"));
const TEXT: PageTemplate = PageTemplate::new("form-text.html", include_str!("text.html"));

/// The characters that are escaped in the identifier of a card in a path.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_');

/// Only scripts of this service run. Anyone with the address can report, so browsers must not send it as a referrer, and caches
/// and search engines must not store the page.
const HEADERS: [(&str, &str); 4] = [
    (
        "Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; \
         img-src 'self' data: blob:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    ),
    ("Referrer-Policy", "no-referrer"),
    ("X-Robots-Tag", "noindex"),
    ("Cache-Control", CacheControl::NO_STORE),
];

pub(in crate::pages) struct RenderedForm {
    status: Status,
    body: Option<ApiResponse>,
    headers: Vec<(&'static str, String)>,
}

impl RenderedForm {
    pub(super) fn with_not_found(self) -> Self {
        Self { status: Status::NotFound, ..self }
    }
}

impl<'r> Responder<'r, 'static> for RenderedForm {
    fn respond_to(self, request: &'r Request<'_>) -> ResponseResult<'static> {
        let mut response = match self.body {
            Some(response) => response.respond_to(request)?,
            None => Response::new(),
        };
        response.set_status(self.status);
        for (name, value) in HEADERS {
            response.set_raw_header(name, value);
        }
        for (name, value) in self.headers {
            response.set_raw_header(name, value);
        }
        Ok(response)
    }
}

impl FormRequest<'_> {
    /// Responds with the form, filled in with the values of `form`, and a message for each faulty field.
    pub(super) async fn form(
        &self,
        card: Option<&CardId>,
        mut form: FormData,
        faults: &[String],
    ) -> Result<RenderedForm, Problem> {
        let texts = self.language.translations();
        let t = texts.group("form");
        let fault_texts: Value = faults
            .iter()
            .map(|field| (field.clone(), fault_text(field, texts, self.config).into()))
            .collect::<serde_json::Map<_, _>>()
            .into();
        let status = if faults.is_empty() { Status::Ok } else { Status::BadRequest };
        if self.is_script && !faults.is_empty() {
            let body = ApiResponse::bare(&json!({ "statusCode": 400, "faults": fault_texts }))?;
            return Ok(RenderedForm { status, body: Some(body), headers: Vec::new() });
        }
        let areas = self.areas().await;
        self.fill_in_place(&mut form, &areas)?;
        let areas = choices(&areas, form.raw("city"), form.raw("parent"));
        let settings = json!({
            "base": self.config.base_url.path().trim_end_matches('/'),
            "language": self.language.code(),
            "texts": t["script"],
            "longest": MAX_TEXT,
            "faults": step_faults(texts, self.config),
            "card": card,
        });
        // The token permits the sender to add the photo by resubmitting the form. The identifier of the card would not prove who
        // the sender is: publishing the report makes it public.
        let token = match card {
            Some(card) => Some(self.images.photo_token(card).await?),
            None => form.get("token").map(str::to_owned),
        };
        let values = context! {
            language => self.language.code(),
            t => Serde(t),
            card => card.map(CardId::as_str),
            path => path(card),
            hazards => Serde(hazards(self.config, texts)),
            places => Serde(areas),
            token => token,
            form => Serde(form.values()),
            faults => Serde(fault_texts),
            longest => MAX_TEXT,
            settings => settings.to_string(),
        };
        self.page(status, FORM, &path(card), values)
    }

    /// Responds with the thank-you page: where the report is, and what to do now. `fault` is the key of an error text.
    pub(super) async fn thanks(&self, card: &Card, fault: Option<&str>) -> Result<RenderedForm, Problem> {
        let texts = self.language.translations();
        let (form, t) = (texts.group("form"), &texts.group("form")["thanks"]);
        let report = match card.report {
            Some(key) => match self.store.report(key).await {
                Ok(report) => Some(report.value),
                // The report waits for review, or is hidden.
                Err(StoreError::NotFound { .. }) => None,
                Err(error) => return Err(error.into()),
            },
            None => None,
        };
        let is_on_map = report.as_ref().map(|report| self.is_on_map(report));
        let (sentence, link) =
            (after_report(is_on_map), if is_on_map == Some(true) { "map" } else { "openMap" });
        let area = report.as_ref().and_then(|report| report.tags.local_area_id);
        let map = match area {
            Some(area) => format!("/map?area={area}&lang={}", self.language.code()),
            None => format!("/map?lang={}", self.language.code()),
        };
        let configured = self.config.report.advice.get(self.language.code());
        let advice = configured.cloned().unwrap_or_else(|| self.with_number(text(t, "advice")));
        let mut paragraphs = vec![sentence.text(texts, None), advice.as_str()];
        let has_photo = self.store.has_upload(&card.id).await?;
        if has_photo {
            paragraphs.insert(1, text(t, "photoThere"));
        }
        let outcome = self.text("photo")?;
        let outcomes = [PhotoOutcome::Later, PhotoOutcome::Refused];
        let outcome =
            outcomes.into_iter().find(|candidate| outcome.as_deref() == Some(candidate.name()) && !has_photo);
        let is_busy = fault == PhotoOutcome::Later.fault();
        let token = if has_photo { None } else { self.photo_token(card).await? };
        // Without a token, the page cannot let people try again.
        let outcome = outcome.map(|outcome| if token.is_some() { outcome } else { PhotoOutcome::Refused });
        let fault = fault.or(outcome.and_then(PhotoOutcome::fault));
        let alert = fault.filter(|_| token.is_none()).map(|fault| text(&form["faults"], fault));
        let photo = token.map(|token| {
            let script = &form["script"];
            let settings: Value = ["shrinking", "ready", "notReadable", "tooLarge"]
                .map(|name| (name.to_owned(), script[name].clone()))
                .into_iter()
                .collect::<serde_json::Map<_, _>>()
                .into();
            let action = format!("{}/photo?lang={}&token={token}", path(Some(&card.id)), self.language.code());
            json!({
                "action": action, "add": t["addPhoto"], "send": t["sendPhoto"], "settings": settings.to_string(),
                "fault": fault.map(|field| text(&form["faults"], field)),
            })
        });
        let values = context! {
            title => text(t, "title"),
            key => sentence.name(),
            paragraphs => Serde(json!(paragraphs)),
            alert => alert,
            photo => photo.map(Serde),
            link => map,
            link_text => text(t, link),
        };
        let status = match fault {
            Some("photoLate") => Status::Forbidden,
            Some("photoBusy") if !is_busy => Status::Ok,
            Some("photoBusy") => Status::ServiceUnavailable,
            Some(_) => Status::BadRequest,
            None => Status::Ok,
        };
        let mut page = self.page(status, TEXT, "/report", values)?;
        if is_busy {
            page.headers.push(("Retry-After", "60".to_owned()));
        }
        Ok(page)
    }

    /// Returns the token of the address if it is valid for the photo of a card.
    pub(super) async fn photo_token(&self, card: &Card) -> Result<Option<String>, Problem> {
        let Some(token) = self.text("token")? else { return Ok(None) };
        Ok(self.permits_photo(card, &token).await?.then_some(token))
    }

    pub(super) async fn permits_photo(&self, card: &Card, token: &str) -> Result<bool, Problem> {
        let is_open = self.config.cards.is_open(card, self.clock.now());
        Ok(is_open && self.images.is_photo_token(token, &card.id).await?)
    }

    fn is_on_map(&self, report: &Report) -> bool {
        let hazard = self.config.cards.hazards.get(report.content.disaster_type);
        let window = hazard.map_or(Duration::from_hours(1), |hazard| hazard.window);
        report.content.created_at.saturating_add(window) > self.clock.now()
    }

    pub(super) fn expired(&self) -> Result<RenderedForm, Problem> {
        let t = &self.language.translations().group("form")["expired"];
        if self.is_script {
            let body = json!({ "statusCode": 404, "message": text(t, "title"), "expired": true });
            let body = ApiResponse::bare(&body)?;
            return Ok(RenderedForm { status: Status::NotFound, body: Some(body), headers: Vec::new() });
        }
        let link = format!("/report?lang={}", self.language.code());
        self.text_page(Status::NotFound, "expired", &[text(t, "says")], Some((&link, text(t, "link"))))
    }

    pub(super) fn too_many_reports(&self) -> Result<RenderedForm, Problem> {
        let t = &self.language.translations().group("form")["refused"];
        let message = self.with_number(text(t, "says"));
        let retry = vec![("Retry-After", "600".to_owned())];
        if self.is_script {
            let body = ApiResponse::bare(&json!({ "statusCode": 429, "message": message }))?;
            return Ok(RenderedForm { status: Status::TooManyRequests, body: Some(body), headers: retry });
        }
        let page = self.text_page(Status::TooManyRequests, "refused", &[&message], None)?;
        Ok(RenderedForm { headers: retry, ..page })
    }

    /// Responds to an accepted report with a redirect to the thank-you page, so that reloading sends nothing (POST/redirect/GET).
    /// `waits` is `None` if the report was accepted before. If a script can send the photo again, the response has the outcome
    /// `none`, and the script keeps the photo.
    pub(super) fn accept(
        &self,
        id: &CardId,
        waits: Option<bool>,
        photo: PhotoOutcome,
        token: Option<String>,
    ) -> Result<RenderedForm, Problem> {
        let mut location = self.thanks_address(id);
        if photo.fault().is_some() {
            location = format!("{location}&photo={}", photo.name());
        }
        if let Some(token) = &token {
            location = format!("{location}&token={token}");
        }
        let mut headers: Vec<_> = token.map(|token| (PHOTO_TOKEN, token)).into_iter().collect();
        if self.is_script {
            let photo = if photo == PhotoOutcome::Later { PhotoOutcome::None } else { photo };
            let body = json!({
                "statusCode": 200, "cardId": id, "created": waits.is_some(), "waits": waits, "photo": photo.name(),
                "thanks": location,
            });
            return Ok(RenderedForm { status: Status::Ok, body: Some(ApiResponse::bare(&body)?), headers });
        }
        headers.push(("Location", location));
        Ok(RenderedForm { status: Status::SeeOther, body: None, headers })
    }

    pub(super) fn accept_photo(&self, id: &CardId) -> RenderedForm {
        let headers = vec![("Location", self.thanks_address(id))];
        RenderedForm { status: Status::SeeOther, body: None, headers }
    }

    fn thanks_address(&self, id: &CardId) -> String {
        format!("{}/thanks?lang={}", path(Some(id)), self.language.code())
    }

    /// Renders a page with the title of the group and paragraphs, and an optional link with its text.
    fn text_page(
        &self,
        status: Status,
        group: &str,
        paragraphs: &[&str],
        link: Option<(&str, &str)>,
    ) -> Result<RenderedForm, Problem> {
        let t = self.language.translations().group("form");
        let values = context! {
            title => text(&t[group], "title"),
            paragraphs => Serde(json!(paragraphs)),
            link => link.map(|(link, _)| link),
            link_text => link.map(|(_, text)| text),
        };
        self.page(status, TEXT, "/report", values)
    }

    /// Returns a text with the emergency number of the service.
    fn with_number(&self, text: &str) -> String {
        with_emergency(text, self.config.site.emergency.as_deref())
    }

    fn page(
        &self,
        status: Status,
        template: PageTemplate,
        path: &str,
        values: minijinja::Value,
    ) -> Result<RenderedForm, Problem> {
        let place = ["area", "lat", "lng"].map(|name| Some((name, self.text(name).ok()??)));
        let keep: Vec<_> = place.iter().flatten().map(|(name, text)| (*name, text.as_str())).collect();
        let context = PageContext { page: "report", path, keep: &keep };
        let html = self
            .layout
            .render(template, self.language.translations(), context, values)
            .map_err(Problem::internal)?;
        let language = vec![("Content-Language", self.language.code().to_owned())];
        Ok(RenderedForm {
            status,
            body: Some(ApiResponse::public(HTML, html.into_bytes())),
            headers: language,
        })
    }
}

fn path(card: Option<&CardId>) -> String {
    card.map_or_else(
        || "/report".to_owned(),
        |card| format!("/report/{}", utf8_percent_encode(card.as_str(), ESCAPED)),
    )
}

fn text<'t>(group: &'t Value, name: &str) -> &'t str {
    group[name].as_str().unwrap_or_default()
}

/// Returns a text with the number in place of `{emergency}`. If there is no number, removes the sentences that need it.
fn with_emergency(text: &str, number: Option<&str>) -> String {
    match number {
        Some(number) => text.replace("{emergency}", number),
        None => text.split_inclusive(". ").filter(|sentence| !sentence.contains("{emergency}")).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_names_the_emergency_number_or_has_no_sentence_about_it() {
        let text = "Try again in ten minutes. In an emergency, call {emergency}.";
        assert_eq!(with_emergency(text, Some("911")), "Try again in ten minutes. In an emergency, call 911.");
        assert_eq!(with_emergency(text, None).trim_end(), "Try again in ten minutes.");
        assert_eq!(with_emergency("Call the agency.", Some("911")), "Call the agency.");
    }
}
