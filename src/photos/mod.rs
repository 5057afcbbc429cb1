//! Images of cards: from the signed upload address to the small, upright photo on the map.
//!
//! A cloud storage signs upload addresses and receives uploads itself; for a folder or the memory, this service does both.
//! An upload is not published as it is: a [`Worker`] makes a photo from it ([`photo`]) and publishes the photo, and only then
//! does the report of the card link to it. The store records the progress of each image
//! ([`ImageStore`](crate::stores::ImageStore)), so that any server can continue with it.

mod cloud;
mod error;
mod finder;
mod image_type;
mod moves;
mod names;
pub(crate) mod photo;
mod problem;
mod receiving;
mod signing;
mod storage;
mod worker;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use object_store::signer::{HeaderName, HeaderValue, Method, SignedUrlOptions, Signer};
use rocket::data::ByteUnit;
use rocket::tokio::sync::Notify;
use rocket::tokio::time;

pub(crate) use self::error::{ImageError, Unpermitted};
pub(crate) use self::image_type::ImageType;
pub(crate) use self::names::card_of_file;
pub(crate) use self::receiving::Incoming;
pub(crate) use self::signing::Permit;
use self::signing::Signing;
use self::storage::Storage;
pub(crate) use self::storage::{HIDDEN, make_private};
pub(crate) use self::worker::Worker;
use crate::config::{Config, ConfigError};
use crate::http::concurrency_limiter::ConcurrencyLimiter;
use crate::http::quotas::Client;
use crate::model::{CardId, Clock, SenderHash, Upload};
use crate::stores::{Check, Store};
use crate::telemetry::Metrics;

/// How long an upload address is valid.
pub(crate) const PERMITTED: Duration = Duration::from_mins(15);

/// How long an upload is kept at least.
const SHORTEST_KEPT: Duration = Duration::from_hours(24);

/// How long the storage may take for the readiness check.
const STORAGE_PATIENCE: Duration = Duration::from_secs(2);

/// The images of cards, in the configured storage.
pub(crate) struct CardImages {
    storage: Storage,
    uploads: Uploads,
    signing: Signing,
    /// How long an upload may wait for the report of its card; later it is deleted.
    kept: Duration,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    metrics: Metrics,
    /// The address of the interface, and that of published images, both without a slash at the end.
    base_url: Box<str>,
    public_url: Box<str>,
    max_bytes: ByteUnit,
    max_side: u32,
    timeout: Duration,
    /// Notified when this server has received an upload.
    received: Notify,
    slots: ConcurrencyLimiter<Upload>,
    client_slots: ConcurrencyLimiter<Client>,
    /// How many slots one client may have.
    per_client: u32,
}

/// Who receives uploads.
enum Uploads {
    /// The storage.
    Presigned(Arc<dyn Signer>),
    /// This service.
    Direct,
}

/// Where a client uploads an image, and where the photo appears soon after.
#[derive(Clone, Debug)]
pub(crate) struct Invitation {
    /// An address that accepts one `PUT` of an image of the requested type, within [`PERMITTED`].
    pub(crate) signed_request: String,
    /// The address of the published photo.
    pub(crate) url: String,
    /// The media type that the storage demands as `Content-Type`, whatever other name the client asked by; `None` if this
    /// service receives the upload, which takes each name.
    pub(crate) content_type: Option<&'static str>,
}

impl CardImages {
    /// Checks the configuration.
    ///
    /// # Errors
    ///
    /// The key with a wrong value, with what is allowed.
    pub(crate) fn check(config: &Config) -> Result<(), ConfigError> {
        Storage::open(&config.photo_storage()?, &config.images).map(drop)
    }

    /// Opens the images of the cards in `store`. Does not connect to the storage yet.
    ///
    /// # Errors
    ///
    /// The key with a wrong value, with what is allowed.
    pub(crate) fn open(
        config: &Config,
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        metrics: Metrics,
    ) -> Result<Self, ConfigError> {
        let settings = &config.images;
        let max_uploads = settings.max_uploads.get().get();
        let storage = Storage::open(&config.photo_storage()?, settings)?;
        let uploads = match &storage.signer {
            Some(signer) => Uploads::Presigned(Arc::clone(signer)),
            None => Uploads::Direct,
        };
        Ok(Self {
            storage,
            uploads,
            signing: Signing::new(settings.signing_key.as_ref(), settings.max_bytes),
            kept: config.cards.open_for.max(SHORTEST_KEPT),
            store,
            clock,
            metrics,
            base_url: config.base_url.as_str().into(),
            public_url: config.photos_url().into(),
            max_bytes: settings.max_bytes,
            max_side: settings.max_side.get(),
            timeout: config.limits.timeout,
            received: Notify::new(),
            slots: ConcurrencyLimiter::new(max_uploads),
            client_slots: ConcurrencyLimiter::new(u32::MAX),
            // A client that has lost its connection tries again.
            per_client: max_uploads.div_ceil(4).max(2),
        })
    }

