//! A bucket that speaks S3, as calls that wait for their answer. It knows nothing of archives: names are
//! keys below a prefix, and nothing is retried here that the client does not retry itself.

use crate::error::{FleetArchiveError, Result};
use crate::store::Placed;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path as Key;
use object_store::{
    BackoffConfig, Error, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutOptions, RetryConfig,
};
use std::future::Future;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;

/// Bytes to send or read at once. Parts of an upload must have at least 5 MiB.
pub(super) const PIECE: usize = 8 << 20;

/// Longest outage of a server to tolerate.
const PATIENCE: Duration = Duration::from_secs(60);

/// A bucket and a prefix in it.
pub(super) struct Remote {
    client: AmazonS3,
    prefix: Key,
    url: String,
    runtime: Runtime,
}

impl Remote {
    /// Reads `s3://BUCKET/PREFIX`; keys, region and server are those of the environment (`AWS_…`).
    pub(super) fn new(url: &str) -> Result<Arc<Self>> {
        let wrong = |why: String| FleetArchiveError::Bucket {
            url: url.to_owned(),
            why,
        };
        let below = url.strip_prefix("s3://").unwrap_or_default();
        let (bucket, prefix) = below.split_once('/').unwrap_or((below, ""));
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '/');
        if bucket.is_empty() || !below.chars().all(is_plain) {
            return Err(wrong("a bucket is written s3://BUCKET/PREFIX".to_owned()));
        }
        let set = |name: &str| std::env::var(name).unwrap_or_default();
        let endpoint = set("AWS_ENDPOINT_URL");
        if endpoint.starts_with("http://") && set("AWS_ALLOW_HTTP") != "true" {
            return Err(wrong(format!(
                "AWS_ENDPOINT_URL is {endpoint}, without TLS; where nobody else is on that way, set \
                 AWS_ALLOW_HTTP=true"
            )));
        }
        let client = AmazonS3Builder::from_env()
            .with_bucket_name(bucket)
            .with_retry(RetryConfig {
                backoff: BackoffConfig::default(),
                max_retries: 8,
                retry_timeout: PATIENCE,
            })
            .build()
            .map_err(|error| wrong(error.to_string()))?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(|error| wrong(error.to_string()))?;
        Ok(Arc::new(Self {
            client,
            prefix: Key::from(prefix),
            url: url.trim_end_matches('/').to_owned(),
            runtime,
        }))
    }

    /// Its address for messages.
    pub(super) fn url_of(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("{}/{name}", self.url))
    }

    /// Identifies this bucket, including its server.
    pub(super) fn identity(&self) -> String {
        format!("{:?} {}", std::env::var_os("AWS_ENDPOINT_URL"), self.url)
    }

    pub(super) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    fn key(&self, name: &str) -> Key {
        Key::from(format!("{}/{name}", self.prefix))
    }

    fn wait<T>(
        &self,
        what: &'static str,
        name: &str,
        call: impl Future<Output = object_store::Result<T>>,
    ) -> Result<T> {
        let failed = FleetArchiveError::io(what, &self.url_of(name));
        self.runtime
            .block_on(call)
            .map_err(|error| failed(io::Error::other(one_line(&error))))
    }

    /// `None` instead of an error if there is no such key.
    fn found<T>(
        &self,
        what: &'static str,
        name: &str,
        call: impl Future<Output = object_store::Result<T>>,
    ) -> Result<Option<T>> {
        let call = async {
            match call.await {
                Ok(found) => Ok(Some(found)),
                Err(Error::NotFound { .. }) => Ok(None),
                Err(error) => Err(error),
            }
        };
        self.wait(what, name, call)
    }

    /// Writes a new object in one step; fails if it exists.
    pub(super) fn create(&self, name: &str, bytes: Vec<u8>) -> Result<Placed> {
        let key = self.key(name);
        let put = async {
            let put = self
                .client
                .put_opts(&key, bytes.into(), PutOptions::from(PutMode::Create));
            match put.await {
                Ok(_) => Ok(Placed::New),
                Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => {
                    Ok(Placed::WasThere)
                }
                Err(error) => Err(error),
            }
        };
        self.wait("write", name, put)
    }

    /// Writes it, whatever is there.
    pub(super) async fn overwrite(&self, name: &str) -> object_store::Result<()> {
        let key = self.key(name);
        self.client.put(&key, Vec::new().into()).await.map(drop)
    }

    /// Writes an object that is longer than a piece; it becomes visible with its last part.
    pub(super) fn upload(&self, name: &str, first: Vec<u8>, content: &mut dyn Read) -> Result<()> {
        let key = self.key(name);
        let mut upload = self.wait("write", name, self.client.put_multipart(&key))?;
        let mut piece = first;
        let mut send = || {
            while !piece.is_empty() {
                let part = upload.put_part(std::mem::take(&mut piece).into());
                self.wait("write", name, part)?;
                piece = self.piece(name, content)?;
            }
            self.wait("write", name, upload.complete()).map(drop)
        };
        let sent = send();
        if sent.is_err() {
            // The server keeps the parts of an abandoned upload until it is aborted, or its own
            // rules remove them.
            let _ = self.wait("give up", name, upload.abort());
        }
        sent
    }

    /// The next piece to send; empty at the end.
    pub(super) fn piece(&self, name: &str, content: &mut dyn Read) -> Result<Vec<u8>> {
        let mut piece = Vec::new();
        let read = content.take(PIECE as u64).read_to_end(&mut piece);
        read.map_err(FleetArchiveError::io("write", &self.url_of(name)))?;
        Ok(piece)
    }

    /// Its length; `None` if it doesn't exist.
    pub(super) fn length(&self, name: &str) -> Result<Option<u64>> {
        let key = self.key(name);
        let found = self.found("look at", name, self.client.head(&key))?;
        Ok(found.map(|meta| meta.size))
    }

    /// Reads it piece by piece; `None` if it doesn't exist.
    pub(super) fn reader(&self, name: &str) -> Result<Option<Reader<'_>>> {
        let length = self.length(name)?;
        Ok(length.map(|length| Reader {
            remote: self,
            name: name.to_owned(),
            length,
            asked: 0,
            piece: io::Cursor::default(),
        }))
    }

    /// The objects directly in a folder.
    pub(super) fn listed(&self, folder: &str) -> Result<Vec<ObjectMeta>> {
        let key = self.key(folder);
        let list = self.client.list_with_delimiter(Some(&key));
        Ok(self.wait("list", folder, list)?.objects)
    }

    pub(super) fn remove(&self, name: &str) -> Result<()> {
        let key = self.key(name);
        self.found("remove", name, self.client.delete(&key))
            .map(drop)
    }
}

/// A client's error in one line, without the server's documents.
fn one_line(error: &Error) -> String {
    let said = error.to_string();
    let line = said.lines().next().unwrap_or_default();
    wakepath_timeline::shortened(line, 300)
}

/// Reads a file in a bucket.
pub(super) struct Reader<'a> {
    remote: &'a Remote,
    name: String,
    length: u64,
    asked: u64,
    piece: io::Cursor<Vec<u8>>,
}

impl Read for Reader<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.piece.read(into)?;
        if read > 0 || self.asked == self.length {
            return Ok(read);
        }
        let to = self.length.min(self.asked + PIECE as u64);
        let key = self.remote.key(&self.name);
        let bytes = self
            .remote
            .wait(
                "read",
                &self.name,
                self.remote.client.get_range(&key, self.asked..to),
            )
            .map_err(io::Error::other)?;
        if bytes.len() as u64 != to - self.asked {
            return Err(io::Error::other("it ended before its end"));
        }
        self.asked = to;
        self.piece = io::Cursor::new(bytes.to_vec());
        self.piece.read(into)
    }
}
