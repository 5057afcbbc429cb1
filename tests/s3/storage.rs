//! An S3 storage on a free port.

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;

use figment::Figment;
use figment::providers::Serialized;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path;
use object_store::{GetResult, ObjectStoreExt};
use rocket::tokio;
use rocket::tokio::net::TcpListener;
use rocket::tokio::sync::Mutex;
use rocket::tokio::task::{JoinHandle, JoinSet};
use s3s::access::S3Access;
use s3s::auth::SimpleAuth;
use s3s::dto::{DeleteObjectsInput, ListObjectsV2Input};
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s::{Body, S3Request, S3Result, s3_error};
use s3s_fs::FileSystem;
use tempfile::TempDir;

const BUCKET: &str = "bucket";
const ACCESS_KEY: &str = "an-access-key";
pub(crate) const SECRET_KEY: &str = "a secret for the storage";
/// The prefix of objects that cannot be deleted.
pub(crate) const PROTECTED: &str = "protected-";

/// A storage; stopped on drop.
pub(crate) struct Storage {
    folder: TempDir,
    service: S3Service,
    address: SocketAddr,
    refuses_lists: Arc<AtomicBool>,
    serving: Option<JoinHandle<()>>,
}

impl Storage {
    /// A storage with an empty bucket, on a free port.
    pub(crate) async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(BUCKET)).unwrap();
        let mut builder = S3ServiceBuilder::new(FileSystem::new(folder.path()).unwrap());
        builder.set_auth(SimpleAuth::from_single(ACCESS_KEY, SECRET_KEY));
        let refuses_lists = Arc::new(AtomicBool::new(false));
        builder.set_access(Protecting { refuses_lists: Arc::clone(&refuses_lists) });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut storage = Self { folder, service: builder.build(), address, refuses_lists, serving: None };
        storage.serve(listener);
        storage
    }

    fn serve(&mut self, listener: TcpListener) {
        let service = self.service.clone();
        // The library's compare-and-replace is not atomic, unlike a real storage.
        let writing = Arc::new(Mutex::new(()));
        let service = service_fn(move |request: Request<Incoming>| {
            let (service, writing) = (service.clone(), Arc::clone(&writing));
            async move {
                let is_writing = request.method() == Method::PUT;
                let _one_at_a_time = if is_writing { Some(writing.lock().await) } else { None };
                service.call(request.map(Body::from)).await
            }
        });
        self.serving = Some(tokio::spawn(async move {
            // They end with the listener.
            let mut connections = JoinSet::new();
            loop {
                let (connection, _) = listener.accept().await.unwrap();
                connections
                    .spawn(http1::Builder::new().serve_connection(TokioIo::new(connection), service.clone()));
            }
        }));
    }

    /// Refuses to list objects from now on.
    pub(crate) fn refuse_lists(&self) {
        self.refuses_lists.store(true, Ordering::SeqCst);
    }

    /// Closes the port and all connections.
    pub(crate) async fn stop(&mut self) {
        let serving = self.serving.take().unwrap();
        serving.abort();
        assert!(serving.await.unwrap_err().is_cancelled());
    }

    /// Restarts with the same objects on the same port.
    pub(crate) async fn come_back(&mut self) {
        let listener = TcpListener::bind(self.address).await.unwrap();
        self.serve(listener);
    }

    /// Its settings as environment variables.
    pub(crate) fn variables(&self) -> BTreeMap<&'static str, String> {
        variables(self.address)
    }

    pub(crate) fn figment(&self) -> Figment {
        figment(self.address)
    }

    pub(crate) async fn object(&self, path: &str) -> object_store::Result<GetResult> {
        self.owner().get(&Path::from(path)).await
    }

    pub(crate) async fn put(&self, path: &str, content: Vec<u8>) {
        self.owner().put(&Path::from(path), content.into()).await.unwrap();
    }

    fn folder_of_uploads(&self) -> PathBuf {
        [self.folder.path().to_str().unwrap(), BUCKET, "prefix", "uploads"].iter().collect()
    }

    /// Sets the age of an object in `uploads`.
    pub(crate) fn date_back(&self, name: &str, age: Duration) {
        let file = fs::File::options().write(true).open(self.folder_of_uploads().join(name)).unwrap();
        file.set_modified(SystemTime::now() - age).unwrap();
    }

    /// The client of its owner.
    pub(crate) fn owner(&self) -> AmazonS3 {
        let allowed = self.variables().into_iter().fold(AmazonS3Builder::new(), |builder, (name, value)| {
            builder.with_config(name.to_ascii_lowercase().parse().unwrap(), value)
        });
        allowed.with_bucket_name(BUCKET).build().unwrap()
    }

    /// The size of an object in `uploads`, in bytes, without a request.
    pub(crate) fn size_of(&self, name: &str) -> u64 {
        fs::metadata(self.folder_of_uploads().join(name)).unwrap().len()
    }

    /// The names of all objects in `uploads`, sorted, without a request.
    pub(crate) fn uploads(&self) -> Vec<String> {
        let Ok(files) = fs::read_dir(self.folder_of_uploads()) else { return Vec::new() };
        let mut names: Vec<_> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        names.sort_unstable();
        names
    }
}

/// Rejects deletions of protected objects and, on demand, lists.
struct Protecting {
    refuses_lists: Arc<AtomicBool>,
}

#[async_trait]
impl S3Access for Protecting {
    async fn list_objects_v2(&self, _: &mut S3Request<ListObjectsV2Input>) -> S3Result<()> {
        if self.refuses_lists.load(Ordering::SeqCst) { Err(s3_error!(AccessDenied)) } else { Ok(()) }
    }

    async fn delete_objects(&self, request: &mut S3Request<DeleteObjectsInput>) -> S3Result<()> {
        if request.input.delete.objects.iter().any(|object| object.key.contains(PROTECTED)) {
            return Err(s3_error!(AccessDenied));
        }
        Ok(())
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        if let Some(serving) = &self.serving {
            serving.abort();
        }
    }
}

fn variables(address: SocketAddr) -> BTreeMap<&'static str, String> {
    BTreeMap::from([
        ("AWS_ENDPOINT", format!("http://{address}")),
        ("AWS_ACCESS_KEY_ID", ACCESS_KEY.to_owned()),
        ("AWS_SECRET_ACCESS_KEY", SECRET_KEY.to_owned()),
        ("AWS_REGION", "us-east-1".to_owned()),
        ("AWS_ALLOW_HTTP", "true".to_owned()),
    ])
}

pub(crate) fn figment(address: SocketAddr) -> Figment {
    let options = variables(address).into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value));
    Figment::from(Serialized::default("siaga.images.url", "s3://bucket/prefix"))
        .merge(Serialized::default("siaga.images.options", options.collect::<BTreeMap<_, _>>()))
}
