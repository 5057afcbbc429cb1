use std::fmt::{self, Display};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::AmazonS3Builder;
#[cfg(feature = "azure")]
use object_store::azure::MicrosoftAzureBuilder;
#[cfg(feature = "gcs")]
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::signer::Signer;
use object_store::{BackoffConfig, Error, ObjectStore, ObjectStoreScheme, RetryConfig};
use url::Url;

use crate::config::{ConfigError, Images};

/// The configuration key in errors about the storage.
const KEY: &str = "siaga.images.url";

/// A storage in the cloud.
pub(super) struct Cloud {
    pub(super) objects: Arc<dyn ObjectStore>,
    /// For a storage that receives uploads itself.
    pub(super) signer: Option<Arc<dyn Signer>>,
}

impl Cloud {
    /// Opens the storage of a kind that this program was built with. Does not connect to it yet.
    ///
    /// # Errors
    ///
    /// The key with a wrong value.
    pub(super) fn open(
        scheme: &ObjectStoreScheme,
        url: &Url,
        settings: &Images,
    ) -> Result<Self, ConfigError> {
        // The library includes no cryptography provider. An error means that one is already installed.
        let _ = rustls::crypto::ring::default_provider().install_default();
        match scheme {
            ObjectStoreScheme::AmazonS3 => {
                let builder = AmazonS3Builder::from_env().with_url(url.as_str()).with_retry(retry());
                let builder = configured(builder, settings, AmazonS3Builder::with_config)?;
                Ok(Self::signing(builder.build().map_err(wrong)?))
            }
            #[cfg(feature = "gcs")]
            ObjectStoreScheme::GoogleCloudStorage => {
                let builder =
                    GoogleCloudStorageBuilder::from_env().with_url(url.as_str()).with_retry(retry());
                let builder = configured(builder, settings, GoogleCloudStorageBuilder::with_config)?;
                Ok(Self::signing(builder.build().map_err(wrong)?))
            }
            // Azure would accept uploads only from clients that send a special header, and cannot sign the media type.
            #[cfg(feature = "azure")]
            ObjectStoreScheme::MicrosoftAzure => {
                let builder = MicrosoftAzureBuilder::from_env().with_url(url.as_str()).with_retry(retry());
                let builder = configured(builder, settings, MicrosoftAzureBuilder::with_config)?;
                Ok(Self { objects: Arc::new(builder.build().map_err(wrong)?), signer: None })
            }
            _ => Err(unknown_kind()),
        }
    }

    fn signing(objects: impl ObjectStore + Signer) -> Self {
        let objects = Arc::new(objects);
        Self { signer: Some(Arc::clone(&objects) as _), objects }
    }
}

/// Returns the error for an address of an unknown kind.
pub(super) fn unknown_kind() -> ConfigError {
    let kinds = [
        Some("file:///…"),
        Some("memory:///"),
        Some("s3://bucket/prefix"),
        cfg!(feature = "gcs").then_some("gs://bucket/prefix"),
        cfg!(feature = "azure").then_some("az://container/prefix"),
    ];
    ConfigError::new(
        KEY,
        format!("must be one of [{}]", kinds.into_iter().flatten().collect::<Vec<_>>().join(", ")),
    )
}

/// Returns the error for an option that the storage does not have.
pub(super) fn unknown_option(name: &str) -> ConfigError {
    ConfigError::new(&format!("siaga.images.options.{name}"), "this storage has no such option")
}

/// Requests wait for the storage, so it may take seconds, not minutes as by default.
fn retry() -> RetryConfig {
    RetryConfig {
        max_retries: 2,
        retry_timeout: Duration::from_secs(10),
        backoff: BackoffConfig { max_backoff: Duration::from_secs(1), ..BackoffConfig::default() },
    }
}

fn configured<B, K: FromStr>(
    builder: B,
    settings: &Images,
    set: impl Fn(B, K, String) -> B,
) -> Result<B, ConfigError> {
    settings.options.iter().try_fold(builder, |builder, (name, value)| {
        let key = name.to_ascii_lowercase().parse().map_err(|_| unknown_option(name))?;
        Ok(set(builder, key, value.expose().to_owned()))
    })
}

fn wrong(error: Error) -> ConfigError {
    ConfigError::new(KEY, OneLine(error))
}

/// Shows a text without its line breaks.
struct OneLine<T>(T);

impl<T: Display> Display for OneLine<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_string().lines().map(str::trim).collect::<Vec<_>>().join(" "))
    }
}
