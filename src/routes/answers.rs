use std::sync::Arc;
use std::time::Duration;

use rocket::Request;
use rocket::request::{FromRequest, Outcome};
use rocket::tokio::time::{Instant, timeout_at};

use super::Answer;
use super::answer::known;
use super::question::Question;
use super::renderer::Renderer;
use crate::admission::Account;
use crate::cache::LastKnown;
use crate::content::{Accepted, Coding, Content};
use crate::error::Problem;
use crate::fairings::is_head;
use crate::formats::Format;
use crate::guards::managed;
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
    accepted: Accepted,
    /// The lines of `If-None-Match`.
    known: Vec<String>,
}

#[rocket::async_trait]
impl<'r> FromRequest<'r> for Answers {
    type Error = Problem;

    async fn from_request(request: &'r Request<'_>) -> Outcome<Self, Problem> {
        let answers = managed::<Arc<Renderer>>(request).map(|renderer| Self {
            renderer: Arc::clone(renderer),
            account: Account::of(request),
            is_head: is_head(request),
            accepted: Accepted::new(request.headers().get("Accept-Encoding")),
            known: request.headers().get("If-None-Match").map(str::to_owned).collect(),
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
    /// If it has no form in the coding the client prefers, it is compressed, as far as there is time: else it is sent as it is.
    ///
    /// # Errors
    ///
    /// When the store fails or takes too long, the format cannot write what it gives, or too much is asked for.
    pub async fn to(&self, question: Question) -> Result<Answer, Problem> {
        let Self { renderer, account, is_head, .. } = self;
        let Renderer { store, cache, clock, .. } = &**renderer;
        let deadline = Instant::now() + renderer.timeout;
        let responding = async {
            let present = store.revision(question.resource()).await?;
            if *is_head && question.is_period() {
                return Ok(cache.cached(&question, present, &**clock));
            }
            let render = || Arc::clone(renderer).render(question.clone(), account.clone());
            cache.find(&question, present, &**clock, render).await.map(Some)
        };
        // The rendering goes on: the next request for the same response can get it.
        let outcome = timeout_at(deadline, responding).await.map_err(Problem::late).flatten();
        let (rendered, stale) = match outcome {
            Ok(None) => return Ok(Answer::unrendered(question.media_type().to_owned())),
            Ok(Some(rendered)) => (rendered, None),
            Err(problem) => {
                let (last, age) = self.stale(&question, problem)?;
                (last.rendered, Some((last.current_at, age)))
            }
        };
        if let Some(coding) = self.lacks(&rendered.content) {
            drop(timeout_at(deadline, cache.compress(&question, &rendered, coding)).await);
        }
        let answer = Answer::shared(&rendered);
        Ok(match stale {
            None => answer,
            Some((since, age)) => answer.stale_since(since, age),
        })
    }

    /// The coding in which a content is compressed for this request. It is not compressed for headers alone.
    fn lacks(&self, content: &Content) -> Option<Coding> {
        let coding = content.lacks(self.accepted)?;
        let is_known = || known(self.known.iter().map(String::as_str), content, self.accepted).is_some();
        (!self.is_head && !is_known()).then_some(coding)
    }

    /// The last response to a question and how long ago it was known to be current, for as long as may be; while the store is
    /// away.
    fn stale(&self, question: &Question, problem: Problem) -> Result<(LastKnown, Duration), Problem> {
        let Renderer { cache, clock, stale, metrics, .. } = &*self.renderer;
        let Some(last) = cache.last(question).filter(|_| problem.is_outage()) else { return Err(problem) };
        let now = clock.now();
        let age = now.since(last.current_at);
        let expired = question.expires_after().is_some_and(|after| now >= last.begun.after(after));
        if expired || stale.is_zero() || age > *stale {
            return Err(problem);
        }
        metrics.responded_stale();
        Ok((last, age))
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
