use std::io::{self, BufRead, Read};

const CHUNK: usize = 64 * 1024;

const MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads a file in chunks, without its byte order mark. Returns all bytes before the first invalid UTF-8, then [`NotUtf8`].
pub(super) struct Source<'f> {
    file: Box<dyn Read + 'f>,
    progress: &'f dyn Fn(u64),
    buffer: Box<[u8]>,
    /// The start of the bytes that are not read yet.
    next: usize,
    /// The end of the valid UTF-8 in the buffer.
    valid: usize,
    /// The end of the bytes in the buffer. Those between `valid` and `filled` are an incomplete character, or invalid.
    filled: usize,
    /// The line at the start of the buffer; 0 before the first chunk.
    line: u64,
}

#[derive(Debug, thiserror::Error)]
#[error("is not UTF-8")]
pub(super) struct NotUtf8 {
    /// The line of the first invalid byte, from 1.
    pub(super) line: u64,
}

impl<'f> Source<'f> {
    /// Calls `progress` after each read, with the number of bytes that were read.
    pub(super) fn new(file: impl Read + 'f, progress: &'f dyn Fn(u64)) -> Self {
        let file = Box::new(file);
        let buffer = vec![0; CHUNK].into_boxed_slice();
        Self { file, progress, buffer, next: 0, valid: 0, filled: 0, line: 0 }
    }

    /// Moves an incomplete character from the end of the buffer to its start, and reads the next chunk after it.
    fn refill(&mut self) -> io::Result<()> {
        let first = self.line == 0;
        self.line += if first { 1 } else { breaks(&self.buffer[..self.valid]) };
        self.buffer.copy_within(self.valid..self.filled, 0);
        self.filled -= self.valid;
        (self.next, self.valid) = (0, 0);
        while self.filled < self.buffer.len() {
            match self.file.read(&mut self.buffer[self.filled..]) {
                Ok(0) => break,
                Ok(count) => {
                    self.filled += count;
                    (self.progress)(count as u64);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let chunk = &self.buffer[..self.filled];
        self.valid = std::str::from_utf8(chunk).map_or_else(|error| error.valid_up_to(), str::len);
        if self.valid == 0 && self.filled > 0 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, NotUtf8 { line: self.line }));
        }
        if first && chunk.starts_with(MARK) {
            self.next = MARK.len();
        }
        Ok(())
    }
}

impl BufRead for Source<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.next == self.valid {
            self.refill()?;
        }
        // The result is empty only at the end of the file, and for a file that is only a byte order mark.
        Ok(&self.buffer[self.next..self.valid])
    }

    fn consume(&mut self, count: usize) {
        self.next = self.valid.min(self.next + count);
    }
}

impl Read for Source<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let count = available.len().min(out.len());
        out[..count].copy_from_slice(&available[..count]);
        self.consume(count);
        Ok(count)
    }
}

pub(super) fn breaks(bytes: &[u8]) -> u64 {
    bytes.iter().map(|&byte| u64::from(byte == b'\n')).sum()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::io::{Seek, Write};

    use super::*;

    fn read(content: &[u8]) -> (Vec<u8>, Option<u64>) {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content).unwrap();
        file.rewind().unwrap();
        let progress = Cell::new(0);
        let count = |bytes| progress.set(progress.get() + bytes);
        let mut given = Vec::new();
        let end = Source::new(file, &count).read_to_end(&mut given);
        assert_eq!(progress.get(), content.len() as u64);
        let line = |error: io::Error| error.get_ref()?.downcast_ref::<NotUtf8>().map(|found| found.line);
        (given, end.err().and_then(line))
    }

    #[test]
    fn a_character_can_span_two_chunks() {
        for shift in 0..4 {
            let text = format!("{}{}", "x".repeat(shift), "😀".repeat(CHUNK));
            assert_eq!(read(text.as_bytes()), (text.into_bytes(), None));
        }
    }

    #[test]
    fn only_the_first_byte_order_mark_is_skipped() {
        assert_eq!(read(b"\xef\xbb\xbfa"), (b"a".to_vec(), None));
        assert_eq!(read(b"\xef\xbb\xbf"), (Vec::new(), None));
        assert_eq!(read(b"a\xef\xbb\xbf"), (b"a\xef\xbb\xbf".to_vec(), None));
    }

    #[test]
    fn invalid_utf_8_is_an_error_with_its_line_after_all_valid_bytes() {
        let lines = "line\n".repeat(CHUNK);
        for (wrong, before, line) in [
            (&b"\xff"[..], "", 1),
            (b"\xff", "a\nb\r\n\nc", 4),
            (b"\xf0\x9f", "a\n", 2),
            (b"\xff rest", &lines, CHUNK as u64 + 1),
        ] {
            let content = [before.as_bytes(), wrong].concat();
            assert_eq!(read(&content), (before.as_bytes().to_vec(), Some(line)), "{wrong:?}");
        }
    }
}
