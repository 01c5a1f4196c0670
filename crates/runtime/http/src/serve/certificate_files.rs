//! A server's certificate in files that may change while the server runs.

use super::tls::{CertificateError, ClientAuthorities, certified_key, config_of};
use crate::files;
use crate::rustls_parts::provider;
use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

/// A server's certificate and key in two PEM files, which may be replaced while the server runs: by
/// a tool that renews certificates, for example. Cheap to clone; clones share the certificate.
///
/// - [`CertificateFiles::reload`] reads both files, [`CertificateFiles::watch`] does so at an
///   interval.
/// - New connections get the new certificate. Open ones keep theirs.
/// - Files that cannot be used leave the old certificate in force: one that is missing, half
///   written, or replaced before the other, so that they do not belong together.
///   [`CertificateFiles::is_current`] then returns false, and the log has the reason.
///
/// ```no_run
/// use bankrail_http::serve::CertificateFiles;
/// use std::time::Duration;
/// # fn example() -> Result<(), bankrail_http::serve::CertificateError> {
/// let files = CertificateFiles::open("/etc/bank/tls.pem", "/etc/bank/tls.key")?;
/// let config = files.server_config()?;
/// tokio::spawn(async move { files.watch(Duration::from_secs(60)).await });
/// # let _ = config;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct CertificateFiles(Arc<Files>);

struct Files {
    chain: PathBuf,
    key: PathBuf,
    provider: Arc<CryptoProvider>,
    shown: RwLock<Arc<CertifiedKey>>,
    /// The chain that was read last, as PEM. The lock is held while the files are read, so that an
    /// older reading never replaces a newer one.
    chain_text: Mutex<Vec<u8>>,
    is_current: AtomicBool,
}

impl CertificateFiles {
    /// The maximum number of bytes of each file: 1 MiB.
    pub const MAX_BYTES: usize = 1 << 20;

    /// Reads the chain of certificates, the server's own first, and its private key. If every user
    /// of the machine may read the key's file, a warning is logged.
    ///
    /// # Errors
    /// [`CertificateError`] if a file cannot be read or used.
    pub fn open(
        chain: impl Into<PathBuf>,
        key: impl Into<PathBuf>,
    ) -> Result<Self, CertificateError> {
        let (chain, key, provider) = (chain.into(), key.into(), provider());
        let (text, certified) = read(&chain, &key, &provider)?;
        if files::is_readable_by_all(&key) {
            tracing::warn!(file = %key.display(), "every user of the machine may read the private key");
        }
        let (shown, chain_text) = (RwLock::new(Arc::new(certified)), Mutex::new(text));
        Ok(Self(Arc::new(Files {
            chain,
            key,
            provider,
            shown,
            chain_text,
            is_current: AtomicBool::new(true),
        })))
    }

    /// Makes the configuration of a [`Server`](super::Server) that shows the certificate in force:
    /// TLS
    /// 1.2 and 1.3, with the process's crypto provider if one is installed and AWS-LC otherwise.
    ///
    /// # Errors
    /// [`CertificateError::Unusable`] if the crypto provider supports neither version.
    pub fn server_config(&self) -> Result<ServerConfig, CertificateError> {
        config_of(Arc::clone(&self.0.provider), Arc::new(self.clone()), None)
    }

    /// Makes the same configuration, which also asks clients for a certificate.
    ///
    /// # Errors
    /// [`CertificateError::Unusable`] if the crypto provider supports neither version.
    pub fn server_config_for(
        &self,
        clients: &ClientAuthorities,
    ) -> Result<ServerConfig, CertificateError> {
        let provider = Arc::clone(&self.0.provider);
        config_of(provider, Arc::new(self.clone()), Some(clients))
    }

    /// Reads the files again, and returns true if the chain of certificates is different from
    /// before. Blocks while it reads.
    ///
    /// # Errors
    /// [`CertificateError`] if a file cannot be read or used. The old certificate stays in force.
    pub fn reload(&self) -> Result<bool, CertificateError> {
        // The lock is held while the files are read, so that an older reading does not replace a
        // newer one.
        let mut before = self
            .0
            .chain_text
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let read = read(&self.0.chain, &self.0.key, &self.0.provider);
        // Relaxed, because no reader of the mark relies on it for other memory.
        self.0.is_current.store(read.is_ok(), Ordering::Relaxed);
        let (text, certified) = read?;
        *self.0.shown.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(certified);
        let is_new = *before != text;
        *before = text;
        Ok(is_new)
    }

    /// Returns true if the last [`CertificateFiles::reload`] could use the files, so that the
    /// certificate in force is theirs. Use it for a check or an alarm: without usable files the old
    /// certificate expires.
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.0.is_current.load(Ordering::Relaxed)
    }

    /// Reads the files again after each `interval`, at least a second, without end. A new
    /// certificate and files that cannot be used are logged.
    pub async fn watch(&self, interval: Duration) {
        let files = self.clone();
        let reload = move || (files.is_current(), files.reload());
        files::read_every(interval.max(Duration::from_secs(1)), reload, |outcome| {
            match outcome {
                (_, Ok(true)) => tracing::info!("the certificate of the server was replaced"),
                // Logged once each time that the files become unusable.
                (true, Err(error)) => {
                    tracing::error!(%error, "the certificate of the server was not replaced; the old one stays");
                }
                _ => {}
            }
        })
        .await;
    }
}

impl ResolvesServerCert for CertificateFiles {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(
            // The certificate is replaced in one step, so a panic elsewhere leaves it whole.
            &self.0.shown.read().unwrap_or_else(PoisonError::into_inner),
        ))
    }
}

impl fmt::Debug for CertificateFiles {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("CertificateFiles")
            .field("chain", &self.0.chain)
            .field("key", &self.0.key)
            .field("is_current", &self.is_current())
            .finish_non_exhaustive()
    }
}

/// Reads both files. Returns the text of the chain, and chain and key as a server uses them; the
/// text of the key is dropped.
fn read(
    chain: &Path,
    key: &Path,
    provider: &CryptoProvider,
) -> Result<(Vec<u8>, CertifiedKey), CertificateError> {
    let read = |path: &Path| {
        files::read(path, CertificateFiles::MAX_BYTES).map_err(|source| CertificateError::File {
            path: path.to_owned(),
            source,
        })
    };
    let (chain, key) = (read(chain)?, read(key)?);
    let certified = certified_key(&chain, &key, provider)?;
    Ok((chain.to_vec(), certified))
}
