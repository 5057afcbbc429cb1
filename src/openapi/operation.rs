use std::borrow::Cow;
use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use crate::model::DataState;
use crate::schema;

const JSON: &str = "application/json";
const PATH: &str = "path";
/// What responses of 200 and 304 say.
const WANTED: &str = "What was asked for.";
const KNOWN: &str = "What the client has is what it would get.";

/// An operation of the interface: a method of a path, with its parameters, body and responses.
#[derive(Clone, Debug, Default)]
pub struct Operation {
    summary: &'static str,
    parameters: Vec<Parameter>,
    body: Option<Value>,
    answers: BTreeMap<u16, Answer>,
    /// The alternatives, of which a request must satisfy one. If there are none, the operation takes no credential.
    security: Vec<Value>,
    /// The names of the formats that requests choose from.
    pub(crate) formats: Vec<String>,
}

/// A parameter of the query or the path, or a header.
#[derive(Clone, Debug)]
pub struct Parameter {
    name: Cow<'static, str>,
    place: &'static str,
    required: bool,
    says: String,
    schema: Value,
}

#[derive(Clone, Debug, Default)]
struct Answer {
    says: String,
    headers: Map<String, Value>,
    /// In the order in which they were added: clients and the page at `/docs` take the first.
    content: IndexMap<String, Value>,
}

impl Parameter {
    /// Makes a parameter of the query, which may be absent or empty.
    #[must_use]
    pub fn query(name: impl Into<Cow<'static, str>>, says: impl Into<String>, schema: Value) -> Self {
        Self { name: name.into(), place: "query", required: false, says: says.into(), schema }
    }

    /// Makes a segment of the path. A handler takes these in the order in which they appear in the path.
    #[must_use]
    pub fn path(name: impl Into<Cow<'static, str>>, says: impl Into<String>, schema: Value) -> Self {
        Self { place: PATH, required: true, ..Self::query(name, says, schema) }
    }

    /// Makes a header, which may be absent.
    pub(crate) fn header(name: &'static str, says: impl Into<String>, schema: Value) -> Self {
        Self { place: "header", ..Self::query(name, says, schema) }
    }

    /// Makes the parameter required.
    #[must_use]
    pub fn required(self) -> Self {
        Self { required: true, ..self }
    }

    fn into_value(self) -> Value {
        let Self { name, place, required, says, schema } = self;
        let mut value = json!({
            "name": name, "in": place, "required": required, "description": says, "schema": schema,
        });
        if !required && place == "query" {
            // An empty parameter counts as an absent one.
            value["allowEmptyValue"] = true.into();
        }
        value
    }
}

impl Operation {
    pub(super) fn new(summary: &'static str) -> Self {
        let mut operation = Self { summary, ..Self::default() };
        operation
            .refuses(429, "The client has sent too many requests; `Retry-After` says when to try again.");
        operation.refuses(500, "The service failed; the failure was logged.");
        operation.refuses(503, "The service cannot respond now; `Retry-After` says when to try again.");
        let retry_after =
            json!({ "description": "Seconds to wait.", "schema": { "type": "integer", "minimum": 1 } });
        for status in [429, 503] {
            self::header(operation.answer(status), "Retry-After", &retry_after);
        }
        operation
    }

    /// Adds a parameter.
    pub fn takes(&mut self, parameter: Parameter) {
        let says = format!("`{}` is not as it must be; the message says what is allowed.", parameter.name);
        self.refuses(400, says);
        self.parameters.push(parameter);
    }

    /// Sets the schema of a JSON body.
    pub(crate) fn takes_body(&mut self, schema: Value) {
        self.body = Some(json!({ "required": true, "content": { JSON: { "schema": schema } } }));
    }

