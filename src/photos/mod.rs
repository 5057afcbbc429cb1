//! Images of cards: from the signed upload address to the small, upright photo on the map.
//!
//! Clients upload either to a cloud storage, by a presigned address, or to this service, by an address that it signs itself. The
//! upload stays private: a [`Worker`] makes a photo from it ([`photo`]) and publishes the photo. Only then does the card's report
//! link to the photo. The store records the progress of each image ([`ImageStore`](crate::stores::ImageStore)), so that any
//! server can continue.

mod cloud;
mod error;
mod finder;
mod image_type;
mod names;
pub(crate) mod photo;
mod photo_moves;
mod problem;
mod signing;
mod storage;
mod upload;
mod worker;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use object_store::signer::{HeaderName, HeaderValue, Method, SignedUrlOptions, Signer};
use rocket::data::ByteUnit;
use rocket::tokio::sync::Notify;
use rocket::tokio::time;

pub(crate) use self::error::{ImageError, InvalidAddress};
pub(crate) use self::image_type::ImageType;
pub(crate) use self::names::card_of_file;
use self::signing::SigningKeyCell;
pub(crate) use self::signing::UploadPermit;
use self::storage::Storage;
pub(crate) use self::storage::{HIDDEN, make_private};
pub(crate) use self::upload::AdmittedUpload;
pub(crate) use self::worker::Worker;
use crate::config::{Config, ConfigError};
use crate::http::concurrency_limiter::ConcurrencyLimiter;
use crate::http::quotas::Client;
use crate::model::{CardId, Clock, SenderHash, Upload};
use crate::stores::{Check, Store};
use crate::telemetry::Metrics;

pub(crate) const UPLOAD_LIFETIME: Duration = Duration::from_mins(15);

/// Uploads are retained for at least this long.
const MIN_RETENTION: Duration = Duration::from_hours(24);

const READINESS_TIMEOUT: Duration = Duration::from_secs(2);

pub(crate) struct CardImages {
    storage: Storage,
    uploads: Uploads,
    signing: SigningKeyCell,
    /// How long an upload may wait for the report of its card before it is deleted.
    retention: Duration,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    metrics: Metrics,
    /// The address of the interface, and the address of published images. Both without a trailing slash.
    base_url: Box<str>,
    public_url: Box<str>,
    max_bytes: ByteUnit,
    max_side: u32,
    timeout: Duration,
    /// Wakes a worker when this server has received an upload.
    received: Notify,
    slots: ConcurrencyLimiter<Upload>,
    client_slots: ConcurrencyLimiter<Client>,
    per_client: u32,
}

/// The receiver of uploads: the storage, or this service.
enum Uploads {
    Presigned(Arc<dyn Signer>),
    Direct,
}

/// Where a client uploads an image, and where the photo will be.
#[derive(Clone, Debug)]
pub(crate) struct UploadTarget {
    /// The address, which accepts one `PUT` of an image of the requested type within [`UPLOAD_LIFETIME`].
    pub(crate) signed_request: String,
    pub(crate) url: String,
    /// The `Content-Type` that the storage requires. `None` if this service receives the upload, with any name of the type.
    pub(crate) content_type: Option<&'static str>,
}

impl CardImages {
    pub(crate) fn check(config: &Config) -> Result<(), ConfigError> {
        Storage::open(&config.photo_storage()?, &config.images).map(drop)
    }

    /// Opens the storage without connecting to it. Errors name the invalid configuration key.
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
            signing: SigningKeyCell::new(settings.signing_key.as_ref(), settings.max_bytes),
            retention: config.cards.open_for.max(MIN_RETENTION),
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
            // At least two, because a client that lost its connection tries again.
            per_client: max_uploads.div_ceil(4).max(2),
        })
    }

    /// Checks that the storage responds, and that a folder is writable. The check is optional: reads work without the storage.
    pub(crate) async fn readiness(&self) -> Check {
        let check = async {
            match time::timeout(READINESS_TIMEOUT, self.storage.is_available()).await {
                Ok(true) => Ok(()),
                _ => Err(()),
            }
        };
        Check::run("images", "the storage of images cannot be reached or written to", check).await.optional()
    }

    /// Records that a card's image is expected, and returns where to upload it. With `early`, the report may be missing.
    pub(crate) async fn expect_upload(
        &self,
        card: &CardId,
        image_type: ImageType,
        early: bool,
    ) -> Result<UploadTarget, ImageError> {
        let until = self.clock.now().saturating_add(UPLOAD_LIFETIME);
        let upload = if early {
            self.store.expect_early_image(card, until).await?
        } else {
            self.store.expect_image(card, until).await?
        };
        let (signed_request, content_type) = match &self.uploads {
            Uploads::Direct => {
                let key = self.signing.key(&*self.store).await?;
                let permit = UploadPermit { upload, image_type, expires: until.to_utc().timestamp() };
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
                let sign = signer.signed_url_opts(Method::PUT, &path, UPLOAD_LIFETIME, &options);
                let signed = time::timeout(self.timeout, sign).await;
                let signed = signed.map_err(|elapsed| ImageError::Storage(elapsed.into()))??;
                (signed.into(), Some(media_type))
            }
        };
        Ok(UploadTarget { signed_request, url: self.public_address(card), content_type })
    }

    /// Returns the token for uploading the image of a card after its report: an HMAC of 256 bits.
    pub(crate) async fn photo_token(&self, card: &CardId) -> Result<String, ImageError> {
        Ok(self.signing.key(&*self.store).await?.photo_token(card))
    }

    /// Returns the identifier of the card for the token of a form: unguessable, and the same on every server.
    pub(crate) async fn card_of_form(&self, token: &str) -> Result<CardId, ImageError> {
        let id = self.signing.key(&*self.store).await?.card_of_form(token);
        id.parse().map_err(|_| ImageError::NotFound)
    }

    /// Returns a keyed hash of a client, the same on every server.
    pub(crate) async fn sender_hash(&self, client: &Client) -> Result<SenderHash, ImageError> {
        Ok(self.signing.key(&*self.store).await?.sender_hash(client))
    }

    pub(crate) async fn is_photo_token(&self, token: &str, card: &CardId) -> Result<bool, ImageError> {
        Ok(self.signing.key(&*self.store).await?.is_photo_token(token, card))
    }

    fn public_address(&self, card: &CardId) -> String {
        format!("{}/{}", self.public_url, names::published(card))
    }

    pub(crate) async fn published(&self, name: &str) -> Result<Vec<u8>, ImageError> {
        names::published_card(name).ok_or(ImageError::NotFound)?;
        let image = time::timeout(self.timeout, self.storage.read_published(name)).await;
        image.map_err(|elapsed| ImageError::Storage(elapsed.into()))?
    }
}

impl fmt::Debug for CardImages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CardImages").field("storage", &self.storage).finish_non_exhaustive()
    }
}
