use std::collections::VecDeque;

use super::source::breaks;

/// Finds the line number of each row, in order, while the CSV reader reads ahead. Keeps only the bytes that were read ahead.
pub(super) struct Lines {
    ahead: VecDeque<u8>,
    /// The offset of `ahead` in the file.
    passed: u64,
    line: u64,
}

impl Lines {
    pub(super) fn new() -> Self {
        Self { ahead: VecDeque::new(), passed: 0, line: 1 }
    }

    pub(super) fn read(&mut self, bytes: &[u8]) {
        self.ahead.extend(bytes);
    }

    pub(super) fn ahead(&self) -> usize {
        self.ahead.len()
    }

    /// Returns the line of the row that begins at an offset, or after the line breaks at that offset.
    pub(super) fn line_at(&mut self, offset: u64) -> u64 {
        self.pass(offset.saturating_sub(self.passed) as usize);
        while let Some(b'\r' | b'\n') = self.ahead.front() {
            self.pass(1);
        }
        self.line
    }

    /// Removes the next `count` bytes, and counts their line breaks.
    fn pass(&mut self, count: usize) {
        let count = count.min(self.ahead.len());
        let (front, back) = self.ahead.as_slices();
        let of_front = count.min(front.len());
        self.line += breaks(&front[..of_front]) + breaks(&back[..count - of_front]);
        self.ahead.drain(..count);
        self.passed += count as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_include_the_breaks_before_a_row() {
        let mut lines = Lines::new();
        lines.read(b"a\nb\r");
        assert_eq!([0, 1, 2].map(|offset| lines.line_at(offset)), [1, 2, 2]);
        lines.read(b"\n\nc");
        assert_eq!([3, 6, 7].map(|offset| lines.line_at(offset)), [4, 4, 4]);
    }
}
