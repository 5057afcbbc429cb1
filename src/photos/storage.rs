use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use object_store::buffered::BufWriter;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::signer::Signer;
use object_store::{
    Attribute, Attributes, Error, GetResult, ObjectMeta, ObjectStore, ObjectStoreExt, ObjectStoreScheme,
    PutMode, PutOptions, PutPayload, Result, UpdateVersion,
};
use rocket::futures::stream::BoxStream;
use rocket::futures::{StreamExt, TryStreamExt};
use rocket::tokio::sync::Semaphore;
use rocket::tokio::task::spawn_blocking;
use url::Url;

use super::ImageError;
use super::cloud::{Cloud, unknown_kind, unknown_option};
use crate::auth::random;
use crate::config::{ConfigError, Images};
use crate::http::content::CacheControl;

const UPLOADS: &str = "uploads";
/// The private folder of hidden photos, inside the published folder.
pub(crate) const HIDDEN: &str = "hidden";
const WRITE_BUFFER: usize = 1 << 20;
/// The size of the write probe in bytes: one block of most file systems.
const PROBE_SIZE: usize = 4 << 10;

/// The objects of the storage, below its address: uploads in `uploads`, hidden photos in `hidden`, published photos at the top.
#[derive(Clone, Debug)]
pub(super) struct Storage {
    objects: Arc<dyn ObjectStore>,
    root: Path,
    /// `Some` if the storage is a folder.
    folder: Option<PathBuf>,
    /// Limits write probes to one at a time.
    probe_permit: Arc<Semaphore>,
    /// Signs upload addresses of the storage. `None` if this service receives the uploads instead.
    pub(super) signer: Option<Arc<dyn Signer>>,
    /// Attributes of published images, for a storage that serves them itself.
    attributes: Attributes,
}

impl Storage {
    /// Opens the storage without connecting to it. Fails if the kind or an option is unknown.
    pub(super) fn open(url: &Url, settings: &Images) -> std::result::Result<Self, ConfigError> {
        let (scheme, root) = ObjectStoreScheme::parse(url).map_err(|_| unknown_kind())?;
        let option = settings.options.keys().next();
        match (&scheme, option) {
            (ObjectStoreScheme::Local | ObjectStoreScheme::Memory, Some(option)) => {
                Err(unknown_option(option))
            }
            // Fsync, so that confirmed uploads survive a crash.
            (ObjectStoreScheme::Local, None) => Ok(Self {
                folder: url.to_file_path().ok(),
                ..Self::local(LocalFileSystem::new().with_fsync(true), root)
            }),
            (ObjectStoreScheme::Memory, None) => Ok(Self::local(InMemory::new(), root)),
            _ => {
                let Cloud { objects, signer } = Cloud::open(&scheme, url, settings)?;
                let noted = [
                    (Attribute::ContentType, "image/jpeg"),
                    (Attribute::CacheControl, CacheControl::FIVE_MINUTES),
                ];
                let attributes = noted.into_iter().collect();
                Ok(Self { objects, root, folder: None, probe_permit: one_at_a_time(), signer, attributes })
            }
        }
    }

    fn local(objects: impl ObjectStore, root: Path) -> Self {
        Self {
            objects: Arc::new(objects),
            root,
            folder: None,
            probe_permit: one_at_a_time(),
            signer: None,
            attributes: Attributes::new(),
        }
    }

    pub(super) fn upload(&self, name: &str) -> Path {
        self.uploads().join(name)
    }

    fn uploads(&self) -> Path {
        self.root.clone().join(UPLOADS)
    }

    fn published(&self, name: &str) -> Path {
        self.root.clone().join(name)
    }

    fn hidden(&self, name: &str) -> Path {
        self.root.clone().join(HIDDEN).join(name)
    }

    /// Creates the folder for uploads, readable only by its owner: uploads still contain GPS position and camera.
    pub(super) async fn prepare_uploads(&self) -> io::Result<()> {
        let Some(folder) = self.folder.clone() else { return Ok(()) };
        let created = spawn_blocking(move || make_private(&folder.join(UPLOADS))).await;
        created.map_err(io::Error::other)?
    }

    /// Returns a writer for an upload, which appears in the storage once the writer is shut down.
    pub(super) fn upload_writer(&self, name: &str) -> BufWriter {
        BufWriter::with_capacity(Arc::clone(&self.objects), self.upload(name), WRITE_BUFFER)
            .with_max_concurrency(1)
    }

    pub(super) async fn read_upload(&self, name: &str) -> std::result::Result<GetResult, ImageError> {
        self.objects.get(&self.upload(name)).await.map_err(read_error)
    }

    pub(super) async fn delete_upload(&self, name: &str) -> Result<()> {
        self.delete(&self.upload(name)).await
    }

