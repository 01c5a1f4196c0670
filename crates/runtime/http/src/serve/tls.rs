//! The certificate of a server.

use crate::rustls_parts::{certificates, provider, roots};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject;
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{ResolvesServerCert, VerifierBuilderError, WebPkiClientVerifier};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{RootCertStore, ServerConfig};
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
    config_of(provider, Arc::new(SingleCertAndKey::from(certified)), None)
}

/// The certificate authorities of clients: a server refuses a client without a certificate that one
/// of them has issued, in the handshake. Cheap to clone.
///
/// A client certificate decides who may connect. It does not replace API key, assertion or token.
#[derive(Clone, Debug)]
pub struct ClientAuthorities {
    roots: Arc<RootCertStore>,
    optional: bool,
}

impl ClientAuthorities {
    /// Reads authorities as PEM.
    ///
    /// # Errors
    /// [`CertificateError::ClientAuthorities`] if the text has no certificate, or an unreadable
    /// one.
    pub fn from_pem(pem: &[u8]) -> Result<Self, CertificateError> {
        let roots = roots(pem).and_then(|roots| match roots.is_empty() {
            true => Err(VerifierBuilderError::NoRootAnchors.into()),
            false => Ok(Arc::new(roots)),
        });
        Ok(Self {
            roots: roots.map_err(CertificateError::ClientAuthorities)?,
            optional: false,
        })
    }

    /// Allows a client without a certificate, if true. A client with a certificate of another
    /// authority is still refused. Default: false.
    #[must_use]
    pub fn optional(mut self, optional: bool) -> Self {
        self.optional = optional;
        self
    }

    fn verifier(&self) -> Result<Arc<dyn ClientCertVerifier>, VerifierBuilderError> {
        let roots = Arc::clone(&self.roots);
        let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider());
        if self.optional {
            verifier.allow_unauthenticated().build()
        } else {
            verifier.build()
        }
    }
}

/// Reads a chain of certificates and the private key of the first.
pub(super) fn certified_key(
    chain_pem: &[u8],
    key_pem: &[u8],
    provider: &CryptoProvider,
) -> Result<CertifiedKey, CertificateError> {
    let chain = certificates(chain_pem).map_err(CertificateError::Certificate)?;
    if chain.is_empty() {
        return Err(CertificateError::NoCertificate);
    }
    let key = PrivateKeyDer::from_pem_slice(key_pem)
        .map_err(|error| CertificateError::Key(Box::new(error)))?;
    CertifiedKey::from_der(chain, key, provider)
        .map_err(|error| CertificateError::Unusable(Box::new(error)))
}

/// Makes the configuration of a server that shows the certificate of this resolver, and asks
/// clients for theirs.
pub(super) fn config_of(
    provider: Arc<CryptoProvider>,
    certificates: Arc<dyn ResolvesServerCert>,
    clients: Option<&ClientAuthorities>,
) -> Result<ServerConfig, CertificateError> {
    let builder =
        ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| CertificateError::Unusable(Box::new(error)))?;
    let verifier = match clients {
        Some(clients) => clients
            .verifier()
            .map_err(|error| CertificateError::ClientAuthorities(Box::new(error)))?,
        None => WebPkiClientVerifier::no_client_auth(),
    };
    Ok(builder
        .with_client_cert_verifier(verifier)
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
    /// The authorities of client certificates are unusable.
    #[error("expected certificate authorities of clients as PEM, found others")]
    ClientAuthorities(#[source] Box<dyn Error + Send + Sync>),
    /// The key does not belong to the first certificate, or the crypto provider does not support
    /// the pair.
    #[error("certificate and private key of the server cannot be used together")]
    Unusable(#[source] Box<dyn Error + Send + Sync>),
}
