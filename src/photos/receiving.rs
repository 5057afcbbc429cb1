use std::io;
use std::net::IpAddr;
use std::time::Duration;

use rocket::tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use rocket::tokio::time;

use super::signing::Permit;
use super::{CardImages, ImageError, ImageType, PERMITTED, Unpermitted, Uploads, names};
use crate::auth::random;
use crate::http::concurrency_limiter::{ConcurrencyPermit, LimitReached};
use crate::http::quotas::Client;
use crate::model::{CardId, Upload};
use crate::stores::StoreError;
use crate::telemetry::UploadStep;

/// How many uploads to one address may be in progress: one that has stalled, and the client's next attempt.
const PER_ADDRESS: u32 = 2;
/// The minimum rate of an upload, in bytes per second: that of a phone with 32 kbit/s.
const SLOWEST: f64 = 4_096.0;
/// The longest time over which the rate is averaged; `limits.timeout` if that is shorter. An upload is read in pieces, each as
/// large as what must arrive in this time.
const LONGEST_PIECE: Duration = Duration::from_mins(1);

/// An upload that may be received now. It counts as in progress until it is dropped.
#[derive(Debug)]
pub(crate) struct Incoming {
    permit: Permit,
    /// How many bytes it has, if its headers say so.
    length: Option<u64>,
    _slot: ConcurrencyPermit<Upload>,
    _client_slot: Option<ConcurrencyPermit<Client>>,
}

impl Incoming {
    /// Expects as many bytes as the headers of the upload say. A connection that breaks off can look like the end of the body.
    pub(crate) fn with_length(self, length: Option<u64>) -> Self {
        Self { length, ..self }
    }
}

impl CardImages {
    /// Returns what an upload address permits.
    ///
    /// # Errors
    ///
    /// [`ImageError::NotPermitted`] unless this service has signed the address and it is still valid. [`ImageError::Store`] if
    /// the key is in the store, which is away.
    pub(crate) async fn permit(
        &self,
        name: &str,
        expires: &str,
        signature: &str,
    ) -> Result<Permit, ImageError> {
        let permit = match &self.uploads {
            Uploads::Direct => {
                let key = self.signing.key(&*self.store).await?;
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

    /// Checks that no upload was received yet for the permit.
    ///
    /// # Errors
    ///
    /// [`ImageError::NotPermitted`] if an upload for the card was already received at this address or an earlier one,
    /// [`ImageError::Store`].
    pub(crate) async fn is_expected(&self, permit: &Permit) -> Result<(), ImageError> {
        let expected = self.store.expected_upload(&permit.upload.card).await?;
        let used = ImageError::NotPermitted(Unpermitted::Used);
        if expected.as_ref() == Some(&permit.upload) { Ok(()) } else { Err(used) }
    }

    /// Receives the image of a card that has no report yet, from a form. Does nothing if an upload was received already.
    ///
    /// # Errors
    ///
    /// Those of [`admit`](Self::admit) and [`receive`](Self::receive).
    pub(crate) async fn receive_early(
        &self,
        card: &CardId,
        client: Option<IpAddr>,
        body: impl AsyncRead + Unpin,
    ) -> Result<(), ImageError> {
        let until = self.clock.now().after(PERMITTED);
        let upload = match self.store.expect_early_image(card, until).await {
            Err(StoreError::Conflict { .. }) => return Ok(()),
            expected => expected?,
        };
        let permit = Permit { upload, image_type: ImageType::Jpeg, expires: until.to_utc().timestamp() };
        match self.receive(self.admit(permit, client)?, body).await {
            Err(ImageError::NotPermitted(Unpermitted::Used)) => Ok(()),
            received => received,
        }
    }

    /// Lets an upload begin. Two uploads to one signed address may be in progress, because a client that loses its connection tries
    /// again; a quarter of `images.max_uploads` from one client; and one server may receive `images.max_uploads` in total.
    ///
    /// # Errors
    ///
    /// [`ImageError::Busy`], [`ImageError::ClientBusy`], [`ImageError::Full`].
    pub(crate) fn admit(&self, permit: Permit, client: Option<IpAddr>) -> Result<Incoming, ImageError> {
        let taken =
            client.map(|client| self.client_slots.try_acquire(client.into(), self.per_client)).transpose();
        let client_slot = taken.map_err(|_| ImageError::ClientBusy)?;
        let slot =
            self.slots.try_acquire(permit.upload.clone(), PER_ADDRESS).map_err(|no_slot| match no_slot {
                LimitReached::PerKey => ImageError::Busy,
                LimitReached::Total => ImageError::Full,
            })?;
        Ok(Incoming { permit, length: None, _slot: slot, _client_slot: client_slot })
    }

    /// Receives an upload. It does not appear in the storage before it is complete, and if several arrive at one address,
    /// exactly one is accepted.
    ///
    /// Holds about 1 MiB of it in memory. It must arrive at 4 KiB a second at least, averaged over `limits.timeout` or a
    /// minute, whichever is shorter.
    ///
    /// # Errors
    ///
    /// [`ImageError::TooLarge`], [`ImageError::TooSlow`], [`ImageError::Incomplete`]: nothing was received, and the address can
    /// be used again. [`ImageError::NotPermitted`] if another upload was received meanwhile; [`ImageError::Storage`],
    /// [`ImageError::Store`].
    pub(crate) async fn receive(
        &self,
        incoming: Incoming,
        body: impl AsyncRead + Unpin,
    ) -> Result<(), ImageError> {
        let upload = &incoming.permit.upload;
        let name = names::upload(upload, &random::hex::<8>()?);
        self.keep(&name, body, incoming.length).await?;
        // If the store does not confirm, the upload stays in the storage and is found later.
        if self.store.receive_upload(upload, &name).await? {
            self.metrics.upload(UploadStep::Received);
            self.received.notify_one();
            return Ok(());
        }
        self.storage.delete_upload(&name).await?;
        Err(ImageError::NotPermitted(Unpermitted::Used))
    }

    async fn keep(
        &self,
        name: &str,
        mut body: impl AsyncRead + Unpin,
        length: Option<u64>,
    ) -> Result<(), ImageError> {
        self.storage.prepare_uploads().await.map_err(failed)?;
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
                    let received = self.max_bytes.as_u64() - left;
                    if length.is_some_and(|length| length != received) {
                        return Err(ImageError::Incomplete(io::ErrorKind::UnexpectedEof.into()));
                    }
                    return Ok(());
                }
            }
        };
        let copied = time::timeout(PERMITTED, copying).await;
        match copied.unwrap_or(Err(ImageError::TooSlow)) {
            Ok(()) => writer.shutdown().await.map_err(failed),
            Err(error) => {
                // If this fails, nothing else uses the rest, and dropping the writer gives it up.
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
