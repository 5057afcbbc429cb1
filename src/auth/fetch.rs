//! Requests to identity providers, with limits: no redirects, no proxy, five seconds, 64 KiB.

use std::time::Duration;

use reqwest::{Certificate, Client, RequestBuilder, StatusCode, redirect};

/// The maximum size of a response in bytes; a hundred keys are smaller.
const MAX_SIZE: usize = 64 * 1024;
const TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Debug, thiserror::Error)]
pub(super) enum FetchError {
    #[error("{0}")]
    Failed(#[from] reqwest::Error),
    #[error("the response is {0}")]
    Status(StatusCode),
    #[error("the response is larger than 64 KiB")]
    TooLarge,
}

/// Creates a client that also accepts servers with certificates of these authorities.
pub(super) fn client(authorities: Vec<Certificate>) -> reqwest::Result<Client> {
    // `reqwest` is built without a cryptography provider. An error means that one is already installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder().timeout(TIMEOUT).redirect(redirect::Policy::none()).no_proxy();
    builder.tls_certs_merge(authorities).build()
}

pub(super) async fn send(request: RequestBuilder) -> Result<(StatusCode, Vec<u8>), FetchError> {
    let mut response = request.header("Accept", "application/json").send().await?;
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_SIZE {
            return Err(FetchError::TooLarge);
        }
    }
    Ok((response.status(), body))
}

/// Returns the body of a response with the status 200.
pub(super) async fn fetch(request: RequestBuilder) -> Result<Vec<u8>, FetchError> {
    match send(request).await? {
        (StatusCode::OK, body) => Ok(body),
        (status, _) => Err(FetchError::Status(status)),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::sync::Arc;
    use std::thread;

    use rustls::pki_types::PrivateKeyDer;
    use rustls::{ServerConfig, ServerConnection, StreamOwned};

    use super::*;

    async fn fetched(response: Vec<u8>) -> Result<Vec<u8>, FetchError> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/jwks", listener.local_addr().unwrap());
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(&response);
        });
        fetch(client(Vec::new()).unwrap().get(address)).await
    }

    #[tokio::test]
    async fn large_responses_and_redirects_are_rejected() {
        let with = |body: &str| format!("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{body}").into_bytes();
        assert_eq!(fetched(with("{}")).await.unwrap(), b"{}");
        let large = fetched(with(&"x".repeat(10_000_000))).await;
        assert!(matches!(large, Err(FetchError::TooLarge)), "{large:?}");
        let moved =
            b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n".to_vec();
        assert!(matches!(fetched(moved).await, Err(FetchError::Status(_))));
        assert!(matches!(fetched(Vec::new()).await, Err(FetchError::Failed(_))));
    }

    #[tokio::test]
    async fn only_servers_of_configured_or_public_authorities_are_trusted() {
        let generated = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = PrivateKeyDer::try_from(generated.signing_key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.unwrap().with_no_client_auth();
        let config = config.with_single_cert(vec![generated.cert.der().clone()], key).unwrap();
        let (config, listener) = (Arc::new(config), TcpListener::bind("127.0.0.1:0").unwrap());
        let address = format!("https://localhost:{}/", listener.local_addr().unwrap().port());
        thread::spawn(move || {
            for stream in listener.incoming() {
                let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
                let mut stream = StreamOwned::new(connection, stream.unwrap());
                let _ = stream.read(&mut [0; 1024]);
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
            }
        });
        assert!(fetch(client(Vec::new()).unwrap().get(&address)).await.is_err());
        let own = Certificate::from_pem_bundle(generated.cert.pem().as_bytes()).unwrap();
        assert_eq!(fetch(client(own).unwrap().get(&address)).await.unwrap(), b"{}");
    }
}
