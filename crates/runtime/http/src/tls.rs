//! Which certificates a client trusts.

use rustls::crypto::CryptoProvider;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{CertificateError, ClientConfig, OtherError, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;
use std::error::Error;
use std::sync::Arc;

/// The certificate authorities that a client trusts.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum TlsRoots {
    /// The authorities of the operating system.
    #[default]
    Platform,
    /// Only those in this PEM text, such as a private authority's.
    OnlyPem(Vec<u8>),
}

/// Makes a configuration for TLS 1.2 and 1.3, HTTP/2 and HTTP/1.1, with the process's crypto
/// provider if one is installed and AWS-LC otherwise. With `None`, no certificate is trusted.
///
/// # Errors
/// [`TlsError`] if the certificates or the crypto provider are unusable.
pub fn client_config(roots: Option<&TlsRoots>) -> Result<ClientConfig, TlsError> {
    let provider = CryptoProvider::get_default()
        .cloned()
        .unwrap_or_else(|| Arc::new(rustls::crypto::aws_lc_rs::default_provider()));
    let builder =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(TlsError::provider)?;
    let mut configuration = match roots {
        Some(TlsRoots::Platform) => builder
            .with_platform_verifier()
            .map_err(TlsError::provider)?
            .with_no_client_auth(),
        Some(TlsRoots::OnlyPem(pem)) => builder
            .with_root_certificates(read_roots(pem)?)
            .with_no_client_auth(),
        None => builder
            .with_root_certificates(RootCertStore::empty())
            .with_no_client_auth(),
    };
    configuration.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(configuration)
}

fn read_roots(pem: &[u8]) -> Result<RootCertStore, TlsError> {
    let mut store = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|error| TlsError::Certificate(Box::new(error)))?;
        store
            .add(certificate)
            .map_err(|error| TlsError::Certificate(Box::new(error)))?;
    }
    if store.is_empty() {
        Err(TlsError::NoCertificate)
    } else {
        Ok(store)
    }
}

/// Why TLS could not be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// The PEM text has no certificate.
    #[error("expected at least one certificate as PEM, found none")]
    NoCertificate,
    /// A certificate is unreadable.
    #[error("a trusted certificate is unreadable")]
    Certificate(#[source] Box<dyn Error + Send + Sync>),
    /// The crypto provider or the operating system's certificates are unusable.
    #[error("the crypto provider or the system's certificates are unusable")]
    Provider(#[source] Box<dyn Error + Send + Sync>),
}

impl TlsError {
    fn provider(error: rustls::Error) -> Self {
        Self::Provider(Box::new(error))
    }
}

/// Why two sides did not agree on TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TlsFault {
    /// The peer's certificate is for other names.
    Name,
    /// The peer's certificate has expired, or is not valid yet, by the clock of this machine.
    Time,
    /// No trusted authority has issued the peer's certificate.
    Issuer,
    /// The peer's certificate is that of an authority (`CA:TRUE`), which is none for a server.
    Authority,
    /// The peer's certificate is refused for another reason.
    Certificate,
    /// The peer answered bytes that are not TLS.
    NotTls,
    /// The peer ended the handshake, as it does when it wants a client's certificate.
    Refused,
    /// Anything else.
    Other,
}

impl TlsFault {
    /// The fault that this error is; `None` if it is not one of TLS. Its sources are not looked at.
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

    /// Returns the cause, in words without a text of the peer.
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

    /// Returns what to check on this side.
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
