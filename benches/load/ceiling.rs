//! The ceiling: one answer from memory, as fast as plain hyper sends it.
//!
//! `ceiling HEAD BODY` answers every request with the status line and header lines in the file HEAD and the bytes in BODY,
//! as `curl --dump-header HEAD --output BODY` wrote them, and prints the port it listens on. It looks at nothing that is
//! asked: no route, no credential, no condition. What it sends a second is what a server on this hyper, tokio and machine
//! can send of that answer at most.

use std::convert::Infallible;
use std::error::Error;
use std::net::Ipv4Addr;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{CONTENT_LENGTH, DATE, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

type Failure = Box<dyn Error>;

/// The answer that a head and a body, as curl wrote them, make.
fn answer(head: &str, body: Vec<u8>) -> Result<Response<Full<Bytes>>, Failure> {
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split_whitespace().nth(1)).ok_or("no status line")?;
    let mut answer = Response::new(Full::new(Bytes::from(body)));
    *answer.status_mut() = status.parse::<StatusCode>()?;
    for line in lines.take_while(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':').ok_or("a header line without a colon")?;
        let name = name.parse::<HeaderName>()?;
        // hyper writes these itself, as it does for the server it is compared with.
        if name != DATE && name != CONTENT_LENGTH {
            answer.headers_mut().append(name, HeaderValue::from_str(value.trim())?);
        }
    }
    Ok(answer)
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let (Some(head), Some(body)) = (arguments.next(), arguments.next()) else {
        return Err("usage: ceiling HEAD BODY".into());
    };
    let answer = answer(&std::fs::read_to_string(head)?, std::fs::read(body)?)?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    println!("{}", listener.local_addr()?.port());
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let answer = answer.clone();
        tokio::spawn(async move {
            let service = service_fn(|_| {
                // The body is shared, not copied.
                let answer = answer.clone();
                async move { Ok::<_, Infallible>(answer) }
            });
            // It fails when the client goes away in the middle of an answer, as wrk does at the end.
            drop(http1::Builder::new().serve_connection(TokioIo::new(stream), service).await);
        });
    }
}