    /// Checks whether the storage responds, and whether a folder can be written to. Reads of the service need neither.
    pub(crate) async fn readiness(&self) -> Check {
        let asking = async {
            match time::timeout(STORAGE_PATIENCE, self.storage.is_there()).await {
                Ok(true) => Ok(()),
                _ => Err(()),
            }
        };
        Check::run("images", "the storage of images cannot be reached or written to", asking).await.optional()
    }

    /// Prepares to receive the image of a card, sent as `image_type`; before the report of the card only if it may be `early`.
    ///
    /// # Errors
    ///
    /// Those of [`ImageStore::expect_image`](crate::stores::ImageStore::expect_image); [`ImageError::Storage`] if the
    /// credentials of the storage cannot be obtained.
    pub(crate) async fn invite(
        &self,
        card: &CardId,
        image_type: ImageType,
        early: bool,
    ) -> Result<Invitation, ImageError> {
        let until = self.clock.now().after(PERMITTED);
        let upload = if early {
            self.store.expect_early_image(card, until).await?
        } else {
            self.store.expect_image(card, until).await?
        };
        let (signed_request, content_type) = match &self.uploads {
            Uploads::Direct => {
                let key = self.signing.key(&*self.store).await?;
                let permit = Permit { upload, image_type, expires: until.to_utc().timestamp() };
                let (name, expires, signature) = (permit.name(), permit.expires, key.sign(&permit));
                let address =
                    format!("{}/uploads/{name}?expires={expires}&signature={signature}", self.base_url);
                (address, None)
            }
            Uploads::Presigned(signer) => {
                let path = self.storage.upload(&names::presigned(card));
                let media_type = image_type.media_type();
                let header = HeaderValue::from_static(media_type);
                let options = SignedUrlOptions::new()
                    .with_signed_header(HeaderName::from_static("content-type"), header);
                let signing = signer.signed_url_opts(Method::PUT, &path, PERMITTED, &options);
                let signed = time::timeout(self.timeout, signing).await;
                let signed = signed.map_err(|elapsed| ImageError::Storage(elapsed.into()))??;
                (signed.into(), Some(media_type))
            }
        };
        Ok(Invitation { signed_request, url: self.address(card), content_type })
    }

    /// Returns the token that permits to send the image of a card after its report: 256 bits that nobody can guess.
    ///
    /// # Errors
    ///
    /// [`ImageError::Store`] if the key is in the store, which is away.
    pub(crate) async fn photo_token(&self, card: &CardId) -> Result<String, ImageError> {
        Ok(self.signing.key(&*self.store).await?.photo_token(card))
    }

    /// Returns the card of a form with this token: on every server the same, and nobody can guess it.
    ///
    /// # Errors
    ///
    /// As [`photo_token`](Self::photo_token).
    pub(crate) async fn card_of_form(&self, token: &str) -> Result<CardId, ImageError> {
        let id = self.signing.key(&*self.store).await?.card_of_form(token);
        id.parse().map_err(|_| ImageError::NotFound)
    }

    /// Returns what distinguishes the reports of a client from those of others, on each server on the store.
    ///
    /// # Errors
    ///
    /// As [`photo_token`](Self::photo_token).
    pub(crate) async fn sender(&self, client: &Client) -> Result<SenderHash, ImageError> {
        Ok(self.signing.key(&*self.store).await?.sender(client))
    }

    /// Returns whether a token is that of a card.
    ///
    /// # Errors
    ///
    /// As [`photo_token`](Self::photo_token).
    pub(crate) async fn is_photo_token(&self, token: &str, card: &CardId) -> Result<bool, ImageError> {
        Ok(self.signing.key(&*self.store).await?.is_photo_token(token, card))
    }

    /// Returns the address of a card's image once it is published.
    fn address(&self, card: &CardId) -> String {
        format!("{}/{}", self.public_url, names::published(card))
    }

    /// Returns the published image with this name, a JPEG.
    ///
    /// # Errors
    ///
    /// [`ImageError::NotFound`], [`ImageError::Storage`].
    pub(crate) async fn published(&self, name: &str) -> Result<Vec<u8>, ImageError> {
        names::published_card(name).ok_or(ImageError::NotFound)?;
        let reading = time::timeout(self.timeout, self.storage.read_published(name)).await;
        reading.map_err(|elapsed| ImageError::Storage(elapsed.into()))?
    }
}

impl fmt::Debug for CardImages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CardImages").field("storage", &self.storage).finish_non_exhaustive()
    }
}
