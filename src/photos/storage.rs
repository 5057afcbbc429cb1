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

/// The folder of uploads, in the folder where images are published.
const UPLOADS: &str = "uploads";
/// The private folder for photos of hidden reports, beside the published images.
pub(crate) const HIDDEN: &str = "hidden";
/// How much of an upload is collected before it is written, in bytes.
const PART: usize = 1 << 20;
/// How much is written to check whether a folder can be written to, in bytes: a block of most file systems.
const CHECKED: usize = 4 << 10;

/// Objects under one address: unprocessed uploads in the folder `uploads`, published images, and photos of hidden reports in
/// the folder `hidden`.
#[derive(Clone, Debug)]
pub(super) struct Storage {
    objects: Arc<dyn ObjectStore>,
    root: Path,
    /// For a storage that is a folder.
    folder: Option<PathBuf>,
    /// Held while the folder is checked.
    checking: Arc<Semaphore>,
    /// For a storage that receives uploads itself.
    pub(super) signer: Option<Arc<dyn Signer>>,
    /// The attributes of a published image, for a storage that serves images itself.
    attributes: Attributes,
}

impl Storage {
    /// Opens the storage at `url`. Does not connect to it yet.
    ///
    /// # Errors
    ///
    /// The key with a wrong value: an address of an unknown kind, or an unknown option.
    pub(super) fn open(url: &Url, settings: &Images) -> std::result::Result<Self, ConfigError> {
        let (scheme, root) = ObjectStoreScheme::parse(url).map_err(|_| unknown_kind())?;
        let option = settings.options.keys().next();
        match (&scheme, option) {
            (ObjectStoreScheme::Local | ObjectStoreScheme::Memory, Some(option)) => {
                Err(unknown_option(option))
            }
            // With fsync, what the service has confirmed is on the disk.
            (ObjectStoreScheme::Local, None) => Ok(Self {
                folder: url.to_file_path().ok(),
                ..Self::here(LocalFileSystem::new().with_fsync(true), root)
            }),
            (ObjectStoreScheme::Memory, None) => Ok(Self::here(InMemory::new(), root)),
            _ => {
                let Cloud { objects, signer } = Cloud::open(&scheme, url, settings)?;
                let noted = [
                    (Attribute::ContentType, "image/jpeg"),
                    (Attribute::CacheControl, CacheControl::FIVE_MINUTES),
                ];
                let attributes = noted.into_iter().collect();
                Ok(Self { objects, root, folder: None, checking: one_at_a_time(), signer, attributes })
            }
        }
    }

    fn here(objects: impl ObjectStore, root: Path) -> Self {
        Self {
            objects: Arc::new(objects),
            root,
            folder: None,
            checking: one_at_a_time(),
            signer: None,
            attributes: Attributes::new(),
        }
    }

    /// Returns where an upload is stored.
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

    /// Makes the folder for uploads, which only its owner can read: they still have the place and the camera of the phone.
    pub(super) async fn prepare_uploads(&self) -> io::Result<()> {
        let Some(folder) = self.folder.clone() else { return Ok(()) };
        let made = spawn_blocking(move || make_private(&folder.join(UPLOADS))).await;
        made.map_err(io::Error::other)?
    }

    /// Returns a writer for an upload. The upload appears only once the writer is shut down.
    pub(super) fn upload_writer(&self, name: &str) -> BufWriter {
        BufWriter::with_capacity(Arc::clone(&self.objects), self.upload(name), PART).with_max_concurrency(1)
    }

    /// Reads an upload; its size is known before its content is read.
    ///
    /// # Errors
    ///
    /// [`ImageError::NotFound`], [`ImageError::Storage`].
    pub(super) async fn read_upload(&self, name: &str) -> std::result::Result<GetResult, ImageError> {
        self.objects.get(&self.upload(name)).await.map_err(unread)
    }

    /// Deletes an upload, if it exists.
    pub(super) async fn delete_upload(&self, name: &str) -> Result<()> {
        self.delete(&self.upload(name)).await
    }