    /// Sets the media types of a body.
    pub(crate) fn takes_bytes<'a>(&mut self, media_types: impl IntoIterator<Item = &'a str>) {
        let content: Map<_, _> = media_types
            .into_iter()
            .map(|media_type| (media_type.to_owned(), json!({ "schema": schema::bytes() })))
            .collect();
        self.body = Some(json!({ "required": true, "content": content }));
    }

    /// Requires a credential with one of these scopes. If there are no scopes, a credential is optional.
    pub(crate) fn takes_credential(&mut self, scopes: &[&str]) {
        self.security = if scopes.is_empty() { vec![json!({})] } else { Vec::new() };
        // All scopes within an alternative are required, so each scope is an alternative of its own.
        let alternatives: Vec<_> = match scopes {
            [] => vec![Vec::new()],
            scopes => scopes.iter().map(|&scope| vec![scope]).collect(),
        };
        for scheme in ["key", "token"] {
            self.security.extend(alternatives.iter().map(|scopes| json!({ scheme: scopes })));
        }
        self.refuses(403, "The credential is missing, not valid, or does not allow this.");
    }

    /// Requires a credential, whatever its scopes.
    pub(crate) fn requires_credential(&mut self) {
        self.takes_credential(&[]);
        self.security.retain(|alternative| *alternative != json!({}));
    }

    /// Makes its credential optional.
    pub(crate) fn needs_no_credential(&mut self) {
        self.security.insert(0, json!({}));
    }

    /// Adds a response of 200 with this media type and schema. If the media type already has schemas, this is one more
    /// alternative. The first media type is the one that the description offers first.
    pub fn gives(&mut self, media_type: &str, schema: Value) {
        let answer = self.answer(200);
        WANTED.clone_into(&mut answer.says);
        let media_type = media_type.split(';').next().unwrap_or_default().trim().to_owned();
        let content =
            answer.content.entry(media_type).or_insert_with(|| json!({ "schema": { "anyOf": [] } }));
        if let Some(Value::Array(alternatives)) = content.pointer_mut("/schema/anyOf") {
            alternatives.push(schema);
        }
    }

    /// Adds a response of 200 with JSON.
    pub(crate) fn gives_json(&mut self, schema: Value) {
        self.gives(JSON, schema);
    }

    /// Adds the headers and the 304 of a response that is the same for all clients.
    pub fn is_shared(&mut self) {
        let tag = json!({ "description": "The entity tag of the response.", "schema": { "type": "string" } });
        for status in [200, 304] {
            header(self.answer(status), "ETag", &tag);
        }
        let since = "Only while the store is away: until when the response was known to be current.";
        let age = "Only while the store is away: how many seconds ago that was.";
        for (name, says, schema) in [
            ("Siaga-Stale-Since", since, json!({ "type": "string", "format": "date-time" })),
            ("Age", age, json!({ "type": "integer", "minimum": 0 })),
        ] {
            let value = json!({ "description": says, "required": false, "schema": schema });
            for status in [200, 304] {
                header(self.answer(status), name, &value);
            }
        }
        let ignored =
            "The names of parameters that the operation does not know, percent-encoded, at most ten.";
        let ignored = json!({ "description": ignored, "required": false, "schema": { "type": "string" } });
        for status in [200, 304] {
            header(self.answer(status), "Siaga-Ignored", &ignored);
        }
        KNOWN.clone_into(&mut self.answer(304).says);
    }

    /// Adds the headers that say how current the data in a shared response is.
    pub(crate) fn tells_how_current_data_is(&mut self) {
        let status =
            "How current the data is, by its sources: the worst of them; `unknown` if none is configured.";
        let status =
            json!({ "description": status, "schema": { "type": "string", "enum": DataState::names() } });
        let as_of = "The time up to which all sources of the data were heard.";
        let as_of = json!({
            "description": as_of, "required": false, "schema": { "type": "string", "format": "date-time" },
        });
        for (code, says) in [(200, WANTED), (304, KNOWN)] {
            let answer = self.answer(code);
            says.clone_into(&mut answer.says);
            header(answer, "Siaga-Data-Status", &status);
            header(answer, "Siaga-Data-As-Of", &as_of);
        }
    }

    /// Adds the header and the member of the envelope that say that the service has no area of the city that was asked for. Called after
    /// the responses were added.
    pub(crate) fn tells_what_is_not_covered(&mut self) {
        let says = "Only if no area has the `city`: the name of the parameter. The response is then empty and says nothing about \
                    floods there.";
        self.supplement(("Siaga-Not-Covered", "city", says), "coverage", &schema::coverage());
    }

    /// Adds the header and the member of the envelope that say that a list has only the newest features. Called after the responses were
    /// added.
    pub(crate) fn tells_what_is_truncated(&mut self, most: u32) {
        let says = format!("Only if there are more than {most} reports: the response has the newest.");
        // Generators of clients write wrong code for a constant here.
        let member = json!({ "type": "boolean", "description": says });
        self.supplement(("Siaga-Truncated", "true", &says), "truncated", &member);
    }

    /// Adds a header with its only value and its description, and a member beside `result`.
    fn supplement(&mut self, (name, value, says): (&'static str, &str, &str), member: &str, schema: &Value) {
        let value = json!({
            "description": says, "required": false, "schema": { "type": "string", "enum": [value] },
        });
        for status in [200, 304] {
            header(self.answer(status), name, &value);
        }
        let content = self.answer(200).content.get_mut(JSON);
        let schemas = content.and_then(|content| content.pointer_mut("/schema/anyOf")?.as_array_mut());
        for envelope in schemas.into_iter().flatten() {
            if let Some(Value::Object(members)) = envelope.get_mut("properties") {
                members.insert(member.to_owned(), schema.clone());
            }
        }
    }

    /// Adds a response without a body.
    pub(crate) fn gives_nothing(&mut self, status: u16, says: impl Into<String>) {
        self.answer(status).says = says.into();
    }

    /// Adds an error response.
    pub fn refuses(&mut self, status: u16, says: impl Into<String>) {
        let answer = self.answer(status);
        let says = says.into();
        if !answer.says.contains(&says) {
            answer.says.push_str(if answer.says.is_empty() { "" } else { " " });
            answer.says.push_str(&says);
        }
        answer.content.insert(JSON.to_owned(), json!({ "schema": schema::reference("Problem") }));
    }

    fn answer(&mut self, status: u16) -> &mut Answer {
        self.answers.entry(status).or_default()
    }

    /// Returns the names of its query parameters.
    pub(super) fn query_parameters(&self) -> impl Iterator<Item = &str> {
        self.parameters
            .iter()
            .filter(|parameter| parameter.place == "query")
            .map(|parameter| &*parameter.name)
    }

    /// Returns whether it needs no credential.
    pub(super) fn is_public(&self) -> bool {
        self.security.is_empty() || self.security.contains(&json!({}))
    }

    /// Returns the names of its path parameters, in order.
    pub(super) fn path_parameters(&self) -> impl Iterator<Item = &str> {
        self.parameters.iter().filter(|parameter| parameter.place == PATH).map(|parameter| &*parameter.name)
    }

    /// Gives its path parameters the names in the path, and adds those that it lacks.
    pub(super) fn name_path_parameters(&mut self, path: &str) {
        let mut told = self.parameters.iter_mut().filter(|parameter| parameter.place == PATH);
        let mut untold = Vec::new();
        for name in path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')) {
            match told.next() {
                Some(parameter) => parameter.name = name.to_owned().into(),
                None => untold.push(name.to_owned()),
            }
        }
        for name in untold {
            self.takes(Parameter::path(name, "", json!({ "type": "string" })));
        }
    }

    /// Returns the operation as JSON for the document.
    pub(super) fn into_value(mut self, id: &str, tag: &str) -> Value {
        if !self.answers.contains_key(&200) {
            WANTED.clone_into(&mut self.answer(200).says);
        }
        let Self { summary, parameters, body, answers, security, formats: _ } = self;
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
        value["responses"] =
            answers.into_iter().map(|(status, answer)| (status.to_string(), answer.into_value())).collect();
        value
    }
}

fn header(answer: &mut Answer, name: &str, value: &Value) {
    answer.headers.insert(name.to_owned(), value.clone());
}

impl Answer {
    fn into_value(self) -> Value {
        let Self { says, headers, content } = self;
        let mut value = json!({ "description": says });
        if !headers.is_empty() {
            value["headers"] = headers.into();
        }
        if !content.is_empty() {
            value["content"] = content.into_iter().map(|(kind, content)| (kind, only(content))).collect();
        }
        value
    }
}

/// Simplifies a schema that has only one alternative.
fn only(mut content: Value) -> Value {
    if let Some(Value::Array(alternatives)) = content.pointer_mut("/schema/anyOf")
        && alternatives.len() == 1
    {
        let schema = alternatives.remove(0);
        content["schema"] = schema;
    }
    content
}
