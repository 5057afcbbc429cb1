use std::io::{self, Write};

use super::budget::Budget;

pub(super) struct Bounded<'a> {
    out: &'a mut Vec<u8>,
    begun: usize,
    budget: &'a Budget,
}

impl<'a> Bounded<'a> {
    pub(super) fn new(out: &'a mut Vec<u8>, budget: &'a Budget) -> Self {
        Self { begun: out.len(), out, budget }
    }
}

impl Write for Bounded<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let made = self.out.len() - self.begun + bytes.len();
        self.budget.allows(made).and_then(|()| self.budget.goes_on()).map_err(io::Error::other)?;
        self.out.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
