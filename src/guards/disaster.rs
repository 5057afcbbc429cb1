use rocket::Request;
use rocket::request::{FromRequest, Outcome};

use super::Query;
use crate::error::Problem;
use crate::model::DisasterType;

/// The query parameter `disaster`: one type of disaster, or absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disaster(pub Option<DisasterType>);

#[rocket::async_trait]
impl<'r> FromRequest<'r> for Disaster {
    type Error = Problem;

    async fn from_request(request: &'r Request<'_>) -> Outcome<Self, Problem> {
        let disaster = Query::of(request).one_of("disaster", &DisasterType::ALL);
        Problem::outcome(request, disaster.map(|disaster| Self(disaster.copied())))
    }
}
