use std::io;
use std::net::IpAddr;
use std::time::Duration;

use rocket::tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use rocket::tokio::time;

use super::signing::UploadPermit;
use super::{CardImages, ImageError, ImageType, InvalidAddress, UPLOAD_LIFETIME, Uploads, names};
use crate::auth::random;
use crate::http::concurrency_limiter::{ConcurrencyPermit, LimitReached};
use crate::http::quotas::Client;
use crate::model::{CardId, Upload};
use crate::stores::StoreError;
use crate::telemetry::UploadStep;

/// The maximum number of concurrent uploads to one address: a stalled upload and the client's retry.
const MAX_PER_ADDRESS: u32 = 2;
/// The minimum rate of an upload in bytes per second. A phone with 32 kbit/s reaches it.
const MIN_RATE: f64 = 4_096.0;
/// The rate is averaged over this time, or over `limits.timeout` if shorter. Each piece of an upload has this time to arrive.
const MAX_AVERAGING: Duration = Duration::from_mins(1);

/// An admitted upload. Counts as in progress until it is dropped.
#[derive(Debug)]
pub(crate) struct AdmittedUpload {
    permit: UploadPermit,
    length: Option<u64>,
    _slot: ConcurrencyPermit<Upload>,
    _client_slot: Option<ConcurrencyPermit<Client>>,
}

impl AdmittedUpload {
    /// Sets the expected length of the body. Without a length, a dropped connection can look like the end of the body.
    pub(crate) fn with_length(self, length: Option<u64>) -> Self {
        Self { length, ..self }
    }
}

impl CardImages {
    /// Verifies an upload address. Fails unless this service has signed it and it has not expired.
    pub(crate) async fn permit(
        &self,
        name: &str,
        expires: &str,
        signature: &str,
    ) -> Result<UploadPermit, ImageError> {
        let permit = match &self.uploads {
            Uploads::Direct => {
                let key = self.signing.key(&*self.store).await?;
                UploadPermit::parse(name, expires).filter(|permit| key.verify(permit, signature))
            }
            Uploads::Presigned(_) => None,
        };
        let permit = permit.ok_or(ImageError::InvalidAddress(InvalidAddress::WrongSignature))?;
        if permit.expires <= self.clock.now().to_utc().timestamp() {
            return Err(ImageError::InvalidAddress(InvalidAddress::Expired));
        }
        Ok(permit)
    }

    /// Fails if an upload for the card was received before, at this or an earlier address.
    pub(crate) async fn check_unused(&self, permit: &UploadPermit) -> Result<(), ImageError> {
        let expected = self.store.expected_upload(&permit.upload.card).await?;
        let used = ImageError::InvalidAddress(InvalidAddress::Used);
        if expected.as_ref() == Some(&permit.upload) { Ok(()) } else { Err(used) }
    }

    /// Receives the image of a form before the report of its card. Idempotent: does nothing if an upload was received already.
    pub(crate) async fn receive_early(
        &self,
        card: &CardId,
        client: Option<IpAddr>,
        body: impl AsyncRead + Unpin,
    ) -> Result<(), ImageError> {
        let until = self.clock.now().saturating_add(UPLOAD_LIFETIME);
        let upload = match self.store.expect_early_image(card, until).await {
            Err(StoreError::Conflict { .. }) => return Ok(()),
            expected => expected?,
        };
        let permit =
            UploadPermit { upload, image_type: ImageType::Jpeg, expires: until.to_utc().timestamp() };
        match self.receive(self.admit(permit, client)?, body).await {
            Err(ImageError::InvalidAddress(InvalidAddress::Used)) => Ok(()),
            received => received,
        }
    }

    /// Admits an upload within the limits: two for each signed address, because a client that loses its connection tries again; a
    /// quarter of `images.max_uploads` for each client; and `images.max_uploads` for the server.
    pub(crate) fn admit(
        &self,
        permit: UploadPermit,
        client: Option<IpAddr>,
    ) -> Result<AdmittedUpload, ImageError> {
        let client_permit =
            client.map(|client| self.client_slots.try_acquire(client.into(), self.per_client)).transpose();
        let client_slot = client_permit.map_err(|_| ImageError::ClientBusy)?;
        let slot = self.slots.try_acquire(permit.upload.clone(), MAX_PER_ADDRESS);
        let slot = slot.map_err(|limit| match limit {
            LimitReached::PerKey => ImageError::Busy,
            LimitReached::Total => ImageError::Full,
        })?;
        Ok(AdmittedUpload { permit, length: None, _slot: slot, _client_slot: client_slot })
    }

    /// Receives an upload, which appears in the storage only when complete. Accepts only one of several uploads to an address.
    ///
    /// Buffers about 1 MiB. The upload must arrive at 4 KiB/s or more, averaged over `limits.timeout` or a minute, whichever is
    /// shorter. If it is too large, too slow or incomplete, nothing is stored, and the address can be used again.
    pub(crate) async fn receive(
        &self,
        incoming: AdmittedUpload,
        body: impl AsyncRead + Unpin,
    ) -> Result<(), ImageError> {
        let upload = &incoming.permit.upload;
        let name = names::upload(upload, &random::hex::<8>()?);
        self.store_body(&name, body, incoming.length).await?;
        // If this fails, the upload stays in the storage, and the finder records it later.
        if self.store.receive_upload(upload, &name).await? {
            self.metrics.upload(UploadStep::Received);
            self.received.notify_one();
            return Ok(());
        }
        self.storage.delete_upload(&name).await?;
        Err(ImageError::InvalidAddress(InvalidAddress::Used))
    }

    /// Writes the body to the storage. Fails if the client is too slow, or if the body is too large or not of the given length.
    async fn store_body(
        &self,
        name: &str,
        mut body: impl AsyncRead + Unpin,
        length: Option<u64>,
    ) -> Result<(), ImageError> {
        self.storage.prepare_uploads().await.map_err(storage_error)?;
        let mut writer = self.storage.upload_writer(name);
        let read_timeout = self.timeout.min(MAX_AVERAGING);
        let copy = async {
            let mut remaining = self.max_bytes.as_u64();
            let mut piece = vec![0; (read_timeout.as_secs_f64() * MIN_RATE).ceil() as usize];
            loop {
                let result = time::timeout(read_timeout, fill(&mut body, &mut piece)).await;
                let read = result.map_err(|_| ImageError::TooSlow)?.map_err(ImageError::Incomplete)?;
                remaining = remaining.checked_sub(read as u64).ok_or(ImageError::TooLarge(self.max_bytes))?;
                writer.write_all(&piece[..read]).await.map_err(storage_error)?;
                if read < piece.len() {
                    let received = self.max_bytes.as_u64() - remaining;
                    if length.is_some_and(|length| length != received) {
                        return Err(ImageError::Incomplete(io::ErrorKind::UnexpectedEof.into()));
                    }
                    return Ok(());
                }
            }
        };
        let copied = time::timeout(UPLOAD_LIFETIME, copy).await;
        match copied.unwrap_or(Err(ImageError::TooSlow)) {
            Ok(()) => writer.shutdown().await.map_err(storage_error),
            Err(error) => {
                // Ignore a failure: dropping the writer discards the rest.
                let _ = writer.abort().await;
                Err(error)
            }
        }
    }
}

/// Reads until the buffer is full or the body ends; returns the number of bytes.
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

fn storage_error(error: io::Error) -> ImageError {
    ImageError::Storage(error.into())
}