    /// Removes a processed upload, unless another upload has replaced it since.
    ///
    /// In a cloud storage, overwrites the upload with an empty object: such storages can replace conditionally, but not delete
    /// conditionally. In other storages uploads never replace each other.
    pub(super) async fn remove_unchanged(&self, name: &str, expected: ObjectMeta) -> Result<()> {
        if self.signer.is_none() {
            return self.delete_upload(name).await;
        }
        let ObjectMeta { e_tag, version, .. } = expected;
        let unchanged = PutMode::Update(UpdateVersion { e_tag, version });
        match self.objects.put_opts(&self.upload(name), PutPayload::new(), unchanged.into()).await {
            Ok(_) | Err(Error::Precondition { .. } | Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Whether a file can be written to the folder; for storages without a folder, whether uploads can be listed.
    pub(super) async fn is_available(&self) -> bool {
        let Some(folder) = self.folder.clone() else {
            return matches!(self.list_uploads().next().await, None | Some(Ok(_)));
        };
        // The permit ensures that at most one thread waits if the disk hangs.
        let Ok(permit) = Arc::clone(&self.probe_permit).try_acquire_owned() else { return false };
        let written = spawn_blocking(move || {
            let _permit = permit;
            probe_write(&folder.join(UPLOADS))
        });
        matches!(written.await, Ok(Ok(())))
    }

    pub(super) fn list_uploads(&self) -> BoxStream<'_, Result<(String, ObjectMeta)>> {
        let list = self.objects.list(Some(&self.uploads()));
        list.try_filter_map(async |object| {
            Ok(object.location.filename().map(str::to_owned).map(|name| (name, object)))
        })
        .boxed()
    }

    pub(super) async fn publish(&self, name: &str, image: Vec<u8>) -> Result<()> {
        let options = PutOptions { attributes: self.attributes.clone(), ..PutOptions::default() };
        self.objects.put_opts(&self.published(name), image.into(), options).await.map(drop)
    }

    /// Hides a published photo, if there is one. In a folder, hidden photos are readable only by the folder's owner.
    pub(super) async fn hide_photo(&self, name: &str) -> std::result::Result<(), ImageError> {
        let public = self.published(name);
        if let Some(folder) = &self.folder {
            let hidden = folder.join(HIDDEN);
            let created = spawn_blocking(move || make_private(&hidden)).await;
            created.map_err(io::Error::other).flatten().map_err(|error| ImageError::Storage(error.into()))?;
        }
        let options = PutOptions::default();
        self.relocate(&public, &self.hidden(name), options).await
    }

    /// Publishes a hidden photo again, if there is one.
    pub(super) async fn show_photo(&self, name: &str) -> std::result::Result<(), ImageError> {
        let options = PutOptions { attributes: self.attributes.clone(), ..PutOptions::default() };
        self.relocate(&self.hidden(name), &self.published(name), options).await
    }

    /// Copies an object, then deletes it. Safe to repeat after a crash in between.
    async fn relocate(
        &self,
        from: &Path,
        to: &Path,
        options: PutOptions,
    ) -> std::result::Result<(), ImageError> {
        let object = match self.objects.get(from).await {
            Err(Error::NotFound { .. }) => return Ok(()),
            object => object?.bytes().await?,
        };
        self.objects.put_opts(to, object.into(), options).await?;
        Ok(self.delete(from).await?)
    }

    pub(super) async fn delete_photo(&self, name: &str) -> Result<()> {
        self.delete(&self.published(name)).await?;
        self.delete(&self.hidden(name)).await
    }

    pub(super) async fn delete_uploads(
        &self,
        matches: impl Fn(&str) -> bool,
    ) -> std::result::Result<(), ImageError> {
        let uploads: Vec<(String, ObjectMeta)> = self.list_uploads().try_collect().await?;
        for (name, _) in uploads.iter().filter(|(name, _)| matches(name)) {
            self.delete_upload(name).await?;
        }
        Ok(())
    }

    async fn delete(&self, path: &Path) -> Result<()> {
        match self.objects.delete(path).await {
            Err(Error::NotFound { .. }) => Ok(()),
            outcome => outcome,
        }
    }

    pub(super) async fn read_published(&self, name: &str) -> std::result::Result<Vec<u8>, ImageError> {
        let object = self.objects.get(&self.published(name)).await.map_err(read_error)?;
        Ok(object.bytes().await?.into())
    }
}

/// Creates a folder and its parents if missing, and makes it readable only by its owner.
pub(crate) fn make_private(folder: &std::path::Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if fs::metadata(folder)?.permissions().mode() & 0o077 != 0 {
            // Fails for a folder that belongs to another user. Such a folder keeps its permissions.
            let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
        }
    }
    Ok(())
}

fn one_at_a_time() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(1))
}

fn read_error(error: Error) -> ImageError {
    match error {
        Error::NotFound { .. } => ImageError::NotFound,
        error => error.into(),
    }
}

/// Writes and deletes a small file in a folder, or in its nearest existing parent. Only writing reveals a full disk or quota.
fn probe_write(folder: &std::path::Path) -> io::Result<()> {
    let is_missing = |error: io::Error| error.kind() == io::ErrorKind::NotFound;
    let mut existing = folder.ancestors().filter(|folder| !folder.symlink_metadata().is_err_and(is_missing));
    let existing = existing.next().ok_or(io::ErrorKind::NotFound)?;
    let name = random::hex::<8>().map_err(io::Error::other)?;
    let path = existing.join(format!(".siaga-check-{name}"));
    let written = File::create_new(&path)?.write_all(&[0; PROBE_SIZE]);
    fs::remove_file(&path)?;
    written
}
