use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::model::DataState;
use crate::schema::{self, annotate, array, object, text};

const JSON: &str = "application/json";
const PATH: &str = "path";
const CACHEABLE: [u16; 2] = [200, 304];
const OK: &str = "The requested data.";
const NOT_MODIFIED: &str = "The copy of the client is current.";

/// An operation of the interface: a method of a path, with its parameters, body and responses.
#[derive(Clone, Debug, Default)]
pub struct Operation {
    summary: &'static str,
    parameters: Vec<Parameter>,
    body: Option<Value>,
    /// The responses by status, as JSON for the document. The first media type is the one that clients and `/docs` use.
    responses: BTreeMap<u16, Value>,
    /// Alternative requirements, of which a request must satisfy one. If empty, the operation reads no credential.
    security: Vec<Value>,
    pub(crate) formats: Vec<String>,
}

/// A query or path parameter, or a header.
#[derive(Clone, Debug)]
pub struct Parameter {
    name: Cow<'static, str>,
    place: &'static str,
    required: bool,
    description: String,
    schema: Value,
}

impl Parameter {
    /// Creates a query parameter, which may be absent or empty.
    #[must_use]
    pub fn query(name: impl Into<Cow<'static, str>>, description: impl Into<String>, schema: Value) -> Self {
        Self { name: name.into(), place: "query", required: false, description: description.into(), schema }
    }

    /// Creates a path parameter. The order of a handler's path parameters must be their order in the path.
    #[must_use]
    pub fn path(name: impl Into<Cow<'static, str>>, description: impl Into<String>, schema: Value) -> Self {
        Self { place: PATH, required: true, ..Self::query(name, description, schema) }
    }

    pub(crate) fn header(name: &'static str, description: impl Into<String>, schema: Value) -> Self {
        Self { place: "header", ..Self::query(name, description, schema) }
    }

    /// Makes the parameter required.
    #[must_use]
    pub fn required(self) -> Self {
        Self { required: true, ..self }
    }

    fn into_value(self) -> Value {
        let Self { name, place, required, description, schema } = self;
        let mut value = json!({
            "name": name, "in": place, "required": required, "description": description, "schema": schema,
        });
        if !required && place == "query" {
            value["allowEmptyValue"] = true.into();
        }
        value
    }
}

impl Operation {
    pub(super) fn new(summary: &'static str) -> Self {
        let mut operation = Self { summary, ..Self::default() };
        operation.error(429, "The client has sent too many requests; `Retry-After` says when to try again.");
        operation.error(500, "The service failed; the failure was logged.");
        operation.error(503, "The service cannot respond now; `Retry-After` says when to try again.");
        let seconds = json!({ "type": "integer", "minimum": 1 });
        operation.header(&[429, 503], "Retry-After", "Seconds to wait.", &seconds);
        operation
    }

    /// Adds a parameter, and the 400 response for wrong values.
    pub fn parameter(&mut self, parameter: Parameter) {
        let note = format!("`{}` is not as it must be; the message says what is allowed.", parameter.name);
        self.error(400, note);
        self.parameters.push(parameter);
    }

    pub(crate) fn body(&mut self, schema: Value) {
        self.body = Some(json!({ "required": true, "content": { JSON: { "schema": schema } } }));
    }

