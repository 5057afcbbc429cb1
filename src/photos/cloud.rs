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

const KEY: &str = "siaga.images.url";

pub(super) struct Cloud {
    pub(super) objects: Arc<dyn ObjectStore>,
    /// Signs upload addresses of the storage. `None` if this service receives the uploads instead.
    pub(super) signer: Option<Arc<dyn Signer>>,
}

impl Cloud {
    /// Opens a storage without connecting to it. Errors name the invalid configuration key.
    pub(super) fn open(
        scheme: &ObjectStoreScheme,
        url: &Url,
        settings: &Images,
    ) -> Result<Self, ConfigError> {
        // `object_store` needs a cryptography provider for TLS. An error means that a provider is installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        match scheme {
            ObjectStoreScheme::AmazonS3 => {
                let builder = AmazonS3Builder::from_env().with_url(url.as_str()).with_retry(retry());
                let builder = with_options(builder, settings, AmazonS3Builder::with_config)?;
                Ok(Self::with_signer(builder.build().map_err(invalid_url)?))
            }
            #[cfg(feature = "gcs")]
            ObjectStoreScheme::GoogleCloudStorage => {
                let builder =
                    GoogleCloudStorageBuilder::from_env().with_url(url.as_str()).with_retry(retry());
                let builder = with_options(builder, settings, GoogleCloudStorageBuilder::with_config)?;
                Ok(Self::with_signer(builder.build().map_err(invalid_url)?))
            }
            // This service receives uploads for Azure: Azure needs a special header, and cannot sign the media type.
            #[cfg(feature = "azure")]
            ObjectStoreScheme::MicrosoftAzure => {
                let builder = MicrosoftAzureBuilder::from_env().with_url(url.as_str()).with_retry(retry());
                let builder = with_options(builder, settings, MicrosoftAzureBuilder::with_config)?;
                Ok(Self { objects: Arc::new(builder.build().map_err(invalid_url)?), signer: None })
            }
            _ => Err(unknown_kind()),
        }
    }

    fn with_signer(objects: impl ObjectStore + Signer) -> Self {
        let objects = Arc::new(objects);
        Self { signer: Some(Arc::clone(&objects) as _), objects }
    }
}

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

pub(super) fn unknown_option(name: &str) -> ConfigError {
    ConfigError::new(&format!("siaga.images.options.{name}"), "this storage has no such option")
}

/// Retries for seconds, not for minutes as by default, because requests wait for the storage.
fn retry() -> RetryConfig {
    RetryConfig {
        max_retries: 2,
        retry_timeout: Duration::from_secs(10),
        backoff: BackoffConfig { max_backoff: Duration::from_secs(1), ..BackoffConfig::default() },
    }
}

fn with_options<B, K: FromStr>(
    builder: B,
    settings: &Images,
    set: impl Fn(B, K, String) -> B,
) -> Result<B, ConfigError> {
    settings.options.iter().try_fold(builder, |builder, (name, value)| {
        let key = name.to_ascii_lowercase().parse().map_err(|_| unknown_option(name))?;
        Ok(set(builder, key, value.expose().to_owned()))
    })
}

fn invalid_url(error: Error) -> ConfigError {
    ConfigError::new(KEY, OneLine(error))
}

struct OneLine<T>(T);

impl<T: Display> Display for OneLine<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_string().lines().map(str::trim).collect::<Vec<_>>().join(" "))
    }
}
