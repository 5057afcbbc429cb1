use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::error::Failure;

const MAX_BYTES: u64 = 1024 * 1024;
/// The time limit for reading a file. Needed because network file systems can hang.
const LIMIT: Duration = Duration::from_secs(5);

/// Reads a template. Fails if reading takes longer than `LIMIT`, or if a line is not UTF-8.
pub(super) fn read(file: &Path) -> Result<String, Failure> {
    let path = file.to_owned();
    let source = timeout(LIMIT, move || bytes(&path)).and_then(|result| result);
    let source = source.map_err(|error| Failure::new(file, &format!(": {error}")))?;
    String::from_utf8(source).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.split(|&byte| byte == b'\n').count();
        Failure::new(file, &format!(", line {line}: is not UTF-8"))
    })
}

fn bytes(file: &Path) -> io::Result<Vec<u8>> {
    // Check the type first: opening a pipe would block until another process opens its other end.
    if !fs::metadata(file)?.is_file() {
        return Err(io::Error::other("is not a file"));
    }
    let mut source = Vec::new();
    File::open(file)?.take(MAX_BYTES + 1).read_to_end(&mut source)?;
    if source.len() as u64 > MAX_BYTES {
        return Err(io::Error::other(format!("is larger than {MAX_BYTES} bytes")));
    }
    Ok(source)
}

/// Runs `work` on its own thread. After `limit`, returns an error and leaves the thread running.
fn timeout<T: Send + 'static>(limit: Duration, work: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
    let (done, is_done) = mpsc::channel();
    let work = move || {
        let _ = done.send(work());
    };
    thread::Builder::new().name("siaga template".to_owned()).spawn(work)?;
    is_done.recv_timeout(limit).map_err(|_| io::Error::other(format!("takes longer than {limit:?} to read")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hanging_work_ends_in_an_error() {
        let (_never, hangs) = mpsc::channel::<()>();
        let error = timeout(Duration::from_millis(1), move || hangs.recv()).unwrap_err();
        assert_eq!(error.to_string(), "takes longer than 1ms to read");
        assert_eq!(timeout(LIMIT, || 1).unwrap(), 1);
    }
}