    pub(crate) fn body_media_types<'a>(&mut self, media_types: impl IntoIterator<Item = &'a str>) {
        let content: Map<_, _> = media_types
            .into_iter()
            .map(|media_type| (media_type.to_owned(), json!({ "schema": schema::bytes() })))
            .collect();
        self.body = Some(json!({ "required": true, "content": content }));
    }

    /// Requires a credential with one of these scopes; without scopes, a credential is optional.
    pub(crate) fn credential(&mut self, scopes: &[&str]) {
        self.security = if scopes.is_empty() { vec![json!({})] } else { Vec::new() };
        // A request must have all scopes of an alternative, so each scope becomes an alternative of its own.
        let alternatives: Vec<_> = match scopes {
            [] => vec![Vec::new()],
            scopes => scopes.iter().map(|&scope| vec![scope]).collect(),
        };
        for scheme in ["key", "token"] {
            self.security.extend(alternatives.iter().map(|scopes| json!({ scheme: scopes })));
        }
        self.error(403, "The credential is missing, not valid, or does not allow this.");
    }

    /// Requires the secret of a push subscription.
    pub(crate) fn subscription_secret(&mut self) {
        self.security = vec![json!({ "subscription": [] })];
    }

    pub(crate) fn any_credential(&mut self) {
        self.credential(&[]);
        self.security.retain(|alternative| *alternative != json!({}));
    }

    pub(crate) fn optional_credential(&mut self) {
        self.security.insert(0, json!({}));
    }

    /// Adds a 200 response with this media type and schema. If the media type already has schemas, adds the schema as an
    /// alternative. The first media type is the default one.
    pub fn response(&mut self, media_type: &str, schema: Value) {
        let response = self.described_status(200, OK);
        let media_type = media_type.split(';').next().unwrap_or_default().trim();
        let alternatives = &mut response["content"][media_type]["schema"]["anyOf"];
        match alternatives {
            Value::Array(alternatives) => alternatives.push(schema),
            _ => *alternatives = json!([schema]),
        }
    }

    pub(crate) fn json_response(&mut self, schema: Value) {
        self.response(JSON, schema);
    }

    /// Describes the response as the same for all clients: adds its headers, and a 304 for conditional requests.
    pub fn cached_response(&mut self) {
        let (text, time) = (json!({ "type": "string" }), json!({ "type": "string", "format": "date-time" }));
        self.header(&CACHEABLE, "ETag", "The entity tag of the response.", &text);
        let note = "Only while the store is away: until when the response was known to be current.";
        self.optional_header("Siaga-Stale-Since", note, &time);
        let note = "Only while the store is away: how many seconds ago that was.";
        self.optional_header("Age", note, &json!({ "type": "integer", "minimum": 0 }));
        let note = "The names of parameters that the operation does not know, percent-encoded, at most ten.";
        self.optional_header("Siaga-Ignored", note, &text);
        self.described_status(304, NOT_MODIFIED);
    }

    pub(crate) fn freshness_headers(&mut self) {
        self.described_status(200, OK);
        self.described_status(304, NOT_MODIFIED);
        let note =
            "How current the data is, by its sources: the worst of them; `unknown` if none is configured.";
        let names = json!({ "type": "string", "enum": DataState::names() });
        self.header(&CACHEABLE, "Siaga-Data-Status", note, &names);
        let note = "The time up to which all sources of the data were heard.";
        let time = json!({ "type": "string", "format": "date-time" });
        self.optional_header("Siaga-Data-As-Of", note, &time);
    }

    /// Adds the header and envelope member of a response for a city without areas. Call it after adding the responses.
    pub(crate) fn coverage_header(&mut self) {
        let description = "Only if no area has the `city`: the name of the parameter. The response is then empty and says nothing about \
                    floods there.";
        let coverage = object(json!({
            "city": text("The city that was asked for."),
            "covered": { "const": false },
            "cities": array(json!({ "type": "string" })),
        }));
        let member = "Only if no area has the `city`: the cities that the areas have.";
        let coverage = annotate(coverage, json!({ "description": member }));
        self.supplement(("Siaga-Not-Covered", "city", description), "coverage", &coverage);
    }

    /// Adds the header and envelope member of a list that has only the newest features. Call it after adding the responses.
    pub(crate) fn truncation_header(&mut self, max: u32) {
        let description = format!("Only if there are more than {max} reports: the response has the newest.");
        // A boolean, because client generators write wrong code for the constant `true`.
        let member = json!({ "type": "boolean", "description": description });
        self.supplement(("Siaga-Truncated", "true", &description), "truncated", &member);
    }

    fn supplement(&mut self, (name, value, description): (&str, &str, &str), member: &str, schema: &Value) {
        self.optional_header(name, description, &json!({ "type": "string", "enum": [value] }));
        let pointer = "/content/application~1json/schema/anyOf";
        let schemas = self.status_entry(200).pointer_mut(pointer).and_then(Value::as_array_mut);
        for envelope in schemas.into_iter().flatten() {
            if let Some(Value::Object(members)) = envelope.get_mut("properties") {
                members.insert(member.to_owned(), schema.clone());
            }
        }
    }

    fn header(&mut self, statuses: &[u16], name: &str, description: &str, schema: &Value) {
        for status in statuses {
            self.status_entry(*status)["headers"][name] =
                json!({ "description": description, "schema": schema });
        }
    }

    fn optional_header(&mut self, name: &str, description: &str, schema: &Value) {
        self.header(&CACHEABLE, name, description, schema);
        for status in CACHEABLE {
            self.status_entry(status)["headers"][name]["required"] = false.into();
        }
    }

    pub(crate) fn empty_response(&mut self, status: u16, description: impl Into<String>) {
        self.status_entry(status)["description"] = Value::String(description.into());
    }

    /// Adds an error response. Descriptions for the same status are joined.
    pub fn error(&mut self, status: u16, description: impl Into<String>) {
        let (response, description) = (self.status_entry(status), description.into());
        let previous = response["description"].as_str().unwrap_or_default();
        if !previous.contains(&description) {
            response["description"] = format!("{previous} {description}").trim_start().into();
        }
        response["content"][JSON] = json!({ "schema": schema::reference("Problem") });
    }

    fn status_entry(&mut self, status: u16) -> &mut Value {
        self.responses.entry(status).or_insert_with(|| json!({ "description": "" }))
    }

    fn described_status(&mut self, status: u16, description: &str) -> &mut Value {
        let response = self.status_entry(status);
        response["description"] = description.into();
        response
    }

    pub(super) fn query_parameters(&self) -> impl Iterator<Item = &str> {
        self.parameters
            .iter()
            .filter(|parameter| parameter.place == "query")
            .map(|parameter| &*parameter.name)
    }

    pub(super) fn is_public(&self) -> bool {
        self.security.is_empty() || self.security.contains(&json!({}))
    }

    pub(super) fn path_parameters(&self) -> impl Iterator<Item = &str> {
        self.parameters.iter().filter(|parameter| parameter.place == PATH).map(|parameter| &*parameter.name)
    }

    /// Renames the path parameters to their names in the path, and adds missing ones.
    pub(super) fn name_path_parameters(&mut self, path: &str) {
        let mut declared = self.parameters.iter_mut().filter(|parameter| parameter.place == PATH);
        let mut missing = Vec::new();
        for name in path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')) {
            match declared.next() {
                Some(parameter) => parameter.name = name.to_owned().into(),
                None => missing.push(name.to_owned()),
            }
        }
        for name in missing {
            self.parameter(Parameter::path(name, "", json!({ "type": "string" })));
        }
    }

    pub(super) fn into_value(mut self, id: &str, tag: &str) -> Value {
        if !self.responses.contains_key(&200) {
            self.described_status(200, OK);
        }
        let Self { summary, parameters, body, responses, security, formats: _ } = self;
        let mut value = json!({ "operationId": id, "tags": [tag] });
        if !summary.is_empty() {
            value["summary"] = summary.into();
        }
        if !parameters.is_empty() {
            value["parameters"] = parameters.into_iter().map(Parameter::into_value).collect();
        }
        if let Some(body) = body {
            value["requestBody"] = body;
        }
        value["security"] = security.into();
        for (status, mut response) in responses {
            let content = response.get_mut("content").and_then(Value::as_object_mut);
            content.into_iter().flatten().for_each(|(_, content)| unwrap_single(content));
            value["responses"][status.to_string()] = response;
        }
        value
    }
}

fn unwrap_single(content: &mut Value) {
    if let Some(Value::Array(alternatives)) = content.pointer_mut("/schema/anyOf")
        && alternatives.len() == 1
    {
        let schema = alternatives.remove(0);
        content["schema"] = schema;
    }
}
