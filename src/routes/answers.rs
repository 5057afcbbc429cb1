use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use chrono_tz::Tz;
use rocket::tokio::time::timeout;
use serde::Serialize;

use super::answer::{Answer, JSON};
use super::envelope;
use super::question::Question;
use super::stats::{FloodedAreas, FloodedRegions, Reported, flooded};
use crate::cache::{Cache, Rendered};
use crate::content::Content;
use crate::error::Problem;
use crate::formats::{Container, EncodeContext, Format};
use crate::model::{Clock, Lasting, Layer};
use crate::off_thread::{Stop, off_thread};
use crate::stores::{LayerQuery, Store, Versioned};

/// Answers questions: from what is at hand, or else from the store, written off the threads that serve requests.
#[derive(Clone, Debug)]
pub struct Answers {
    /// Who knows.
    pub store: Arc<dyn Store>,
    /// What is at hand.
    pub cache: Cache<Question, Problem>,
    /// Where the time of a request comes from.
    pub clock: Arc<dyn Clock>,
    /// The zone of times written for people.
    pub time_zone: Tz,
    /// The public base address.
    pub base_url: Arc<str>,
    /// Where this service's photos are, without a slash at its end.
    pub photos_url: Arc<str>,
    /// How long an answer may take, with all that is waited for.
    pub timeout: Duration,
}

impl Answers {
    /// The answer to a question: the one that the store would give now, whether it is asked or not.
    ///
    /// # Errors
    ///
    /// When the store fails or takes too long, or the format cannot write what it gives.
    pub async fn to(&self, question: Question) -> Result<Answer, Problem> {
        let answering = async {
            let present = self.store.revision(question.resource()).await?;
            let render = || {
                let (answers, question) = (self.clone(), question.clone());
                async move { answers.render(&question).await }
            };
            self.cache.find(&question, present, &*self.clock, render).await
        };
        // The rendering goes on: the next request for the same response can get it.
        let rendered = timeout(self.timeout, answering).await.map_err(Problem::late)??;
        Ok(Answer::shared(&rendered))
    }

    /// The layer that a store answers a query with, in a format that carries it, be it enabled or not.
    ///
    /// # Errors
    ///
    /// As [`to`](Self::to).
    pub async fn layer(&self, query: LayerQuery, format: Arc<dyn Format>) -> Result<Answer, Problem> {
        self.to(Question::Layer(query, format)).await
    }

    async fn render(&self, question: &Question) -> Result<Versioned<Rendered>, Problem> {
        let store = &*self.store;
        match question {
            Question::Layer(query, format) => self.encode(query.ask(store).await?, Arc::clone(format)).await,
            Question::FloodStates(query) => result(store.flood_states(query).await?).await,
            Question::FloodArchive(query) => result(store.flood_archive(query).await?).await,
            Question::FloodSeries(query) => result(store.flood_series(query).await?).await,
            Question::ReportSeries(query) => result(store.report_series(query).await?).await,
            Question::FloodedRegions(areas) => {
                statistic(flooded(store, areas).await?.map(|flooded| FloodedRegions::of(&flooded))).await
            }
            Question::FloodedAreas(areas) => {
                statistic(flooded(store, areas).await?.map(|flooded| FloodedAreas::of(&flooded))).await
            }
            Question::ReportSummary(query) => {
                statistic(store.report_summary(query).await?.map(Reported::from)).await
            }
        }
    }

    /// The layer in the format; in the JSON envelope where the format writes JSON.
    async fn encode(
        &self,
        layer: Versioned<Layer>,
        format: Arc<dyn Format>,
    ) -> Result<Versioned<Rendered>, Problem> {
        let layer = layer.map(|layer| layer.with_photos_at(&self.photos_url));
        let (mut now, mut lasting) = (self.clock.now(), layer.lasting);
        if let Some(step) = format.time_step() {
            lasting = lasting.and(Lasting::step(now, step));
            now = now.floor(step);
        }
        let mut context = EncodeContext::new(now, self.time_zone, Arc::clone(&self.base_url));
        let rendered = write(layer, move |layer, stop| {
            context.stop = stop.clone();
            let encode = |body: &mut Vec<u8>| format.encode(layer, &context, body);
            let body = if format.container() == Container::JSON {
                envelope::enveloped(encode)?
            } else {
                let mut body = Vec::new();
                encode(&mut body)?;
                body
            };
            Ok((format.media_type().to_owned().into(), body))
        });
        Ok(rendered.await?.within(lasting))
    }
}

/// `{"statusCode":200,"result":…}` of what was found.
async fn result<T>(found: Versioned<T>) -> Result<Versioned<Rendered>, Problem>
where
    T: Serialize + Send + 'static,
{
    write(found, |value, _| Ok((JSON.into(), envelope::result(value)?))).await
}

/// `{"statusCode":200,"result":…}` and the members of the result beside it, where existing maps read statistics.
async fn statistic<T>(found: Versioned<T>) -> Result<Versioned<Rendered>, Problem>
where
    T: Serialize + Send + 'static,
{
    write(found, |value, _| Ok((JSON.into(), envelope::result_and_members(value)?))).await
}

/// What `write` makes of what was found, and its tag.
async fn write<T: Send + 'static>(
    found: Versioned<T>,
    write: impl FnOnce(&T, &Stop) -> Result<(Cow<'static, str>, Vec<u8>), Problem> + Send + 'static,
) -> Result<Versioned<Rendered>, Problem> {
    let writing = off_thread(move |stop| {
        let (media_type, bytes) = write(&found.value, stop)?;
        let content = Content::tagged(bytes);
        Ok(found.map(|_| Rendered { media_type, content: Arc::new(content) }))
    });
    writing.await.map_err(Problem::internal)?
}
