use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::{self, Path};

use rocket::data::ByteUnit;
use serde::{Deserialize, Serialize};
use url::Url;

use super::{BaseUrl, ConfigError, PositiveCount};
use crate::auth::Secret;
use crate::model::Number;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub(crate) struct Images {
    /// The storage: `file:///folder`, `memory:///` or `s3://bucket/prefix`. **Default: the folder `images` next to the data set,
    /// or in the working directory if the data set is not a folder; with the store `file`, the path of its file plus `-images`**
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<StorageUrl>,
    /// The public address of the storage, if clients load images from there instead of from this service. **Default: none,
    /// images are served at `{base_url}/images`**
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_url: Option<BaseUrl>,
    /// The key that signs upload addresses. It must be the same for all servers on one store. **Default: a key that is generated
    /// once and kept in the store; the store `memory` has a new key at each start**
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signing_key: Option<Secret>,
    /// The largest upload: a size such as `20MiB`, or a number of bytes. **Default: `20MiB`**
    pub max_bytes: ByteUnit,
    /// Concurrent uploads of one server; at most a quarter of them from one client, and two to the same signed address.
    /// **Default: `64`**
    pub max_uploads: PositiveCount,
    /// The longest side of a published image, in pixels. **Default: `1280`**
    pub max_side: Side,
    /// Settings of a cloud storage by their names in `object_store`, such as `aws_endpoint`. They override `AWS_…` in the
    /// environment. **Default: none**
    pub options: BTreeMap<String, Secret>,
}

impl Default for Images {
    fn default() -> Self {
        Self {
            url: None,
            public_url: None,
            signing_key: None,
            max_bytes: ByteUnit::Mebibyte(20),
            max_uploads: PositiveCount::new(NonZeroU32::MIN.saturating_add(63)),
            max_side: Side(1280),
            options: BTreeMap::new(),
        }
    }
}

impl Images {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        if self.max_bytes == 0 {
            return Err(ConfigError::new("siaga.images.max_bytes", "must be more than 0"));
        }
        Ok(())
    }

    /// Returns the configured address, otherwise the address of `folder`, which need not exist.
    pub(super) fn storage(&self, folder: &Path) -> Result<Url, ConfigError> {
        if let Some(StorageUrl(url)) = &self.url {
            return Ok(url.clone());
        }
        // `..` must be resolved here: storages reject it in addresses, and only the file system can resolve it.
        let parent =
            folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = folder.file_name().unwrap_or_default();
        let resolved = parent.canonicalize().map(|parent| parent.join(name));
        let folder = resolved.or_else(|_| path::absolute(folder));
        let url = folder.ok().and_then(|folder| Url::from_directory_path(folder).ok());
        url.ok_or_else(|| {
            ConfigError::new("siaga.images.url", "must be given: the working directory is gone")
        })
    }
}

/// The address of a storage. Each kind of storage checks its own addresses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct StorageUrl(Url);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be an address such as file:///srv/siaga or s3://bucket/prefix, without credentials")]
pub(crate) struct InvalidStorageUrl;

impl TryFrom<String> for StorageUrl {
    type Error = InvalidStorageUrl;

    fn try_from(text: String) -> Result<Self, InvalidStorageUrl> {
        let url = Url::parse(&text).map_err(|_| InvalidStorageUrl)?;
        // Credentials belong in `options`, which are never shown.
        let is_plain = url.username().is_empty() && url.password().is_none();
        is_plain.then_some(Self(url)).ok_or(InvalidStorageUrl)
    }
}

/// A number of pixels: 1 to 65,535, the maximum for a JPEG (ITU-T T.81 §B.2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Number")]
pub(crate) struct Side(u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a whole number from 1 to {}", Side::MAX)]
pub(crate) struct InvalidSide;

impl Side {
    const MAX: u32 = 65_535;

    #[must_use]
    pub(crate) fn get(self) -> u32 {
        self.0
    }
}

impl TryFrom<Number> for Side {
    type Error = InvalidSide;

    fn try_from(number: Number) -> Result<Self, InvalidSide> {
        let side = number.get().filter(|side| (1..=Self::MAX).contains(side));
        side.map(Self).ok_or(InvalidSide)
    }
}