    /// Removes an upload that was processed, unless another has replaced it since.
    ///
    /// In a cloud storage an empty object takes its place, because such storages can replace an unchanged object in one step,
    /// but not delete it. In other storages no upload replaces another.
    pub(super) async fn remove_unchanged(&self, name: &str, looked_at: ObjectMeta) -> Result<()> {
        if self.signer.is_none() {
            return self.delete_upload(name).await;
        }
        let ObjectMeta { e_tag, version, .. } = looked_at;
        let unchanged = PutMode::Update(UpdateVersion { e_tag, version });
        match self.objects.put_opts(&self.upload(name), PutPayload::new(), unchanged.into()).await {
            Ok(_) | Err(Error::Precondition { .. } | Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Returns whether a cloud storage responds, or a folder can be written to.
    pub(super) async fn is_there(&self) -> bool {
        let Some(folder) = self.folder.clone() else {
            return matches!(self.uploads_there().next().await, None | Some(Ok(_)));
        };
        // If the disk hangs, at most one thread waits for it, however often the check runs.
        let Ok(permit) = Arc::clone(&self.checking).try_acquire_owned() else { return false };
        let written = spawn_blocking(move || {
            let _permit = permit;
            try_to_write(&folder.join(UPLOADS))
        });
        matches!(written.await, Ok(Ok(())))
    }

    /// Lists all uploads, each with its name.
    pub(super) fn uploads_there(&self) -> BoxStream<'_, Result<(String, ObjectMeta)>> {
        let all = self.objects.list(Some(&self.uploads()));
        all.try_filter_map(async |object| {
            Ok(object.location.filename().map(str::to_owned).map(|name| (name, object)))
        })
        .boxed()
    }

    /// Publishes an image; replaces an existing one.
    pub(super) async fn publish(&self, name: &str, image: Vec<u8>) -> Result<()> {
        let options = PutOptions { attributes: self.attributes.clone(), ..PutOptions::default() };
        self.objects.put_opts(&self.published(name), image.into(), options).await.map(drop)
    }

    /// Moves a published image to the hidden ones, if there is one. Only the owner of a folder can read these.
    pub(super) async fn hide_photo(&self, name: &str) -> std::result::Result<(), ImageError> {
        let public = self.published(name);
        if let Some(folder) = &self.folder {
            let hidden = folder.join(HIDDEN);
            let made = spawn_blocking(move || make_private(&hidden)).await;
            made.map_err(io::Error::other).flatten().map_err(|error| ImageError::Storage(error.into()))?;
        }
        let options = PutOptions::default();
        self.relocate(&public, &self.hidden(name), options).await
    }

    /// Moves a hidden photo back to where readers get it, if there is one.
    pub(super) async fn show_photo(&self, name: &str) -> std::result::Result<(), ImageError> {
        let options = PutOptions { attributes: self.attributes.clone(), ..PutOptions::default() };
        self.relocate(&self.hidden(name), &self.published(name), options).await
    }

    /// Copies an object and then deletes it. If this ends in between, it can be repeated.
    async fn relocate(
        &self,
        from: &Path,
        to: &Path,
        options: PutOptions,
    ) -> std::result::Result<(), ImageError> {
        let found = match self.objects.get(from).await {
            Err(Error::NotFound { .. }) => return Ok(()),
            found => found?.bytes().await?,
        };
        self.objects.put_opts(to, found.into(), options).await?;
        Ok(self.delete(from).await?)
    }

    /// Deletes a photo, whether it is hidden or not.
    pub(super) async fn delete_photo(&self, name: &str) -> Result<()> {
        self.delete(&self.published(name)).await?;
        self.delete(&self.hidden(name)).await
    }

    /// Deletes the uploads with these names.
    pub(super) async fn delete_uploads(
        &self,
        is_meant: impl Fn(&str) -> bool,
    ) -> std::result::Result<(), ImageError> {
        let there: Vec<(String, ObjectMeta)> = self.uploads_there().try_collect().await?;
        for (name, _) in there.iter().filter(|(name, _)| is_meant(name)) {
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

    /// Returns a published image.
    ///
    /// # Errors
    ///
    /// [`ImageError::NotFound`], [`ImageError::Storage`].
    pub(super) async fn read_published(&self, name: &str) -> std::result::Result<Vec<u8>, ImageError> {
        let found = self.objects.get(&self.published(name)).await.map_err(unread)?;
        Ok(found.bytes().await?.into())
    }
}

/// Makes a folder with those above it, or takes an existing one, and lets only its owner read it.
pub(crate) fn make_private(folder: &std::path::Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if fs::metadata(folder)?.permissions().mode() & 0o077 != 0 {
            // A folder of another user stays as it is.
            let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
        }
    }
    Ok(())
}

fn one_at_a_time() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(1))
}

fn unread(error: Error) -> ImageError {
    match error {
        Error::NotFound { .. } => ImageError::NotFound,
        error => error.into(),
    }
}

/// Writes a small file into a folder, or into the nearest existing one above it, and deletes it again.
///
/// Only writing shows whether a disk is full or a quota is used up.
fn try_to_write(folder: &std::path::Path) -> io::Result<()> {
    let is_missing = |error: io::Error| error.kind() == io::ErrorKind::NotFound;
    let mut existing = folder.ancestors().filter(|folder| !folder.symlink_metadata().is_err_and(is_missing));
    let existing = existing.next().ok_or(io::ErrorKind::NotFound)?;
    let name = random::hex::<8>().map_err(io::Error::other)?;
    let path = existing.join(format!(".siaga-check-{name}"));
    let written = File::create_new(&path)?.write_all(&[0; CHECKED]);
    fs::remove_file(&path)?;
    written
}
