//! The demo service of the documentation.

#![allow(dead_code, reason = "few test targets use all of it")]

use std::path::Path;

use serde_json::Value;

use crate::port::free_port;
use crate::running::{Running, keys};

/// The address in the documentation.
const DEFAULT: &str = "http://127.0.0.1:8000";

/// A service with the demo data on a free port.
pub(crate) struct Demo(Running);

impl Demo {
    pub(crate) fn start() -> Self {
        Self::configured(&[])
    }

    pub(crate) fn configured(variables: &[(&str, &str)]) -> Self {
        Self::printing(variables, "it allows everything")
    }

    pub(crate) fn configured_by(file: &str) -> Self {
        Self::configured(&[("ROCKET_CONFIG", file)])
    }

    /// With the file store, and the API keys in it.
    pub(crate) fn on_file(file: &Path) -> Self {
        let settings = [("SIAGA_STORE", "file"), ("SIAGA_FILE__PATH", file.to_str().unwrap())];
        Self::printing(&settings, "The map: ")
    }

    /// With these API keys, as in `siaga.auth.api_keys`.
    pub(crate) fn with_keys(keys: &str) -> Self {
        Self::printing(&[("SIAGA_AUTH__API_KEYS", keys)], "The map: ")
    }

    /// With API keys of its own, so that it prints none.
    pub(crate) fn with_own_key(variables: &[(&str, &str)]) -> Self {
        Self::printing(&[&[("SIAGA_AUTH__API_KEYS", &*keys())], variables].concat(), "The map: ")
    }

    /// Starts a service and waits until it prints a line with a text.
    fn printing(variables: &[(&str, &str)], until: &str) -> Self {
        // Addresses for uploads have the port of `base_url`, so it has to be known before the start.
        let port = free_port().to_string();
        let base = format!("http://127.0.0.1:{port}/v1");
        let own = [("ROCKET_PORT", &*port), ("SIAGA_BASE_URL", &*base)];
        Self(Running::start(&[&own, variables].concat(), until))
    }

    pub(crate) fn address(&self, target: &str) -> String {
        self.origin(&format!("/v1/{target}"))
    }

    pub(crate) fn base(&self) -> String {
        self.origin("/v1")
    }

    /// An address outside the base address.
    pub(crate) fn origin(&self, path: &str) -> String {
        format!("http://{}{path}", self.0.authority)
    }

    /// The key printed at startup.
    pub(crate) fn key(&self) -> &str {
        self.0.key()
    }

    /// The body of a read.
    pub(crate) fn text(&self, target: &str) -> String {
        self.body(&format!("/v1/{target}"))
    }

    /// The body at a path, also outside the base address.
    pub(crate) fn body(&self, path: &str) -> String {
        let response = self.0.request("GET", path, "\r\n");
        let (head, body) = response.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 "), "{response}");
        body.to_owned()
    }

    /// The same as JSON.
    pub(crate) fn get(&self, target: &str) -> Value {
        serde_json::from_str(&self.text(target)).unwrap()
    }

    /// How many areas are flooded.
    pub(crate) fn flooded(&self) -> usize {
        let flooded = self.get("floods/states")["result"].as_array().unwrap().len();
        assert!(flooded > 50, "{flooded}");
        flooded
    }

    /// Fills the address and the key into a code block.
    pub(crate) fn fill_in(&self, text: &str) -> String {
        let text = text.replace(DEFAULT, &format!("http://{}", self.0.authority));
        if text.contains("KEY=…") { text.replace("KEY=…", &format!("KEY={}", self.key())) } else { text }
    }

    /// Ends it and returns its log.
    pub(crate) fn log(self) -> String {
        self.0.kill()
    }

    /// Ends it and asserts that its log is empty.
    pub(crate) fn end(self) {
        assert_eq!(self.log().trim(), "");
    }
}
