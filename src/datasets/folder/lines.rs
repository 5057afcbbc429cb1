/// Tells the line of each of a file's rows, which must be asked for in their order.
pub(super) struct Lines<'t> {
    text: &'t [u8],
    seen: usize,
    line: u64,
}

impl<'t> Lines<'t> {
    pub(super) fn of(text: &'t [u8]) -> Self {
        Self { text, seen: 0, line: 1 }
    }

    /// The line an offset stands on, from 1; costs what lies between it and the offset asked for before.
    pub(super) fn at(&mut self, offset: usize) -> u64 {
        debug_assert!(offset >= self.seen, "rows are asked for in their order");
        let passed = self.text.get(self.seen..offset).unwrap_or_default();
        self.line += passed.iter().map(|&byte| u64::from(byte == b'\n')).sum::<u64>();
        self.seen = self.seen.max(offset);
        self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_an_offset_counts_the_breaks_before_it() {
        let mut lines = Lines::of(b"a\nb\r\n\nc");
        let found = [0, 1, 2, 2, 5, 6, 7].map(|offset| lines.at(offset));
        assert_eq!(found, [1, 1, 2, 2, 3, 4, 4]);
    }
}
