use rocket::tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use rocket::tokio::time;

use super::signing::Permit;
use super::{CardImages, ImageError, PERMITTED, Uploads, names};
use crate::random;
use crate::telemetry::UploadStep;

/// How many bytes of an upload are read at once.
const CHUNK: usize = 64 << 10;

impl CardImages {
    /// What the address of an upload permits.
    ///
    /// # Errors
    ///
    /// [`ImageError::NotPermitted`] unless this service has signed the address for the present.
    pub fn permit(&self, name: &str, expires: &str, signature: &str) -> Result<Permit, ImageError> {
        let Uploads::Direct(key) = &self.uploads else { return Err(ImageError::NotPermitted) };
        let permit = Permit::read(name, expires).filter(|permit| {
            key.has_signed(permit, signature) && self.clock.now().to_utc().timestamp() < permit.expires
        });
        permit.ok_or(ImageError::NotPermitted)
    }

    /// Makes sure that what is permitted has not been done yet.
    ///
    /// # Errors
    ///
    /// [`ImageError::NotPermitted`] when an upload of the card was received at this address or an earlier one,
    /// [`ImageError::Store`].
    pub async fn is_expected(&self, permit: &Permit) -> Result<(), ImageError> {
        let expected = self.store.expected_upload(&permit.upload.card).await?;
        if expected.as_ref() == Some(&permit.upload) { Ok(()) } else { Err(ImageError::NotPermitted) }
    }

    /// Receives an upload as it comes in. Nothing of it is there before it is whole, and of several at one address
    /// one is received.
    ///
    /// Holds about a mebibyte of it in memory.
    ///
    /// # Errors
    ///
    /// [`ImageError::TooLarge`], [`ImageError::TooSlow`], [`ImageError::Incomplete`]: nothing was received, and the
    /// address can be used again. [`ImageError::NotPermitted`] when another upload was received meanwhile;
    /// [`ImageError::Storage`], [`ImageError::Store`].
    pub async fn receive(&self, permit: &Permit, body: impl AsyncRead + Unpin) -> Result<(), ImageError> {
        let name = names::upload(&permit.upload, &random::hex::<8>()?);
        self.keep(&name, body).await?;
        // Where the store does not say what it has done the upload stays, and is found later.
        if self.store.receive_upload(&permit.upload, &name).await? {
            self.metrics.upload(UploadStep::Received);
            self.received.notify_one();
            return Ok(());
        }
        self.storage.delete_upload(&name).await?;
        Err(ImageError::NotPermitted)
    }

    async fn keep(&self, name: &str, mut body: impl AsyncRead + Unpin) -> Result<(), ImageError> {
        let mut writer = self.storage.upload_writer(name);
        let copying = async {
            let mut left = self.max_bytes.as_u64();
            let mut chunk = vec![0; CHUNK];
            loop {
                let reading = time::timeout(self.timeout, body.read(&mut chunk)).await;
                let read = reading
                    .map_err(|_| ImageError::TooSlow(self.timeout))?
                    .map_err(ImageError::Incomplete)?;
                if read == 0 {
                    return Ok(());
                }
                left = left.checked_sub(read as u64).ok_or(ImageError::TooLarge(self.max_bytes))?;
                writer.write_all(&chunk[..read]).await.map_err(failed)?;
            }
        };
        let copied = time::timeout(PERMITTED, copying).await;
        match copied.unwrap_or(Err(ImageError::TooSlow(PERMITTED))) {
            Ok(()) => writer.shutdown().await.map_err(failed),
            Err(error) => {
                // What is left of it is nobody's, and its writer gives that up by itself.
                let _ = writer.abort().await;
                Err(error)
            }
        }
    }
}

fn failed(error: std::io::Error) -> ImageError {
    ImageError::Storage(error.into())
}
