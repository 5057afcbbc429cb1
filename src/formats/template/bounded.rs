use std::io::{self, Write};

use super::budget::Budget;

pub(super) struct Bounded<'a> {
    out: &'a mut Vec<u8>,
    start: usize,
    budget: &'a Budget,
}

impl<'a> Bounded<'a> {
    pub(super) fn new(out: &'a mut Vec<u8>, budget: &'a Budget) -> Self {
        Self { start: out.len(), out, budget }
    }
}

impl Write for Bounded<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let length = self.out.len() - self.start + bytes.len();
        self.budget.check_length(length).and_then(|()| self.budget.check_time()).map_err(io::Error::other)?;
        self.out.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
