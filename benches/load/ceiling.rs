//! The ceiling: sends one response from memory, as fast as plain hyper can.
//!
//! `ceiling HEAD BODY` responds to every request with the status line and header lines in the file HEAD and the bytes in BODY,
//! as written by `curl --dump-header HEAD --output BODY`, and prints the port on which it listens. It ignores everything in a
//! request: path, credential, conditions. So its responses per second are the maximum for a server with this hyper and tokio on
//! this machine that sends these headers.
//!
//! `ceiling HEAD BODY bare` sends only the headers that any such response needs: date, length, type and entity tag.
//! The difference is the price of the other headers.

use std::convert::Infallible;
use std::error::Error;
use std::net::Ipv4Addr;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, DATE, ETAG, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

type Failure = Box<dyn Error>;

/// Makes a response from a head and a body, as written by curl; a bare one without the headers that it can do without.
fn response(head: &str, body: Vec<u8>, bare: bool) -> Result<Response<Full<Bytes>>, Failure> {
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split_whitespace().nth(1)).ok_or("no status line")?;
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status.parse::<StatusCode>()?;
    for line in lines.take_while(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':').ok_or("a header line without a colon")?;
        let name = name.parse::<HeaderName>()?;
        // hyper writes these itself, as it does in the measured server.
        let left_out = bare && name != CONTENT_TYPE && name != ETAG;
        if name != DATE && name != CONTENT_LENGTH && !left_out {
            response.headers_mut().append(name, HeaderValue::from_str(value.trim())?);
        }
    }
    Ok(response)
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let (Some(head), Some(body)) = (arguments.next(), arguments.next()) else {
        return Err("usage: ceiling HEAD BODY [bare]".into());
    };
    let bare = arguments.next().is_some_and(|option| option == "bare");
    let response = response(&std::fs::read_to_string(head)?, std::fs::read(body)?, bare)?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    println!("{}", listener.local_addr()?.port());
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let response = response.clone();
        tokio::spawn(async move {
            let service = service_fn(|_| {
                // The body is shared, not copied.
                let response = response.clone();
                async move { Ok::<_, Infallible>(response) }
            });
            // This fails if the client goes away in the middle of a response, as wrk does at the end.
            drop(http1::Builder::new().serve_connection(TokioIo::new(stream), service).await);
        });
    }
}
