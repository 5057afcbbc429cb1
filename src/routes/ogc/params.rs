use std::sync::Arc;

use rocket::Request;
use serde_json::{Value, json};
use url::form_urlencoded;

use crate::config::Config;
use crate::formats::tables::{Collection, PageCursor, Selection, TableSchema, ValueFilter, parse_bbox};
use crate::guards::{BboxParam, Language, QueryParameter, guard, managed};
use crate::http::error::{Problem, Source};
use crate::model::digits;
use crate::openapi::{Interface, Operation, Parameter, Part};
use crate::rendering::{ItemSelector, Renderer};

const DEFAULT_LIMIT: usize = 1_000;
const MAX_LIMIT: usize = 10_000;

#[derive(Debug)]
pub(in super::super) struct OgcParams {
    /// The decoded parameters, without `f` and `lang`.
    parameters: Vec<(String, String)>,
    pub(super) language: Language,
}

guard!(OgcParams, |request| Self::from_request(request));

impl Part for OgcParams {
    fn describe(operation: &mut Operation, interface: &Interface<'_>) {
        let schema = json!({ "type": "string", "enum": ["json"] });
        operation.parameter(Parameter::query("f", "The form of the response.", schema));
        Language::describe(operation, interface);
    }
}

impl OgcParams {
    /// Reads the parameters. Fails if one is given twice, or if the format is not JSON.
    fn from_request(request: &Request<'_>) -> Result<Self, Problem> {
        let query = request.uri().query().map_or("", |query| query.as_str());
        let mut parameters: Vec<(String, String)> = Vec::new();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            if parameters.iter().any(|(other, _)| *other == name) {
                return Err(Problem::invalid(Source::Query, &name, "must be given once"));
            }
            parameters.push((name.into_owned(), value.into_owned()));
        }
        if parameters.iter().any(|(name, form)| name == "f" && !matches!(form.as_str(), "" | "json")) {
            return Err(Problem::invalid(Source::Query, "f", "must be one of [json]"));
        }
        let language = Language::for_request(request)?;
        parameters.retain(|(name, _)| !matches!(name.as_str(), "f" | "lang"));
        Ok(Self { parameters, language })
    }

    /// Fails with 400 if the request has other parameters than these, `f` and `lang` (OGC API – Features 1.0 §7.5.1).
    pub(super) fn check_known(&self, known: &[&str]) -> Result<(), Problem> {
        let Some((other, _)) = self.parameters.iter().find(|(name, _)| !known.contains(&name.as_str()))
        else {
            return Ok(());
        };
        let names = [known, &["f", "lang"]].concat().join(", ");
        Err(Problem::invalid(
            Source::Query,
            other,
            format_args!("is not a parameter of this address, which has {names}"),
        ))
    }

    /// Parses the selection. Fails with 400 and the parameter that is wrong or unknown.
    pub(super) fn selection(
        &self,
        collection: Collection,
        tables: &TableSchema,
    ) -> Result<ItemSelector, Problem> {
        let columns = tables.columns(collection);
        let names: Vec<&str> =
            SELECTION_PARAMETERS.into_iter().chain(columns.iter().map(|column| &*column.name)).collect();
        self.check_known(&names)?;
        let mut selection = Selection {
            part: None,
            time: None,
            values: Vec::new(),
            limit: DEFAULT_LIMIT,
            after: None,
            offset: 0,
        };
        let mut parameters: Vec<(&str, &str)> = Vec::new();
        // Empty parameters count as absent.
        for (name, value) in self.parameters.iter().filter(|(_, value)| !value.is_empty()) {
            let invalid = |rule: String| Problem::invalid(Source::Query, name, rule);
            match name.as_str() {
                "cursor" => {
                    let cursor =
                        PageCursor::parse(collection, value).map_err(|error| invalid(error.to_string()))?;
                    selection.after = Some(cursor);
                    continue;
                }
                "bbox" => {
                    selection.part = Some(parse_bbox(value).map_err(|error| invalid(error.to_string()))?);
                }
                "datetime" => {
                    let time = value.parse().map_err(|error| invalid(format!("{error}")))?;
                    selection.time = Some(time).filter(|_| collection.has_time());
                }
                "offset" | "startindex" => {
                    let offset = digits(value).and_then(|offset| usize::try_from(offset).ok());
                    let offset =
                        offset.ok_or_else(|| invalid("must be a whole number, 0 or more".to_owned()))?;
                    selection.offset = selection.offset.max(offset);
                    continue;
                }
                "limit" => {
                    let limit = digits(value).filter(|limit| *limit > 0);
                    let limit = limit
                        .ok_or_else(|| invalid(format!("must be a whole number from 1 to {MAX_LIMIT}")))?;
                    // A larger limit selects the largest page (§7.15.2).
                    selection.limit = usize::try_from(limit).unwrap_or(MAX_LIMIT).min(MAX_LIMIT);
                }
                name => {
                    let column = columns.iter().position(|column| column.name == name);
                    let Some(column) = column else { continue };
                    selection
                        .values
                        .push((column, ValueFilter::parse(columns[column].kind, value).map_err(invalid)?));
                }
            }
            parameters.push((name, value));
        }
        // Sort them, so that requests with another order of parameters share a cached response.
        parameters.sort_unstable();
        selection.values.sort_by_key(|(column, _)| *column);
        let parameters = form_urlencoded::Serializer::new(String::new()).extend_pairs(parameters).finish();
        Ok(ItemSelector::Page(selection, parameters))
    }
}

