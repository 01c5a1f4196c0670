//! The certificates that a client trusts, and the one that it shows.

use crate::files;
use crate::rustls_parts::{certificates, provider, roots};
use bankrail_values::causes;
use rustls::client::{ResolvesClientCert, Resumption};
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject;
use rustls::sign::CertifiedKey;
use rustls::{CertificateError, ClientConfig, OtherError, RootCertStore, SignatureScheme};
use rustls_platform_verifier::{BuilderVerifierExt, Verifier};
use std::error::Error;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use zeroize::Zeroizing;

/// The maximum number of bytes of the file of a client certificate.
const MAX_PEM_BYTES: usize = 1 << 20;

/// The certificate authorities that a client trusts.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum TlsRoots {
    /// The authorities of the operating system.
    #[default]
    Platform,
    /// Only the authorities in this PEM text, such as a private one.
    OnlyPem(Vec<u8>),
    /// The authorities of the operating system and those in this PEM text.
    PlatformAndPem(Vec<u8>),
}

/// The certificate that a client shows to a server which requires one, with its private key. Cheap
/// to clone; clones share it. Two are equal if they were read from the same PEM text.
#[derive(Clone)]
pub struct ClientCertificate {
    pem: Arc<Zeroizing<String>>,
    shown: Arc<RwLock<Arc<CertifiedKey>>>,
}

impl ClientCertificate {
    /// Reads a PEM text with the chain of certificates, the client's own first, and its private
    /// key: one file, or two joined. Other sections are ignored.
    ///
    /// # Errors
    /// [`TlsError::ClientCertificate`] if one of them is absent or unreadable, or if certificate
    /// and key do not belong together.
    pub fn from_pem(pem: &str) -> Result<Self, TlsError> {
        let certified = certified(pem)?;
        Ok(Self {
            pem: Arc::new(pem.to_owned().into()),
            shown: Arc::new(RwLock::new(certified)),
        })
    }

    /// Replaces the certificate by that of this PEM text, in all clones, for new connections. Open
    /// connections keep theirs. Returns true if the certificate has changed.
    ///
    /// # Errors
    /// As [`ClientCertificate::from_pem`]. The old certificate stays.
    pub fn replace(&self, pem: &str) -> Result<bool, TlsError> {
        let certified = certified(pem)?;
        let mut shown = self.shown.write().unwrap_or_else(PoisonError::into_inner);
        let is_new = shown.cert != certified.cert;
        *shown = certified;
        Ok(is_new)
    }

    /// Reads a PEM file after each `interval`, at least a second, without end, and passes it to
    /// [`ClientCertificate::replace`]. A program that renews certificates need not restart this
    /// one. A new certificate and a file that cannot be used are logged.
    pub async fn watch(self, file: PathBuf, interval: Duration) {
        let name = file.display().to_string();
        let read = move || -> Result<bool, Box<dyn Error + Send + Sync>> {
            Ok(self.replace(&files::read_text(&file, MAX_PEM_BYTES)?)?)
        };
        let mut was_usable = true;
        files::read_every(interval.max(Duration::from_secs(1)), read, |read| {
            match &read {
                Ok(true) => tracing::info!(file = name, "the client certificate was replaced"),
                // Logged once each time that the file becomes unusable.
                Err(error) if was_usable => {
                    let error = causes(&**error);
                    tracing::error!(
                        file = name,
                        error,
                        "the client certificate was not replaced; the old one stays"
                    );
                }
                _ => {}
            }
            was_usable = read.is_ok();
        })
        .await;
    }

    fn shown(&self) -> Arc<CertifiedKey> {
        // The certificate is replaced in one step, so a panic elsewhere leaves it whole.
        Arc::clone(&self.shown.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the PEM text from which the certificate was first read, **with the private key**.
    #[must_use]
    #[doc(hidden)]
    pub fn expose_pem(&self) -> &str {
        &self.pem
    }
}

/// Reads the chain of certificates and the private key of a PEM text.
fn certified(pem: &str) -> Result<Arc<CertifiedKey>, TlsError> {
    let read = || {
        let chain = certificates(pem.as_bytes())?;
        let key = PrivateKeyDer::from_pem_slice(pem.as_bytes())?;
        Ok(CertifiedKey::from_der(chain, key, &provider())?)
    };
    read().map(Arc::new).map_err(TlsError::ClientCertificate)
}

impl ResolvesClientCert for ClientCertificate {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        Some(self.shown())
    }

    fn has_certs(&self) -> bool {
        true
    }
}

impl PartialEq for ClientCertificate {
    fn eq(&self, other: &Self) -> bool {
        self.pem == other.pem
    }
}

impl Eq for ClientCertificate {}

impl Hash for ClientCertificate {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.pem.hash(state);
    }
}

impl fmt::Debug for ClientCertificate {
    /// Prints no part of the key.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let chain = self.shown().cert.len();
        write!(out, "ClientCertificate({chain} certificates)")
    }
}

