use std::fmt;

use rocket::{Build, Rocket};

/// Values that the server manages. A handler reads each value as `&State<T>`, or through a request guard.
#[derive(Default)]
pub struct ManagedState(Vec<Box<Add>>);

type Add = dyn FnOnce(Rocket<Build>) -> Rocket<Build> + Send;

impl ManagedState {
    /// Adds a value. The server manages at most one value of each type: with a second one, startup panics.
    pub fn add<T: Send + Sync + 'static>(&mut self, value: T) {
        self.0.push(Box::new(move |rocket| rocket.manage(value)));
    }

    pub(crate) fn attach(self, rocket: Rocket<Build>) -> Rocket<Build> {
        self.0.into_iter().fold(rocket, |rocket, add| add(rocket))
    }
}

impl fmt::Debug for ManagedState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ManagedState").field(&self.0.len()).finish()
    }
}