const SELECTION_PARAMETERS: [&str; 6] = ["bbox", "datetime", "limit", "cursor", "offset", "startindex"];

/// Returns the name, description and schema of each selection parameter.
pub(super) fn selection_parameters(config: &Config) -> [(&'static str, &'static str, Value); 6] {
    let [bbox, datetime, limit, cursor, offset, start_index] = SELECTION_PARAMETERS;
    let time = "A time, or two with / between them, of which one may be .. instead: floods are as they were at the end. Without effect \
                on areas and infrastructure.";
    let number = || json!({ "type": "integer", "minimum": 0, "default": 0 });
    [
        (
            bbox,
            "Only features that touch this part of the map: west, south, east and north in degrees. A west that is greater than the \
             east crosses the 180th meridian.",
            BboxParam::schema(config),
        ),
        (
            datetime,
            time,
            json!({ "type": "string", "pattern": time_pattern(), "examples": ["2016-12-19T13:00:00Z"] }),
        ),
        (
            limit,
            "How many features a page has at most.",
            json!({ "type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT }),
        ),
        (
            cursor,
            "Where the page begins: from the link to the next page.",
            json!({ "type": "string", "pattern": r"^\d{1,15}\.[^\s]{1,200}$" }),
        ),
        (
            offset,
            "How many features are left out before the page. The links to next pages have a cursor, which stays right when \
             features come and go.",
            number(),
        ),
        (start_index, "The same as `offset`; the greater of both counts.", number()),
    ]
}

/// Returns the pattern of `datetime`: a time, or an interval with at most one open end.
fn time_pattern() -> String {
    let day = r"(19[7-9]|20\d)\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])";
    let moment = format!(r"{day}T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{{1,3}})?(Z|[+-](0\d|1[0-3]):[0-5]\d)");
    format!(r"^({moment}|{moment}/(\.\.)?|(\.\.)?/{moment}|{moment}/{moment})$")
}

#[derive(Debug)]
pub(in super::super) struct OgcState<'r> {
    pub(super) config: &'r Config,
    pub(super) renderer: &'r Arc<Renderer>,
}

impl OgcState<'_> {
    pub(super) fn address(&self, path: &str) -> String {
        format!("{}/ogc{path}", self.config.base_url.as_str().trim_end_matches('/'))
    }
}

guard!(OgcState<'r>, |request| {
    let state = || Ok(Self { config: managed(request)?, renderer: managed(request)? });
    state()
});

impl Part for OgcState<'_> {
    fn describe(_: &mut Operation, _: &Interface<'_>) {}
}