/// Makes a configuration for TLS 1.2 and 1.3, HTTP/2 and HTTP/1.1, with the process's crypto
/// provider if one is installed and AWS-LC otherwise. Without `trusted` no certificate is trusted,
/// without `shown` none is shown.
///
/// # Errors
/// [`TlsError`] if the certificates or the crypto provider are unusable.
#[doc(hidden)]
pub fn client_config(
    trusted: Option<&TlsRoots>,
    shown: Option<&ClientCertificate>,
) -> Result<ClientConfig, TlsError> {
    let provider = provider();
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions();
    let builder = builder.map_err(TlsError::provider)?;
    let builder = match trusted {
        Some(TlsRoots::Platform) => builder
            .with_platform_verifier()
            .map_err(TlsError::provider)?,
        Some(TlsRoots::OnlyPem(pem)) => builder.with_root_certificates(read_roots(pem)?),
        Some(TlsRoots::PlatformAndPem(pem)) => {
            // Read here too, because some platforms do not refuse an unreadable certificate.
            read_roots(pem)?;
            let own = certificates(pem).map_err(TlsError::Certificate)?;
            let verifier = Verifier::new_with_extra_roots(own, provider);
            builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(verifier.map_err(TlsError::provider)?))
        }
        None => builder.with_root_certificates(RootCertStore::empty()),
    };
    let mut configuration = match shown {
        None => builder.with_no_client_auth(),
        Some(shown) => builder.with_client_cert_resolver(Arc::new(shown.clone())),
    };
    if shown.is_some() {
        // A resumed session would keep the certificate that began it, also after a replacement.
        configuration.resumption = Resumption::disabled();
    }
    configuration.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(configuration)
}

fn read_roots(pem: &[u8]) -> Result<RootCertStore, TlsError> {
    let store = roots(pem).map_err(TlsError::Certificate)?;
    if store.is_empty() {
        Err(TlsError::NoCertificate)
    } else {
        Ok(store)
    }
}

/// The reason why TLS could not be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// The PEM text has no certificate.
    #[error("expected at least one certificate as PEM, found none")]
    NoCertificate,
    /// A certificate is unreadable.
    #[error("a trusted certificate is unreadable")]
    Certificate(#[source] Box<dyn Error + Send + Sync>),
    /// The client certificate is unusable.
    #[error("expected a client certificate and its private key as PEM, found others")]
    ClientCertificate(#[source] Box<dyn Error + Send + Sync>),
    /// The crypto provider or the operating system's certificates are unusable.
    #[error("the crypto provider or the system's certificates are unusable")]
    Provider(#[source] Box<dyn Error + Send + Sync>),
}

impl TlsError {
    fn provider(error: rustls::Error) -> Self {
        Self::Provider(Box::new(error))
    }
}

/// The reason why two sides did not agree on TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TlsFault {
    /// The peer's certificate is for other names.
    Name,
    /// The peer's certificate has expired, or is not valid yet, by the clock of this machine.
    Time,
    /// No trusted authority has issued the peer's certificate.
    Issuer,
    /// The peer's certificate belongs to an authority (`CA:TRUE`), not to a server.
    Authority,
    /// The peer's certificate is refused for another reason.
    Certificate,
    /// The peer answered bytes that are not TLS.
    NotTls,
    /// The peer ended the handshake, for example because it requires a client certificate.
    Refused,
    /// Any other fault of TLS.
    Other,
}

impl TlsFault {
    /// Returns the fault that this error reports, without regard to its sources. `None` if the
    /// error is not one of TLS.
    #[must_use]
    pub fn of(error: &(dyn Error + 'static)) -> Option<Self> {
        Some(match error.downcast_ref()? {
            rustls::Error::InvalidCertificate(error) => match error {
                CertificateError::NotValidForName
                | CertificateError::NotValidForNameContext { .. } => Self::Name,
                CertificateError::Expired
                | CertificateError::ExpiredContext { .. }
                | CertificateError::NotValidYet
                | CertificateError::NotValidYetContext { .. } => Self::Time,
                CertificateError::UnknownIssuer => Self::Issuer,
                CertificateError::Other(OtherError(error))
                    if error.downcast_ref() == Some(&webpki::Error::CaUsedAsEndEntity) =>
                {
                    Self::Authority
                }
                _ => Self::Certificate,
            },
            rustls::Error::InvalidMessage(_) => Self::NotTls,
            rustls::Error::AlertReceived(_) => Self::Refused,
            _ => Self::Other,
        })
    }

    /// Returns the fault of TLS in an error or in one of its causes. `None` if there is none.
    #[must_use]
    pub fn within(error: &(dyn Error + 'static)) -> Option<Self> {
        error_chain(error).find_map(Self::of)
    }

    /// Returns the cause as a text without any words of the peer.
    #[must_use]
    pub fn cause(self) -> &'static str {
        match self {
            Self::Name => "the certificate is for another name",
            Self::Time => "the certificate has expired or is not valid yet",
            Self::Issuer => "the certificate's authority is not trusted",
            Self::Authority => "the certificate is that of an authority, not of a server",
            Self::Certificate => "the certificate is refused",
            Self::NotTls => "the answer is not TLS",
            Self::Refused => "TLS was refused by the other side",
            Self::Other => "TLS failed",
        }
    }

    /// Returns advice on what to check on this side.
    #[must_use]
    pub fn advice(self) -> &'static str {
        match self {
            Self::Name => "call the service by a name that is in its certificate",
            Self::Time => {
                "check the clock of this machine, and ask the service for its certificate"
            }
            Self::Issuer => {
                "name the service's certificate authority: `tls_roots`, `roots` in connection.toml, or --roots"
            }
            Self::Authority => {
                "the service needs a certificate with basicConstraints CA:FALSE, issued by itself or an authority"
            }
            Self::Certificate => "ask the service for its certificate",
            Self::NotTls => "check that address and port are those of https",
            Self::Refused => "ask the service which versions and client certificates it demands",
            Self::Other => "check what stands between here and the service",
        }
    }
}

/// Walks an error and its causes. The error inside an I/O error counts as a cause, although
/// `source` does not return it.
#[doc(hidden)]
pub fn error_chain<'a>(
    error: &'a (dyn Error + 'static),
) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| {
        let held = error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref);
        held.map(|held| held as &(dyn Error + 'static))
            .or_else(|| error.source())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_must_exist_and_be_readable() {
        assert!(matches!(read_roots(b""), Err(TlsError::NoCertificate)));
        let pem = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        assert!(matches!(read_roots(pem), Err(TlsError::Certificate(_))));
    }
}
