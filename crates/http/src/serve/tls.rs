//! The certificate of a server.

use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::error::Error;
use std::sync::Arc;

/// Makes the configuration of a [`Server`](super::Server) from PEM texts: the chain of certificates, the server's own
/// first, and its private key. TLS 1.2 and 1.3, with the process's crypto provider if one is installed and AWS-LC
/// otherwise.
///
/// # Errors
/// [`CertificateError`] if a text is unreadable or if certificate and key do not belong together.
pub fn server_config(chain_pem: &[u8], key_pem: &[u8]) -> Result<ServerConfig, CertificateError> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(chain_pem).collect();
    let chain = chain.map_err(|error| CertificateError::Certificate(Box::new(error)))?;
    if chain.is_empty() {
        return Err(CertificateError::NoCertificate);
    }
    let key = PrivateKeyDer::from_pem_slice(key_pem).map_err(|error| CertificateError::Key(Box::new(error)))?;
    let provider = CryptoProvider::get_default()
        .cloned()
        .unwrap_or_else(|| Arc::new(rustls::crypto::aws_lc_rs::default_provider()));
    let unusable = |error| CertificateError::Unusable(Box::new(error));
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    builder.map_err(unusable)?.with_no_client_auth().with_single_cert(chain, key).map_err(unusable)
}

/// A certificate or key that a server cannot use.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CertificateError {
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
