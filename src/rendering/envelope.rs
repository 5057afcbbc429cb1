use std::fmt;

use serde::Serialize;

use crate::http::error::Problem;
use crate::model::AreaSet;

/// The bytes before and after the result in the envelope.
pub(crate) const ENVELOPE: (&[u8], &[u8]) = (br#"{"statusCode":200,"result":"#, b"}");

/// Appends `{"statusCode":200,"result":…}` around the JSON that `write` appends.
pub(crate) fn wrap<E>(
    body: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    body.extend_from_slice(ENVELOPE.0);
    write(body)?;
    body.extend_from_slice(ENVELOPE.1);
    Ok(())
}

/// The cities that the service covers, for a response about a city that it does not cover. `Display` writes a sentence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Coverage {
    city: String,
    covered: bool,
    cities: Vec<String>,
}

impl Coverage {
    /// Returns the coverage if the service has no area in this city.
    pub(super) fn for_uncovered(city: &str, areas: &AreaSet) -> Option<Self> {
        if areas.has_city(city) {
            return None;
        }
        let mut cities: Vec<String> = areas.codes().map(|(city, _)| city.clone()).collect();
        cities.retain(|city| !city.is_empty());
        cities.dedup();
        Some(Self { city: city.to_owned(), covered: false, cities })
    }
}

/// An additional member of the envelope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Supplement {
    NotCovered(Coverage),
    Truncated,
}

impl Supplement {
    pub(super) fn add_to(&self, object: &mut Vec<u8>) -> Result<(), Problem> {
        if object.pop_if(|last| *last == b'}').is_some() {
            match self {
                Self::NotCovered(coverage) => {
                    object.extend_from_slice(br#","coverage":"#);
                    serde_json::to_writer(&mut *object, coverage).map_err(Problem::internal)?;
                }
                Self::Truncated => object.extend_from_slice(br#","truncated":true"#),
            }
            object.push(b'}');
        }
        Ok(())
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { city, cities, .. } = self;
        write!(f, "This service does not cover the city {city} and does not know whether it is flooded.")?;
        if cities.is_empty() { Ok(()) } else { write!(f, " It covers {}.", cities.join(", ")) }
    }
}

pub(crate) fn result<T: Serialize>(value: &T) -> Result<Vec<u8>, Problem> {
    let mut body = Vec::new();
    wrap(&mut body, |body| serde_json::to_writer(body, value)).map_err(Problem::internal)?;
    Ok(body)
}

/// Returns `{"statusCode":200,"result":…}` around a struct, and repeats the struct's members next to `result`.
pub(crate) fn result_and_members<T: Serialize>(value: &T) -> Result<Vec<u8>, Problem> {
    #[derive(Serialize)]
    struct WithMembers<'a, T> {
        #[serde(rename = "statusCode")]
        status_code: u16,
        result: &'a T,
        #[serde(flatten)]
        members: &'a T,
    }
    serde_json::to_vec(&WithMembers { status_code: 200, result: value, members: value })
        .map_err(Problem::internal)
}
