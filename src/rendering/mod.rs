//! From a question to its response: the response is rendered from the data in the store, cached, and sent in the form that the
//! client prefers.
//!
//! A route asks [`ResponseCache`] a [`ResponseKey`]. If the cache has a current response, that is the [`ApiResponse`]. Otherwise the
//! `Renderer` estimates how much memory the response takes, waits for a permit, queries the store and has the format write the
//! layer, on a thread that serves no requests.
//!
//! Programs add their own routes with [`Builder::mount`](crate::Builder::mount). These respond with an [`ApiResponse`], too. If all
//! clients get the same response, take it from [`ResponseCache`], which caches it; otherwise make it with a function of [`ApiResponse`].

mod api_response;
pub(crate) mod basemap;
pub(crate) mod cache;
pub(crate) mod envelope;
mod items;
mod layers;
mod parts;
mod permits;
mod renderer;
mod response_cache;
mod response_key;
mod statistics;
mod weight;

pub use self::api_response::ApiResponse;
pub(crate) use self::api_response::{HTML, JSON, between, prepared};
pub(crate) use self::items::{ItemSelector, ItemsQuery};
pub(crate) use self::layers::Layers;
pub(crate) use self::permits::{Busy, Memory, Permit, PermitPool, Permits};
pub(crate) use self::renderer::Renderer;
pub use self::response_cache::ResponseCache;
pub use self::response_key::ResponseKey;
