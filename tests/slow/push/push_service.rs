//! A push service of a browser.

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rocket::tokio::io::{AsyncReadExt, AsyncWriteExt};
use rocket::tokio::net::{TcpListener, TcpStream};
use rocket::tokio::{self, time};

/// What the service does with a request.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Response {
    Accepted,
    /// Accepted after a time.
    Slow(Duration),
    /// The phone is gone.
    Gone,
    /// 429, and after how many seconds to try again.
    Later(u64),
    Hang,
}

/// A message that the service got.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message {
    pub(crate) arrived: Instant,
    pub(crate) accepted: Option<Instant>,
}

/// Decides by the number of the phone and the number of its earlier messages.
type Decide = Box<dyn Fn(u64, usize) -> Response + Send>;

struct State {
    decide: Decide,
    messages: HashMap<u64, Vec<Message>>,
}

#[derive(Clone)]
pub(crate) struct PushService {
    authority: String,
    state: Arc<Mutex<State>>,
}

impl PushService {
    /// Listens on 127.0.0.`host`, and accepts all messages.
    pub(crate) async fn listen(host: u8) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::new(127, 0, 0, host), 0)).await.unwrap();
        let authority = listener.local_addr().unwrap().to_string();
        let state = State { decide: Box::new(|_, _| Response::Accepted), messages: HashMap::new() };
        let service = Self { authority, state: Arc::new(Mutex::new(state)) };
        let listening = service.clone();
        tokio::spawn(async move {
            loop {
                let Ok((stream, _)) = listener.accept().await else {
                    time::sleep(Duration::from_millis(50)).await;
                    continue;
                };
                let service = listening.clone();
                // An error is a connection that the server has closed.
                tokio::spawn(async move { service.serve(stream).await.ok() });
            }
        });
        service
    }

    pub(crate) fn host(&self) -> &str {
        self.authority.split(':').next().unwrap()
    }

    pub(crate) fn endpoint(&self, phone: u64) -> String {
        format!("http://{}/{phone}", self.authority)
    }

    /// Forgets all messages, and decides differently from now on.
    pub(crate) fn restart(&self, decide: impl Fn(u64, usize) -> Response + Send + 'static) {
        let mut state = self.state.lock().unwrap();
        state.decide = Box::new(decide);
        state.messages.clear();
    }

    /// Accepts all messages from now on.
    pub(crate) fn recover(&self) {
        self.state.lock().unwrap().decide = Box::new(|_, _| Response::Accepted);
    }

    /// Returns the messages to each phone that got any.
    pub(crate) fn messages(&self) -> HashMap<u64, Vec<Message>> {
        self.state.lock().unwrap().messages.clone()
    }

    /// Returns how many messages were accepted.
    pub(crate) fn accepted(&self) -> usize {
        let state = self.state.lock().unwrap();
        state.messages.values().flatten().filter(|message| message.accepted.is_some()).count()
    }

    /// Responds to the requests of a connection.
    async fn serve(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let mut bytes = Vec::new();
        loop {
            let Some((phone, length)) = parse(&bytes) else {
                if stream.read_buf(&mut bytes).await? == 0 {
                    return Ok(());
                }
                continue;
            };
            bytes.drain(..length);
            let (response, number) = {
                let mut state = self.state.lock().unwrap();
                let number = state.messages.get(&phone).map_or(0, Vec::len);
                state
                    .messages
                    .entry(phone)
                    .or_default()
                    .push(Message { arrived: Instant::now(), accepted: None });
                ((state.decide)(phone, number), number)
            };
            let rest = match response {
                Response::Accepted => "201 Created\r\n",
                Response::Slow(delay) => {
                    time::sleep(delay).await;
                    "201 Created\r\n"
                }
                Response::Gone => "410 Gone\r\n",
                Response::Later(seconds) => &format!("429 Too Many Requests\r\nRetry-After: {seconds}\r\n"),
                Response::Hang => {
                    // Until the server closes the connection.
                    while stream.read_buf(&mut bytes).await? > 0 {}
                    return Ok(());
                }
            };
            stream.write_all(format!("HTTP/1.1 {rest}Content-Length: 0\r\n\r\n").as_bytes()).await?;
            if rest.starts_with("201") {
                let mut state = self.state.lock().unwrap();
                // Forgotten meanwhile, if there is none.
                if let Some(message) = state.messages.get_mut(&phone).and_then(|all| all.get_mut(number)) {
                    message.accepted = Some(Instant::now());
                }
            }
        }
    }
}

/// Returns the phone and the length of a complete request.
fn parse(bytes: &[u8]) -> Option<(u64, usize)> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
    let length: usize = head.split("content-length: ").nth(1)?.split("\r\n").next()?.parse().ok()?;
    let phone = head.split(' ').nth(1)?.strip_prefix('/')?.parse().ok()?;
    (bytes.len() >= end + length).then_some((phone, end + length))
}
