//! API keys, by the command.

use std::cell::RefCell;

use serde_json::json;

use super::{Operation, SOON, Site};
use crate::eventually::eventually_blocking;

#[derive(Debug)]
pub(super) struct Key {
    name: String,
    /// Known if the command has succeeded.
    secret: RefCell<Option<String>>,
}

impl Key {
    fn create(&self, site: &Site) -> Result<(), String> {
        let said = site.run(&["key", "create", "--name", &self.name, "--scope", "admin"])?;
        *self.secret.borrow_mut() = said.trim_end().rsplit(' ').next().map(str::to_owned);
        Ok(())
    }

    /// Its line in the list, which no fault concerns.
    fn line(&self, site: &Site) -> Option<String> {
        let list = site.run(&["key", "list"]).unwrap();
        list.lines().find(|line| line.starts_with(&format!("{} ", self.name))).map(str::to_owned)
    }

    /// Whether a server accepts it.
    fn works(&self, site: &Site) -> Option<bool> {
        let secret = self.secret.borrow();
        Some(site.server().request_json(secret.as_ref()?, "GET", "/v1/floods/log", &json!(null)).0 == 200)
    }
}

pub(super) struct Creation;

impl Operation for Creation {
    type Subject = Key;

    fn prepare(&self, _: &mut Site, number: usize) -> Key {
        Key { name: format!("key-{number}"), secret: RefCell::default() }
    }

    fn attempt(&self, site: &mut Site, key: &Key) -> bool {
        key.create(site).map_or_else(|error| error.contains("there is, or was, a key"), |()| true)
    }

    fn parts(&self, site: &Site, key: &Key) -> Vec<bool> {
        vec![key.works(site).unwrap_or_else(|| key.line(site).is_some())]
    }
}

pub(super) struct Revocation;

impl Operation for Revocation {
    type Subject = Key;

    fn prepare(&self, site: &mut Site, number: usize) -> Key {
        let key = Creation.prepare(site, number);
        key.create(site).unwrap();
        eventually_blocking("the key works", SOON, || key.works(site), |works| *works == Some(true));
        key
    }

    fn attempt(&self, site: &mut Site, key: &Key) -> bool {
        let is_revoked = site.run(&["key", "revoke", &key.name]).is_ok();
        assert!(!is_revoked || site.is_armed() || key.line(site).unwrap().ends_with('Z'));
        is_revoked
    }

    fn parts(&self, site: &Site, key: &Key) -> Vec<bool> {
        vec![key.works(site) == Some(false)]
    }
}
