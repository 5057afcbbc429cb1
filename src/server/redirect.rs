//! The port that redirects all requests to HTTPS.

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use hyper::header::{CONTENT_LENGTH, HeaderValue, LOCATION};
use hyper::http::uri::PathAndQuery;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Response, StatusCode, Uri};
use hyper_util::rt::{TokioIo, TokioTimer};
use rocket::Shutdown;
use rocket::tokio::net::{TcpListener, TcpStream};
use rocket::tokio::sync::Semaphore;
use rocket::tokio::{self, select, time};

/// The maximum number of open connections. Further ones wait.
const MAX_CONNECTIONS: usize = 256;
/// The limit for receiving the headers, and for the whole connection.
const TIMEOUT: Duration = Duration::from_secs(5);
const MAX_HEADER_SIZE: usize = 16 << 10;
const ACCEPT_RETRY: Duration = Duration::from_millis(100);

/// Responds to every request with 308, preserving path and query. The request cannot influence scheme and host.
#[derive(Debug)]
pub(crate) struct Redirect {
    listener: TcpListener,
    origin: Arc<str>,
}

impl Redirect {
    pub(crate) async fn bind(address: IpAddr, port: u16, origin: &str) -> io::Result<Self> {
        let listener = TcpListener::bind(SocketAddr::new(address, port)).await?;
        Ok(Self { listener, origin: Arc::from(origin) })
    }

    /// Redirects until shutdown. At the limit of connections, further ones wait.
    pub(crate) async fn serve(self, mut shutdown: Shutdown) {
        let free = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        loop {
            let accepted = async {
                let permit = Arc::clone(&free).acquire_owned().await;
                (permit, self.listener.accept().await)
            };
            let (permit, accepted) = select! {
                accepted = accepted => accepted,
                () = &mut shutdown => return,
            };
            let Ok((connection, _)) = accepted else {
                time::sleep(ACCEPT_RETRY).await;
                continue;
            };
            let origin = Arc::clone(&self.origin);
            tokio::spawn(async move {
                let _permit = permit;
                // A client that sends no request in time gets no response.
                let _ = time::timeout(TIMEOUT, respond(connection, &origin)).await;
            });
        }
    }
}

async fn respond(connection: TcpStream, origin: &str) -> hyper::Result<()> {
    let service = service_fn(async |request: hyper::Request<_>| {
        Ok::<_, Infallible>(redirect_to(origin, request.uri()))
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(TIMEOUT)
        .keep_alive(false)
        .max_buf_size(MAX_HEADER_SIZE)
        .serve_connection(TokioIo::new(connection), service)
        .await
}

fn redirect_to(origin: &str, address: &Uri) -> Response<String> {
    let target = address.path_and_query().map_or("/", PathAndQuery::as_str);
    // `OPTIONS *` has no path.
    let target = if target.starts_with('/') { target } else { "/" };
    let mut response = Response::new(String::new());
    // A parsed address always fits into a header. If it ever does not, respond with 400.
    match HeaderValue::from_str(&format!("{origin}{target}")) {
        Ok(location) => {
            *response.status_mut() = StatusCode::PERMANENT_REDIRECT;
            response.headers_mut().insert(LOCATION, location);
        }
        Err(_) => *response.status_mut() = StatusCode::BAD_REQUEST,
    }
    response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_and_query_are_preserved_and_the_host_is_configured() {
        for (address, location) in [
            ("/v1/floods?a=b&c=%0d%0aX", "https://example.org/v1/floods?a=b&c=%0d%0aX"),
            ("http://evil.example/v1", "https://example.org/v1"),
            ("evil.example:443", "https://example.org/"),
            ("//evil.example/v1", "https://example.org//evil.example/v1"),
            ("*", "https://example.org/"),
            ("/", "https://example.org/"),
        ] {
            let response = redirect_to("https://example.org", &address.parse().unwrap());
            assert_eq!(response.status(), StatusCode::PERMANENT_REDIRECT, "{address}");
            assert_eq!(response.headers()[LOCATION], location, "{address}");
        }
    }
}
