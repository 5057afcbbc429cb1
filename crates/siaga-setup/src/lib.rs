//! Makes the folder of a city for Siaga: areas, base map, texts and configuration, from an OpenStreetMap extract or a GeoJSON file.
//!
//! `siaga setup` is the program; it also imports the areas and creates the first key. This crate never opens a database and never
//! uses the network.
//!
//! | file here | does |
//! |---|---|
//! | `options.rs`, `questions.rs`, `prepare.rs` | what may be chosen, and the conversation about it |
//! | `extract.rs`, `survey.rs`, `positions.rs` | read an extract in passes |
//! | `boundaries.rs`, `rings.rs`, `place.rs` | assemble boundaries, and choose the place and its areas |
//! | `basemap.rs` | reads roads, waters and names near the place |
//! | `own_file.rs` | reads a GeoJSON file instead of an extract |
//! | `city.rs`, `files.rs`, `folder.rs` | the result: what is written, and how |

#![warn(clippy::expect_used, clippy::unwrap_used)]

mod basemap;
mod boundaries;
mod city;
mod extract;
mod features;
mod files;
mod folder;
mod options;
mod own_file;
mod place;
mod positions;
mod prepare;
mod questions;
mod rings;
mod survey;
mod zones;

use std::fmt::Display;

use thiserror::Error;

pub use self::folder::{Prepared, Written};
pub use self::options::Options;

/// Why no folder was made.
#[derive(Debug, Error)]
pub enum SetupError {
    /// Answers that have no default are missing, and nobody can be asked. Each is an option with its meaning.
    #[error("missing: {}", .0.join(", "))]
    Missing(Vec<String>),
    /// Anything else, as one line for the operator.
    #[error("{0}")]
    Failed(String),
}

impl SetupError {
    fn failed(what: impl Display, why: impl Display) -> Self {
        Self::Failed(format!("{what}: {why}"))
    }
}
