use rocket::Request;
use serde_json::json;

use super::{Query, guard, managed};
use crate::http::error::Problem;
use crate::http::fairings::{BareAddresses, KnownParameters};
use crate::openapi::{Interface, Operation, Parameter, Part};

const NAME: &str = "revision";

/// `revision`: the requested version of the response, or absent. An address with this parameter always returns the same response,
/// so caches may reuse it for a day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RevisionParam {
    pub(crate) requested: Option<String>,
    /// The path and query, without this parameter and unknown ones.
    address: String,
}

impl RevisionParam {
    #[must_use]
    pub(crate) fn address(&self, revision: &str) -> String {
        let next = if self.address.contains('?') { '&' } else { '?' };
        format!("{}{next}{NAME}={revision}", self.address)
    }

    fn read(request: &Request<'_>) -> Result<Self, Problem> {
        let requested = Query::for_request(request).get(NAME)?.map(String::from);
        let query = request.uri().query().map_or("", |query| query.as_str());
        let names = managed::<KnownParameters>(request)?.for_route(request);
        let is_known =
            |name: &str| names.is_none_or(|names| names.contains(name) || name.contains(['%', '+']));
        let is_other = |part: &&str| {
            let name = part.split('=').next().unwrap_or_default();
            !name.is_empty() && name != NAME && is_known(name)
        };
        let pairs: Vec<_> = query.split('&').filter(is_other).collect();
        let path = BareAddresses::path(request);
        let address =
            if pairs.is_empty() { path.into_owned() } else { format!("{path}?{}", pairs.join("&")) };
        Ok(Self { requested, address })
    }
}

guard!(RevisionParam, |request| Self::read(request));

impl Part for RevisionParam {
    fn describe(operation: &mut Operation, _: &Interface<'_>) {
        const DESCRIPTION: &str = "As in the header `Content-Location` of a response: while the response is still the same, caches may \
                            reuse it for a day.";
        operation.parameter(Parameter::query(
            NAME,
            DESCRIPTION,
            json!({ "type": "string", "examples": ["0ce31fd5a1c2a3b4"] }),
        ));
    }
}
