use std::io::{self, Write};
use std::time::{Duration, Instant};

/// Appends to a document until it is too long, or took too long.
pub(super) struct Bounded<'a> {
    out: &'a mut Vec<u8>,
    room: usize,
    until: Option<Instant>,
    exceeded: Option<&'static str>,
}

impl<'a> Bounded<'a> {
    pub(super) fn new(out: &'a mut Vec<u8>, room: usize, time: Duration) -> Self {
        Self { out, room, until: Instant::now().checked_add(time), exceeded: None }
    }

    /// Which bound was met, if one was.
    pub(super) fn exceeded(&self) -> Option<&'static str> {
        self.exceeded
    }

    fn refuse(&mut self, why: &'static str) -> io::Error {
        self.exceeded = Some(why);
        io::Error::other(why)
    }
}

impl Write for Bounded<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > self.room {
            return Err(self.refuse("it makes more than max_bytes"));
        }
        if self.until.is_some_and(|until| Instant::now() > until) {
            return Err(self.refuse("it takes longer than max_time"));
        }
        self.room -= bytes.len();
        self.out.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
