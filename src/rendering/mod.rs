//! From a question to its response: the response is rendered from the data in the store, cached, and sent in the form that the
//! client prefers.
//!
//! A route asks [`Answers`] a [`Question`]. If the cache has a current response, that is the [`Answer`]. Otherwise the
//! `Renderer` estimates how much memory the response takes, waits for a permit, queries the store and has the format write the
//! layer, on a thread that serves no requests.
//!
//! Programs add their own routes with [`Builder::mount`](crate::Builder::mount). These respond with an [`Answer`], too. If all
//! clients get the same response, take it from [`Answers`], which caches it; otherwise make it with a function of [`Answer`].

mod answer;
mod answers;
pub(crate) mod basemap;
pub(crate) mod cache;
pub(crate) mod envelope;
mod items;
mod layers;
mod parts;
mod permits;
mod question;
mod renderer;
mod statistics;
mod weight;

pub use self::answer::Answer;
pub(crate) use self::answer::{HTML, JSON, between, prepared};
pub use self::answers::Answers;
pub(crate) use self::items::{ItemsQuery, Wanted};
pub(crate) use self::layers::Layers;
pub(crate) use self::permits::{Busy, Lane, Memory, Permit, Permits};
pub use self::question::Question;
pub(crate) use self::renderer::Renderer;
