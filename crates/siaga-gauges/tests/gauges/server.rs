use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A small HTTP server that records its requests.
pub(crate) struct Server {
    pub(crate) address: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// The request line and the headers.
    pub(crate) head: String,
    pub(crate) body: Value,
}

pub(crate) enum Reply {
    /// A status with further headers, and a body.
    Status(u16, String, String),
    /// Sends a head and then nothing more.
    Slow,
}

impl Reply {
    pub(crate) fn ok(body: &str) -> Self {
        Self::Status(200, String::new(), body.to_owned())
    }
}

impl Server {
    pub(crate) async fn start(mut reply: impl FnMut(&Request) -> Reply + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let record = Arc::clone(&requests);
        tokio::spawn(async move {
            let mut open = Vec::new();
            while let Ok((mut stream, _)) = listener.accept().await {
                let request = read(&mut stream).await;
                record.lock().unwrap().push(request.clone());
                match reply(&request) {
                    Reply::Status(status, headers, body) => {
                        let length = body.len();
                        let head = format!(
                            "HTTP/1.1 {status} X\r\nContent-Length: {length}\r\n{headers}Connection: close\r\n\r\n"
                        );
                        // The client may have ended the connection, because the body is too large.
                        let _ = stream.write_all(format!("{head}{body}").as_bytes()).await;
                    }
                    Reply::Slow => {
                        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n").await.unwrap();
                        open.push(stream);
                    }
                }
            }
        });
        Self { address, requests }
    }

    /// A server in place of Siaga that accepts each body that follows the rules.
    pub(crate) async fn siaga() -> Self {
        Self::start(|request| accept(&request.body)).await
    }

    /// Returns the requests since the last call.
    pub(crate) fn requests(&self) -> Vec<Request> {
        std::mem::take(&mut self.requests.lock().unwrap())
    }

    /// Returns the bodies since the last call, ordered by gauge.
    pub(crate) fn bodies(&self) -> Vec<Value> {
        let mut bodies: Vec<_> = self.requests().into_iter().map(|request| request.body).collect();
        bodies.sort_by_key(|body| body["gaugeid"].to_string());
        bodies
    }

    /// Returns the time and level of each observation since the last call.
    pub(crate) fn levels(&self) -> Vec<(String, f64)> {
        let bodies = self.bodies();
        let observations = bodies.iter().flat_map(|body| body["observations"].as_array().unwrap());
        let level = |observation: &Value| {
            (
                observation["observed_at"].as_str().unwrap()[11..16].to_owned(),
                observation["level"].as_f64().unwrap(),
            )
        };
        observations.map(level).collect()
    }
}

/// The rules of `PUT /floodgauges` for a gauge without stored thresholds.
pub(crate) fn accept(body: &Value) -> Reply {
    let is_observation = |observation: &Value| {
        observation["observed_at"].is_string()
            && observation["level"].is_number()
            && (body["thresholds"].is_object() || matches!(observation["alert"].as_u64(), Some(1..=4)))
    };
    let is_valid = body["gaugeid"].is_string()
        && body["gaugenameid"].is_string()
        && body["location"]["lat"].is_number()
        && body["location"]["lng"].is_number()
        && body["observations"]
            .as_array()
            .is_some_and(|list| !list.is_empty() && list.iter().all(is_observation));
    if is_valid {
        return Reply::ok(r#"{"updated":true}"#);
    }
    let problem = json!({ "statusCode": 400, "message": "\"observations.0.alert\" is required" });
    Reply::Status(400, String::new(), problem.to_string())
}

async fn read(stream: &mut TcpStream) -> Request {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let head = head.to_lowercase();
            let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return Request { body: serde_json::from_str(body).unwrap_or_default(), head };
            }
        }
        if stream.read_buf(&mut bytes).await.unwrap() == 0 {
            return Request { head: text, body: Value::Null };
        }
    }
}
