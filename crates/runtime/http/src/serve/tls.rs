//! The certificate of a server.

use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::ResolvesServerCert;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// Makes the configuration of a [`Server`](super::Server) from PEM texts: the chain of
/// certificates, the server's own first, and its private key. TLS 1.2 and 1.3, with the process's
/// crypto provider if one is installed and AWS-LC otherwise.
///
/// # Errors
/// [`CertificateError`] if a text is unreadable or if certificate and key do not belong together.
pub fn server_config(chain_pem: &[u8], key_pem: &[u8]) -> Result<ServerConfig, CertificateError> {
    let provider = provider();
    let certified = certified_key(chain_pem, key_pem, &provider)?;
    config_of(provider, Arc::new(SingleCertAndKey::from(certified)))
}

/// The process's crypto provider if one is installed, otherwise AWS-LC.
pub(super) fn provider() -> Arc<CryptoProvider> {
    CryptoProvider::get_default()
        .cloned()
        .unwrap_or_else(|| Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
}

/// Reads a chain of certificates and the private key of the first.
pub(super) fn certified_key(
    chain_pem: &[u8],
    key_pem: &[u8],
    provider: &CryptoProvider,
) -> Result<CertifiedKey, CertificateError> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(chain_pem).collect();
    let chain = chain.map_err(|error| CertificateError::Certificate(Box::new(error)))?;
    if chain.is_empty() {
        return Err(CertificateError::NoCertificate);
    }
    let key = PrivateKeyDer::from_pem_slice(key_pem)
        .map_err(|error| CertificateError::Key(Box::new(error)))?;
    CertifiedKey::from_der(chain, key, provider)
        .map_err(|error| CertificateError::Unusable(Box::new(error)))
}

/// The configuration of a server that shows the certificate of this resolver.
pub(super) fn config_of(
    provider: Arc<CryptoProvider>,
    certificates: Arc<dyn ResolvesServerCert>,
) -> Result<ServerConfig, CertificateError> {
    let builder =
        ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| CertificateError::Unusable(Box::new(error)))?;
    Ok(builder
        .with_no_client_auth()
        .with_cert_resolver(certificates))
}

/// A certificate or key that a server cannot use.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// A file cannot be read, or is longer than
    /// [`CertificateFiles::MAX_BYTES`](super::CertificateFiles::MAX_BYTES).
    #[error("{}: cannot be read", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The text of the chain has no certificate.
    #[error("expected at least one certificate as PEM, found none")]
    NoCertificate,
    /// A certificate is unreadable.
    #[error("a certificate of the server is unreadable")]
    Certificate(#[source] Box<dyn Error + Send + Sync>),
    /// The private key is unreadable.
    #[error("the private key of the server is unreadable")]
    Key(#[source] Box<dyn Error + Send + Sync>),
    /// The key is not that of the first certificate, or the crypto provider supports neither.
    #[error("certificate and private key of the server cannot be used together")]
    Unusable(#[source] Box<dyn Error + Send + Sync>),
}
