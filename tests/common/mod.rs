//! Modules shared by test targets. Each target declares the modules it uses, so that paths begin with `crate`.

#![allow(dead_code, reason = "few test targets use all of it")]

pub(crate) mod cluster;
pub(crate) mod demo;
pub(crate) mod dice;
pub(crate) mod eventually;
pub(crate) mod extract;
#[path = "../../crates/siaga-conformance/src/fixture.rs"]
pub(crate) mod fixture;
pub(crate) mod form;
pub(crate) mod large_map;
pub(crate) mod outcome;
pub(crate) mod photos;
pub(crate) mod port;
pub(crate) mod postgres;
pub(crate) mod programs;
pub(crate) mod proxy;
pub(crate) mod running;
pub(crate) mod server;
pub(crate) mod service_config;
#[path = "file.rs"]
pub(crate) mod store_file;
pub(crate) mod tools;
