use std::fmt;

use rocket::{Build, Rocket};

/// Values that the server manages: handlers take each as `&State<T>`, or by a guard that looks for it.
#[derive(Default)]
pub struct Managed(Vec<Box<Add>>);

/// Has a server manage one value.
type Add = dyn FnOnce(Rocket<Build>) -> Rocket<Build> + Send;

impl Managed {
    /// Adds a value. The server can manage one of each type; a second one is a panic at the start.
    pub fn add<T: Send + Sync + 'static>(&mut self, value: T) {
        self.0.push(Box::new(move |rocket| rocket.manage(value)));
    }

    /// Hands the values to a server.
    pub(crate) fn attach(self, rocket: Rocket<Build>) -> Rocket<Build> {
        self.0.into_iter().fold(rocket, |rocket, add| add(rocket))
    }
}

impl fmt::Debug for Managed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Managed").field(&self.0.len()).finish()
    }
}
