use std::io;
use std::time::Duration;

use rocket::tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use rocket::tokio::time;

use super::signing::Permit;
use super::slots::Slot;
use super::{CardImages, ImageError, PERMITTED, Unpermitted, Uploads, names};
use crate::auth::random;
use crate::telemetry::UploadStep;

/// The rate an upload must arrive at, in bytes a second.
const SLOWEST: f64 = 8_192.0;
/// The longest time over which the rate is averaged; `limits.timeout` if that is shorter. An upload is read in pieces of
/// what must arrive within it.
const LONGEST_PIECE: Duration = Duration::from_mins(1);

/// An upload that may be received now. It counts as one in progress until it is dropped.
#[derive(Debug)]
pub struct Incoming {
    permit: Permit,
    _slot: Slot,
}

impl CardImages {
    /// What the address of an upload permits.
    ///
    /// # Errors
    ///
    /// [`ImageError::NotPermitted`] unless this service has signed the address for the present.
    pub fn permit(&self, name: &str, expires: &str, signature: &str) -> Result<Permit, ImageError> {
        let permit = match &self.uploads {
            Uploads::Direct(key) => {
                Permit::read(name, expires).filter(|permit| key.has_signed(permit, signature))
            }
            Uploads::Presigned(_) => None,
        };
        let permit = permit.ok_or(ImageError::NotPermitted(Unpermitted::WrongSignature))?;
        if permit.expires <= self.clock.now().to_utc().timestamp() {
            return Err(ImageError::NotPermitted(Unpermitted::Expired));
        }
        Ok(permit)
    }

    /// Makes sure that what is permitted has not been done yet.
    ///
    /// # Errors
    ///
    /// [`ImageError::NotPermitted`] when an upload of the card was received at this address or an earlier one,
    /// [`ImageError::Store`].
    pub async fn is_expected(&self, permit: &Permit) -> Result<(), ImageError> {
        let expected = self.store.expected_upload(&permit.upload.card).await?;
        let used = ImageError::NotPermitted(Unpermitted::Used);
        if expected.as_ref() == Some(&permit.upload) { Ok(()) } else { Err(used) }
    }

    /// Lets an upload begin. Two may be in progress at one address, since a client that has lost its connection tries
    /// again, and `images.max_uploads` on one server.
    ///
    /// # Errors
    ///
    /// [`ImageError::Busy`], [`ImageError::Full`].
    pub fn admit(&self, permit: Permit) -> Result<Incoming, ImageError> {
        let slot = self.slots.take(&permit.upload)?;
        Ok(Incoming { permit, _slot: slot })
    }

    /// Receives an upload as it comes in. Nothing of it is there before it is whole, and of several at one address
    /// one is received.
    ///
    /// Holds about a mebibyte of it in memory. It must arrive at 8 KiB a second, averaged over `limits.timeout` or a
    /// minute, whichever is shorter.
    ///
    /// # Errors
    ///
    /// [`ImageError::TooLarge`], [`ImageError::TooSlow`], [`ImageError::Incomplete`]: nothing was received, and the
    /// address can be used again. [`ImageError::NotPermitted`] when another upload was received meanwhile;
    /// [`ImageError::Storage`], [`ImageError::Store`].
    pub async fn receive(&self, incoming: Incoming, body: impl AsyncRead + Unpin) -> Result<(), ImageError> {
        let upload = &incoming.permit.upload;
        let name = names::upload(upload, &random::hex::<8>()?);
        self.keep(&name, body).await?;
        // Where the store does not say what it has done the upload stays, and is found later.
        if self.store.receive_upload(upload, &name).await? {
            self.metrics.upload(UploadStep::Received);
            self.received.notify_one();
            return Ok(());
        }
        self.storage.delete_upload(&name).await?;
        Err(ImageError::NotPermitted(Unpermitted::Used))
    }

    async fn keep(&self, name: &str, mut body: impl AsyncRead + Unpin) -> Result<(), ImageError> {
        let mut writer = self.storage.upload_writer(name);
        let patience = self.timeout.min(LONGEST_PIECE);
        let copying = async {
            let mut left = self.max_bytes.as_u64();
            let mut piece = vec![0; (patience.as_secs_f64() * SLOWEST).ceil() as usize];
            loop {
                let reading = time::timeout(patience, fill(&mut body, &mut piece)).await;
                let read = reading.map_err(|_| ImageError::TooSlow)?.map_err(ImageError::Incomplete)?;
                left = left.checked_sub(read as u64).ok_or(ImageError::TooLarge(self.max_bytes))?;
                writer.write_all(&piece[..read]).await.map_err(failed)?;
                if read < piece.len() {
                    return Ok(());
                }
            }
        };
        let copied = time::timeout(PERMITTED, copying).await;
        match copied.unwrap_or(Err(ImageError::TooSlow)) {
            Ok(()) => writer.shutdown().await.map_err(failed),
            Err(error) => {
                // What is left of it is nobody's, and its writer gives that up by itself.
                let _ = writer.abort().await;
                Err(error)
            }
        }
    }
}

/// Reads until the piece is full or the body has ended; returns the number of bytes read.
async fn fill(body: &mut (impl AsyncRead + Unpin), piece: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < piece.len() {
        match body.read(&mut piece[filled..]).await? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(filled)
}

fn failed(error: io::Error) -> ImageError {
    ImageError::Storage(error.into())
}
