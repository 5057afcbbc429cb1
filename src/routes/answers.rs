use std::sync::Arc;

use rocket::Request;
use rocket::request::{FromRequest, Outcome};
use rocket::tokio::time::timeout;

use super::Answer;
use super::question::Question;
use super::renderer::Renderer;
use crate::error::Problem;
use crate::fairings::is_head;
use crate::formats::Format;
use crate::guards::{Account, managed};
use crate::openapi::{Interface, Operation, Part};
use crate::stores::LayerQuery;

/// Responds to questions that everybody gets the same response to: from the cache, or else by rendering it. A guard.
///
/// While the store is away, and for `limits.stale` at most, the last response in the cache is returned, marked as stale.
///
/// A period that the client has chosen costs it as many requests as it is large, if it has to be rendered. `HEAD` of one that is
/// not cached renders nothing.
#[derive(Clone, Debug)]
pub struct Answers {
    renderer: Arc<Renderer>,
    account: Option<Account>,
    is_head: bool,
}

#[rocket::async_trait]
impl<'r> FromRequest<'r> for Answers {
    type Error = Problem;

    async fn from_request(request: &'r Request<'_>) -> Outcome<Self, Problem> {
        let answers = managed::<Arc<Renderer>>(request).map(|renderer| Self {
            renderer: Arc::clone(renderer),
            account: Account::of(request),
            is_head: is_head(request),
        });
        Problem::outcome(request, answers)
    }
}

impl Part for Answers {
    fn describe(_: &mut Operation, _: &Interface<'_>) {}
}

impl Answers {
    /// The response to a question: the one that the store would give now, whether it is asked or not.
    ///
    /// # Errors
    ///
    /// When the store fails or takes too long, the format cannot write what it gives, or too much is asked for.
    pub async fn to(&self, question: Question) -> Result<Answer, Problem> {
        let Self { renderer, account, is_head } = self;
        let Renderer { store, cache, clock, .. } = &**renderer;
        let responding = async {
            let present = store.revision(question.resource()).await?;
            if *is_head && question.is_period() {
                let cached = cache.cached(&question, present, &**clock);
                let headers = || Answer::unrendered(question.media_type().to_owned());
                return Ok(cached.map_or_else(headers, |rendered| Answer::shared(&rendered)));
            }
            let render = || Arc::clone(renderer).render(question.clone(), account.clone());
            Ok(Answer::shared(&*cache.find(&question, present, &**clock, render).await?))
        };
        // The rendering goes on: the next request for the same response can get it.
        let outcome = timeout(renderer.timeout, responding).await.map_err(Problem::late).flatten();
        outcome.or_else(|problem| self.stale(&question, problem))
    }

    /// The last response to a question, for as long as may be after it was known to be current; while the store is away.
    fn stale(&self, question: &Question, problem: Problem) -> Result<Answer, Problem> {
        let Renderer { cache, clock, stale, metrics, .. } = &*self.renderer;
        let Some(last) = cache.last(question).filter(|_| problem.is_outage()) else { return Err(problem) };
        let now = clock.now();
        let age = now.since(last.current_at);
        let expired = question.expires_after().is_some_and(|after| now >= last.begun.after(after));
        if expired || stale.is_zero() || age > *stale {
            return Err(problem);
        }
        metrics.responded_stale();
        Ok(Answer::shared(&last.rendered).stale_since(last.current_at, age))
    }

    /// The layer that a store answers a query with, in a format that carries it, be it enabled or not.
    ///
    /// # Errors
    ///
    /// As [`to`](Self::to).
    pub async fn layer(&self, query: LayerQuery, format: Arc<dyn Format>) -> Result<Answer, Problem> {
        self.to(Question::Layer(query, format)).await
    }
}
