use rocket::tokio::{self, select};
use rocket::{Orbit, Rocket};

/// Does some work beside a server until that is told to stop; what is under way then is left.
pub(crate) fn beside(rocket: &Rocket<Orbit>, work: impl Future<Output = ()> + Send + 'static) {
    let stop = rocket.shutdown();
    tokio::spawn(async move {
        select! {
            () = work => {}
            () = stop => {}
        }
    });
}
