use std::net::IpAddr;
use std::sync::Arc;

use rocket::Request;
use rocket::request::{FromRequest, Outcome};
use rocket::tokio::time::timeout;

use super::submission::ReportLimits;
use crate::changes::Follower;
use crate::config::Config;
use crate::guards::{CardUser, CardsWrite, FormSite, Language, Query, guard, managed};
use crate::http::error::Problem;
use crate::http::fairings::RequestInfo;
use crate::model::{AreaSet, Card, Clock, Places};
use crate::pages::layout::Layout;
use crate::photos::CardImages;
use crate::stores::Store;
use crate::telemetry::Metrics;

/// A request for the form, with the state that handlers need. Fails with 404 unless `cards.open`.
pub(in crate::pages) struct FormRequest<'r> {
    pub(super) config: &'r Config,
    pub(super) store: &'r dyn Store,
    pub(super) images: &'r CardImages,
    pub(super) clock: &'r dyn Clock,
    pub(super) limits: &'r ReportLimits,
    pub(super) metrics: &'r Metrics,
    pub(super) layout: &'r Layout,
    pub(super) user: CardUser<CardsWrite>,
    pub(super) language: Language,
    pub(super) address: Option<IpAddr>,
    /// Whether the form was sent from another site.
    pub(super) is_foreign: bool,
    /// Whether a script sent the request and expects JSON.
    pub(super) is_script: bool,
    follower: &'r Follower,
    query: Query<'r>,
}

guard!(FormRequest<'r>, |request| Self::from_parts(request).await);

impl<'r> FormRequest<'r> {
    async fn from_parts(request: &'r Request<'_>) -> Result<Self, Problem> {
        let config = managed::<Config>(request)?;
        if !config.cards.open {
            return Err(Problem::not_found("this page"));
        }
        let accept = request.headers().get_one("Accept").unwrap_or_default();
        Ok(Self {
            config,
            store: &**managed::<Arc<dyn Store>>(request)?,
            images: managed::<Arc<CardImages>>(request)?,
            clock: &**managed::<Arc<dyn Clock>>(request)?,
            limits: managed(request)?,
            metrics: managed(request)?,
            layout: managed(request)?,
            user: CardUser::for_request(request)?,
            language: guard(request).await?,
            address: RequestInfo::for_request(request).client,
            is_foreign: FormSite::new(request) == FormSite::Foreign,
            is_script: accept.starts_with("application/json"),
            follower: managed(request)?,
            query: Query::for_request(request),
        })
    }

    /// Uses the card's language unless `?lang=` is given.
    pub(super) fn with_card(mut self, card: &Card) -> Self {
        if self.query.get("lang").is_ok_and(|lang| lang.is_none())
            && let Some(language) = Language::from_tag(&card.holder.language, self.config)
        {
            self.language = language;
        }
        self
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<String>, Problem> {
        Ok(self.query.get(name)?.map(Into::into))
    }

    pub(super) async fn places(&self) -> Result<Arc<Places>, Problem> {
        let places = timeout(self.config.limits.timeout, self.store.places()).await;
        Ok(places.map_err(Problem::slow_store)??.value)
    }

    /// Returns the areas for the lists of the form; no areas if none could be read in time.
    pub(super) async fn areas(&self) -> Arc<AreaSet> {
        let areas = timeout(self.config.limits.timeout, self.follower.areas()).await;
        areas.ok().and_then(Result::ok).unwrap_or_default()
    }
}

async fn guard<'r, T: FromRequest<'r, Error = Problem>>(request: &'r Request<'_>) -> Result<T, Problem> {
    match request.guard::<T>().await {
        Outcome::Success(value) => Ok(value),
        Outcome::Error((_, problem)) => Err(problem),
        Outcome::Forward(_) => Err(Problem::internal("a guard of the page has forwarded")),
    }
}
