//! An identity provider on a free port, whose responses a test can change.

#![allow(dead_code, reason = "few test targets use all of it")]

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD, Engine};
use ring::digest::{SHA256, digest};
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};
use url::Url;

pub(crate) const CLIENT: &str = "desk";
pub(crate) const SECRET: &str = "a secret: of the client";

pub(crate) struct Issuer {
    pub(crate) address: String,
    state: Arc<Mutex<State>>,
}

/// Creates a token from its header and claims.
type Sign = Box<dyn Fn(&Value, &Value) -> String + Send>;

pub(crate) struct State {
    /// Members that replace those of the responses. Null removes one.
    pub(crate) metadata: Value,
    pub(crate) header: Value,
    pub(crate) claims: Value,
    pub(crate) token_response: Value,
    pub(crate) userinfo: Value,
    /// Replaces the signature of tokens.
    pub(crate) sign: Option<Sign>,
    /// Replaces the whole response to a path.
    pub(crate) raw: HashMap<&'static str, Vec<u8>>,
    /// A path with a slow response.
    pub(crate) slow: Option<&'static str>,
    /// In seconds since 1970.
    pub(crate) now: i64,
    /// The head and the body of each request.
    pub(crate) requests: Vec<String>,
    /// The query of the authorization request of each code.
    codes: HashMap<String, HashMap<String, String>>,
    key: Ed25519KeyPair,
    kid: u32,
}

fn new_key() -> Ed25519KeyPair {
    let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
    Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).unwrap()
}

fn base64(bytes: impl AsRef<[u8]>) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

fn merged(mut value: Value, changes: &Value) -> Value {
    let members = value.as_object_mut().unwrap();
    members.extend(changes.as_object().unwrap().clone());
    members.retain(|_, member| !member.is_null());
    value
}

fn ok(body: &Value) -> Vec<u8> {
    response("200 OK", &body.to_string())
}

pub(crate) fn response(status: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len()).into()
}

impl Issuer {
    pub(crate) fn start(now: i64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let empty = || json!({});
        let state = Arc::new(Mutex::new(State {
            metadata: empty(),
            header: empty(),
            claims: json!({ "name": "Sri Wahyuni", "groups": ["bpbd"] }),
            token_response: empty(),
            userinfo: empty(),
            sign: None,
            raw: HashMap::new(),
            slow: None,
            now,
            requests: Vec::new(),
            codes: HashMap::new(),
            key: new_key(),
            kid: 0,
        }));
        let (own, issuer) = (Arc::clone(&state), address.clone());
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (state, issuer) = (Arc::clone(&own), issuer.clone());
                thread::spawn(move || serve(stream.unwrap(), &state, &issuer));
            }
        });
        Self { address, state }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    pub(crate) fn rotate(&self) {
        let mut state = self.state();
        (state.key, state.kid) = (new_key(), state.kid + 1);
    }

    /// Logs the person in as a browser would; returns the query for the callback.
    pub(crate) fn authorize(&self, request: &str) -> String {
        let url = Url::parse(request).unwrap();
        assert!(request.starts_with(&format!("{}/authorize?", self.address)), "{request}");
        let parameters: HashMap<String, String> = url.query_pairs().into_owned().collect();
        let state = parameters["state"].clone();
        let mut own = self.state();
        let code = format!("code-{}-{state}", own.codes.len());
        own.codes.insert(code.clone(), parameters);
        format!("code={code}&state={state}")
    }
}

fn serve(mut stream: TcpStream, state: &Mutex<State>, issuer: &str) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut head, mut length) = (String::new(), 0);
    while reader.read_line(&mut head).is_ok_and(|count| count > 2) {
        let line = head.lines().last().unwrap().to_ascii_lowercase();
        length = line.strip_prefix("content-length: ").map_or(length, |length| length.parse().unwrap());
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let body = String::from_utf8(body).unwrap();
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let is_slow = state.lock().unwrap().slow.is_some_and(|slow| path == slow);
    thread::sleep(Duration::from_secs(if is_slow { 30 } else { 0 }));
    let response = state.lock().unwrap().response(&path, &head, &body, issuer);
    let _ = stream.write_all(&response);
}

impl State {
    fn response(&mut self, path: &str, head: &str, body: &str, issuer: &str) -> Vec<u8> {
        self.requests.push(format!("{head}{body}"));
        if let Some(raw) = self.raw.get(path) {
            return raw.clone();
        }
        let at = |path: &str| format!("{issuer}/{path}");
        match path {
            "/.well-known/openid-configuration" => ok(&merged(
                json!({
                    "issuer": issuer, "authorization_endpoint": at("authorize"), "token_endpoint": at("token"),
                    "jwks_uri": at("keys"), "userinfo_endpoint": at("me"), "end_session_endpoint": at("end"),
                }),
                &self.metadata,
            )),
            "/keys" => {
                let key = base64(self.key.public_key());
                let kid = self.kid.to_string();
                ok(&json!({ "keys": [{ "kty": "OKP", "crv": "Ed25519", "kid": kid, "x": key }] }))
            }
            "/me" if head.contains("Bearer an access token") => {
                ok(&merged(json!({ "sub": "sri" }), &self.userinfo))
            }
            "/token" => self.token(head, body, issuer),
            _ => response("404 Not Found", "{}"),
        }
    }

    fn token(&mut self, head: &str, body: &str, issuer: &str) -> Vec<u8> {
        let form: HashMap<_, _> = url::form_urlencoded::parse(body.as_bytes()).into_owned().collect();
        let get = |name: &str| form.get(name).map(String::as_str).unwrap_or_default();
        let basic = BASE64_STANDARD.encode(format!("{CLIENT}:a+secret%3A+of+the+client"));
        let by_body = get("client_id") == CLIENT && get("client_secret") == SECRET;
        if !head.contains(&format!("Basic {basic}\r\n")) && !by_body {
            return response("401 Unauthorized", r#"{"error":"invalid_client"}"#);
        }
        let challenge = base64(digest(&SHA256, get("code_verifier").as_bytes()));
        let of_code = self.codes.remove(get("code")).filter(|request| {
            request["code_challenge"] == challenge && request["redirect_uri"] == get("redirect_uri")
        });
        let Some(request) = of_code else {
            return response("400 Bad Request", r#"{"error":"invalid_grant"}"#);
        };
        let now = self.now;
        let claims = json!({
            "iss": issuer, "sub": "sri", "aud": CLIENT, "nonce": request["nonce"], "iat": now, "exp": now + 3_600,
        });
        let claims = merged(claims, &self.claims);
        let header = merged(json!({ "alg": "EdDSA", "kid": self.kid.to_string() }), &self.header);
        let id_token = self.sign.as_ref().map_or_else(
            || {
                let message = format!("{}.{}", base64(header.to_string()), base64(claims.to_string()));
                format!("{message}.{}", base64(self.key.sign(message.as_bytes())))
            },
            |sign| sign(&header, &claims),
        );
        let tokens =
            json!({ "id_token": id_token, "access_token": "an access token", "token_type": "Bearer" });
        ok(&merged(tokens, &self.token_response))
    }
}
