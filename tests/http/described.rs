//! Checks every response of the HTTP tests against the OpenAPI document.

use std::collections::HashMap;
use std::io::Cursor;
use std::sync::{Arc, Mutex};

use jsonschema::Validator;
use rocket::fairing::{Fairing, Info, Kind};
use rocket::http::{Method, Status};
use rocket::{Data, Request, Response};
use serde_json::{Value, json};

/// A fairing that panics on an undescribed response.
pub(crate) struct Described {
    document: Arc<Value>,
    /// The JSON pointer of each operation, by its id.
    operations: HashMap<String, String>,
    validators: Mutex<HashMap<String, Arc<Validator>>>,
}

impl Described {
    pub(crate) fn new(mut document: Value) -> Self {
        strict(&mut document);
        let mut operations = HashMap::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                let place = format!("/paths/{}/{method}", escaped(path));
                operations.insert(operation["operationId"].as_str().unwrap().to_owned(), place);
            }
        }
        Self { document: Arc::new(document), operations, validators: Mutex::default() }
    }

    fn validator(&self, place: &str) -> Arc<Validator> {
        let make = || {
            let mut schema = (*self.document).clone();
            schema["$ref"] = format!("#{place}").replace('{', "%7B").replace('}', "%7D").into();
            Arc::new(jsonschema::validator_for(&schema).unwrap())
        };
        Arc::clone(self.validators.lock().unwrap().entry(place.to_owned()).or_insert_with(make))
    }
}

/// Escapes a part of a JSON pointer (RFC 6901 §3).
fn escaped(part: &str) -> String {
    part.replace('~', "~0").replace('/', "~1")
}

/// Forbids undescribed properties.
fn strict(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if object.get("type") == Some(&json!("object")) && object.contains_key("properties") {
                object.entry("additionalProperties").or_insert(false.into());
            }
            object.values_mut().for_each(strict);
        }
        Value::Array(items) => items.iter_mut().for_each(strict),
        _ => {}
    }
}

#[rocket::async_trait]
impl Fairing for Described {
    fn info(&self) -> Info {
        Info { name: "Described", kind: Kind::Request | Kind::Response }
    }

    async fn on_request(&self, request: &mut Request<'_>, _data: &mut Data<'_>) {
        // The method as sent: Rocket handles HEAD as GET.
        request.local_cache(|| request.method());
    }

    async fn on_response<'r>(&self, request: &'r Request<'_>, response: &mut Response<'r>) {
        let id = request.route().and_then(|route| route.name.as_deref());
        let Some(place) = id.and_then(|id| self.operations.get(id)) else { return };
        if self.document.pointer(&format!("{place}/summary")).is_none() {
            // An undescribed route.
            return;
        }
        let is_head = *request.local_cache(|| request.method()) == Method::Head;
        if is_head && response.body().is_none() && response.status() == Status::Ok {
            return assert!(!response.headers().contains("ETag"), "what was not rendered has no tag");
        }
        let status = response.status().code;
        let requested = format!("{} {}: {status}", request.method(), request.uri());
        let place = format!("{place}/responses/{status}");
        let described =
            self.document.pointer(&place).unwrap_or_else(|| panic!("{requested} is not described"));
        let headers = described["headers"].as_object().into_iter().flatten();
        for (name, _) in headers.filter(|(_, header)| header["required"] != json!(false)) {
            assert!(response.headers().contains(name), "{requested} without {name}");
        }
        let content = described.get("content").and_then(Value::as_object);
        let Some(kind) = response.content_type() else {
            return assert!(content.is_none(), "{requested} without a type");
        };
        let kind = format!("{}/{}", kind.top(), kind.sub());
        assert!(content.is_some_and(|content| content.contains_key(&kind)), "{requested} as {kind}");
        let coded = response.headers().contains("Content-Encoding");
        let is_json = ["application/json", "application/geo+json"].contains(&&*kind);
        if !is_json || coded || is_head {
            return;
        }
        let body = response.body_mut().to_bytes().await.unwrap();
        let value: Value = serde_json::from_slice(&body).unwrap();
        response.set_sized_body(body.len(), Cursor::new(body));
        let validator = self.validator(&format!("{place}/content/{}/schema", escaped(&kind)));
        let faults = |value: &Value| -> Vec<String> {
            validator.iter_errors(value).map(|fault| fault.to_string()).collect()
        };
        let is_bare = kind == "application/json" && status == 200 && value.get("statusCode").is_none();
        let mut faults_found = faults(&value);
        if is_bare && !faults_found.is_empty() {
            // `/floods.json` has the `result` of the described envelope as its body.
            faults_found = faults(&json!({ "statusCode": status, "result": value }));
        }
        assert!(faults_found.is_empty(), "{requested}: {faults_found:#?}");
    }
}
