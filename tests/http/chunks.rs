//! Chunk size of response bodies.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use figment::Figment;
use rocket::fairing::AdHoc;

use crate::suite::support::{Siaga, figment};

/// The chunk size of a response, and its total size.
fn sizes(figment: Figment) -> (usize, usize) {
    let chunk = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&chunk);
    let looking = AdHoc::on_response("size of chunks", move |_, response| {
        seen.store(response.body().max_chunk_size(), Ordering::SeqCst);
        Box::pin(async {})
    });
    let siaga = Siaga::with(figment, |builder| builder.attach(looking));
    let body = siaga.get("/v1/floods").into_bytes().unwrap();
    (chunk.load(Ordering::SeqCst), body.len())
}

#[test]
fn a_response_is_copied_in_chunks_of_the_configured_size() {
    let (chunk, whole) = sizes(figment());
    assert!(whole > 500 && chunk == whole + 1, "{whole} bytes at once, by chunks of {chunk}");
    let (chunk, same) = sizes(figment().merge(("siaga.limits.chunk", 100)));
    assert_eq!((chunk, same), (100, whole));
}
