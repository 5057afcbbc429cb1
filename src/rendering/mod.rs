//! Renders responses from the data in the store, caches them, and sends each in the encoding that the client prefers.
//!
//! A route passes a [`ResponseKey`] to [`ResponseCache`], which returns the [`ApiResponse`]. On a cache miss, the `Renderer`
//! estimates how much memory the response takes, waits for a permit, queries the store and encodes the layer in its format, on a
//! thread that serves no requests.
//!
//! Routes that programs add with [`Builder::mount`](crate::Builder::mount) return an [`ApiResponse`], too: from [`ResponseCache`]
//! if all clients get the same response, which is then cached; otherwise from a constructor of [`ApiResponse`].

mod api_response;
pub(crate) mod basemap;
mod bbox_key;
pub(crate) mod cache;
mod cost;
pub(crate) mod envelope;
mod items;
mod layer_cache;
mod permits;
mod renderer;
mod response_cache;
mod response_key;
mod statistics;

pub use self::api_response::ApiResponse;
pub(crate) use self::api_response::{HTML, JSON, cache_topology, precompress};
pub(crate) use self::items::{ItemSelector, ItemsQuery};
pub(crate) use self::layer_cache::LayerCache;
pub(crate) use self::permits::{Busy, Memory, Permit, PermitPool, Permits};
pub(crate) use self::renderer::Renderer;
pub use self::response_cache::ResponseCache;
pub use self::response_key::ResponseKey;
