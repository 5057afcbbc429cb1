use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::ImageError;
use crate::model::Upload;

/// How many uploads to one address may be in progress: one that has stalled, and the client's next attempt.
const PER_ADDRESS: u32 = 2;

/// How many uploads this server is receiving, for each address and in total.
#[derive(Debug)]
pub(super) struct Slots {
    most: u32,
    taken: Mutex<HashMap<Upload, u32>>,
}

/// The right to receive one upload, released when it is dropped.
#[derive(Debug)]
pub(super) struct Slot {
    slots: Arc<Slots>,
    upload: Upload,
}

impl Slots {
    /// Makes slots for at most this many uploads in total.
    pub(super) fn new(most: u32) -> Arc<Self> {
        Arc::new(Self { most, taken: Mutex::default() })
    }

    /// Takes a slot for an upload.
    ///
    /// # Errors
    ///
    /// [`ImageError::Busy`], [`ImageError::Full`].
    pub(super) fn take(self: &Arc<Self>, upload: &Upload) -> Result<Slot, ImageError> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let (own, all) = (taken.get(upload).copied().unwrap_or_default(), taken.values().sum::<u32>());
        if own >= PER_ADDRESS {
            return Err(ImageError::Busy);
        }
        if all >= self.most {
            return Err(ImageError::Full(self.most));
        }
        taken.insert(upload.clone(), own + 1);
        Ok(Slot { slots: Arc::clone(self), upload: upload.clone() })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut taken = self.slots.taken.lock().unwrap_or_else(PoisonError::into_inner);
        match taken.get_mut(&self.upload) {
            Some(own) if *own > 1 => *own -= 1,
            _ => drop(taken.remove(&self.upload)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn upload(card: &str, turn: u32) -> Upload {
        Upload { card: card.parse().unwrap(), turn }
    }

    #[test]
    fn an_address_has_two_slots_and_all_together_have_as_many_as_configured() {
        let slots = Slots::new(3);
        let (one, other) = (upload("card-one", 0), upload("card-two", 0));
        let first = slots.take(&one).unwrap();
        let second = slots.take(&one).unwrap();
        assert!(matches!(slots.take(&one), Err(ImageError::Busy)));
        let third = slots.take(&other).unwrap();
        assert!(matches!(slots.take(&other), Err(ImageError::Full(3))));
        assert!(matches!(slots.take(&one), Err(ImageError::Busy)), "the address is refused first");
        drop(first);
        let fourth = slots.take(&upload("card-one", 1)).unwrap();
        drop((second, third, fourth));
        assert!(slots.taken.lock().unwrap().is_empty(), "nothing is remembered of uploads that have ended");
    }
}
