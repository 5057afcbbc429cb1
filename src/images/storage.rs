use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::buffered::BufWriter;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::signer::Signer;
use object_store::{
    Attribute, Attributes, BackoffConfig, Error, GetResult, ObjectMeta, ObjectStore, ObjectStoreExt,
    ObjectStoreScheme, PutOptions, Result, RetryConfig,
};
use rocket::futures::stream::BoxStream;
use rocket::futures::{StreamExt, TryStreamExt};
use url::Url;

use super::KEEP_FOREVER;
use crate::config::{ConfigError, Images};

/// The folder of uploads, beside which images are published.
const UPLOADS: &str = "uploads";
/// How much of an upload is gathered before it is written, in bytes.
const PART: usize = 1 << 20;

/// Objects under one address: uploads that wait, in the folder `uploads`, and published images.
#[derive(Clone, Debug)]
pub(super) struct Storage {
    objects: Arc<dyn ObjectStore>,
    root: Path,
    /// Of a storage that takes uploads itself.
    pub(super) signer: Option<Arc<dyn Signer>>,
    /// What is noted with a published image, where the storage serves it.
    attributes: Attributes,
}

impl Storage {
    /// The storage at `url`. Does not reach for it yet.
    ///
    /// # Errors
    ///
    /// The key at fault: an address of another kind, or an option there is not.
    pub(super) fn open(url: &Url, settings: &Images) -> std::result::Result<Self, ConfigError> {
        const KEY: &str = "siaga.images.url";
        let must = || ConfigError::new(KEY, "must be file:///…, memory:/// or s3://bucket/prefix");
        let (scheme, root) = ObjectStoreScheme::parse(url).map_err(|_| must())?;
        let wrong = |error: Error| ConfigError::new(KEY, OneLine(error));
        if let (ObjectStoreScheme::Local | ObjectStoreScheme::Memory, Some(option)) =
            (&scheme, settings.options.keys().next())
        {
            return Err(unknown(option));
        }
        match scheme {
            // What was acknowledged is on the disk.
            ObjectStoreScheme::Local => Ok(Self::plain(LocalFileSystem::new().with_fsync(true), root)),
            ObjectStoreScheme::Memory => Ok(Self::plain(InMemory::new(), root)),
            ObjectStoreScheme::AmazonS3 => {
                Ok(Self::cloud(amazon_s3(url, settings)?.build().map_err(wrong)?, root))
            }
            _ => Err(must()),
        }
    }

    fn plain(objects: impl ObjectStore, root: Path) -> Self {
        Self { objects: Arc::new(objects), root, signer: None, attributes: Attributes::new() }
    }

    fn cloud(objects: impl ObjectStore + Signer, root: Path) -> Self {
        let objects = Arc::new(objects);
        let attributes = [(Attribute::ContentType, "image/jpeg"), (Attribute::CacheControl, KEEP_FOREVER)];
        let signer = Some(Arc::clone(&objects) as _);
        Self { objects, root, signer, attributes: attributes.into_iter().collect() }
    }

    /// Where an upload is kept.
    pub(super) fn upload(&self, name: &str) -> Path {
        self.uploads().join(name)
    }

    fn uploads(&self) -> Path {
        self.root.clone().join(UPLOADS)
    }

    fn published(&self, name: &str) -> Path {
        self.root.clone().join(name)
    }

    /// Writes an upload, which is there once the writer is shut down and not before.
    pub(super) fn upload_writer(&self, name: &str) -> BufWriter {
        BufWriter::with_capacity(Arc::clone(&self.objects), self.upload(name), PART).with_max_concurrency(1)
    }

    /// An upload; its size is known before its content is read.
    pub(super) async fn read_upload(&self, name: &str) -> Result<GetResult> {
        self.objects.get(&self.upload(name)).await
    }

    /// Deletes an upload, if it is there.
    pub(super) async fn delete_upload(&self, name: &str) -> Result<()> {
        match self.objects.delete(&self.upload(name)).await {
            Err(Error::NotFound { .. }) => Ok(()),
            outcome => outcome,
        }
    }

    /// All uploads there are, each with its name.
    pub(super) fn uploads_there(&self) -> BoxStream<'_, Result<(String, ObjectMeta)>> {
        let all = self.objects.list(Some(&self.uploads()));
        all.try_filter_map(async |object| {
            Ok(object.location.filename().map(str::to_owned).map(|name| (name, object)))
        })
        .boxed()
    }

    /// Makes an image public, in the place of one that was there.
    pub(super) async fn publish(&self, name: &str, image: Vec<u8>) -> Result<()> {
        let options = PutOptions { attributes: self.attributes.clone(), ..PutOptions::default() };
        self.objects.put_opts(&self.published(name), image.into(), options).await.map(drop)
    }

    /// A published image.
    pub(super) async fn read_published(&self, name: &str) -> Result<Vec<u8>> {
        let found = self.objects.get(&self.published(name)).await?;
        Ok(found.bytes().await?.into())
    }
}

fn amazon_s3(url: &Url, settings: &Images) -> std::result::Result<AmazonS3Builder, ConfigError> {
    // The library comes without cryptography; an error means that there is one already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let retry = RetryConfig {
        max_retries: 2,
        retry_timeout: Duration::from_secs(10),
        backoff: BackoffConfig { max_backoff: Duration::from_secs(1), ..BackoffConfig::default() },
    };
    let builder = AmazonS3Builder::from_env().with_url(url.as_str()).with_retry(retry);
    settings.options.iter().try_fold(builder, |builder, (name, value)| {
        let key = AmazonS3ConfigKey::from_str(&name.to_ascii_lowercase()).map_err(|_| unknown(name))?;
        Ok(builder.with_config(key, value.expose()))
    })
}

fn unknown(option: &str) -> ConfigError {
    ConfigError::new(&format!("siaga.images.options.{option}"), "this storage has no such option")
}

/// An error and its causes in one line.
struct OneLine(Error);

impl fmt::Display for OneLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_string().lines().map(str::trim).collect::<Vec<_>>().join(" "))
    }
}
