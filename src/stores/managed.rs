use std::fmt;

use rocket::{Build, Rocket};

/// Values that the server manages. Handlers take each as `&State<T>`, or through a guard that reads it.
#[derive(Default)]
pub struct Managed(Vec<Box<Add>>);

/// Adds one value to a server.
type Add = dyn FnOnce(Rocket<Build>) -> Rocket<Build> + Send;

impl Managed {
    /// Adds a value. The server can manage one of each type; a second one makes startup panic.
    pub fn add<T: Send + Sync + 'static>(&mut self, value: T) {
        self.0.push(Box::new(move |rocket| rocket.manage(value)));
    }

    /// Adds the values to a server.
    pub(crate) fn attach(self, rocket: Rocket<Build>) -> Rocket<Build> {
        self.0.into_iter().fold(rocket, |rocket, add| add(rocket))
    }
}

impl fmt::Debug for Managed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Managed").field(&self.0.len()).finish()
    }
}
