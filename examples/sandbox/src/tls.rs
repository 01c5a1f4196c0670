//! A certificate authority and a server certificate for loopback, made at start.

use bankrail::http::serve::{CertificateError, server_config};
use std::error::Error;

/// The sandbox's certificate authority, the only one that its customer trusts, and the server
/// certificate that it issued.
#[derive(Debug)]
pub(crate) struct Certificates {
    /// The certificate of the authority as PEM.
    pub(crate) authority_pem: String,
    chain_pem: String,
    key_pem: String,
}

impl Certificates {
    /// Makes a new authority and a certificate for `localhost` and 127.0.0.1.
    pub(crate) fn generate() -> Result<Self, Box<dyn Error>> {
        let mut authority = rcgen::CertificateParams::default();
        authority
            .distinguished_name
            .push(rcgen::DnType::CommonName, "bankrail sandbox authority");
        authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Constrained(0));
        authority.key_usages = vec![
            rcgen::KeyUsagePurpose::KeyCertSign,
            rcgen::KeyUsagePurpose::CrlSign,
        ];
        let authority_key = rcgen::KeyPair::generate()?;
        let authority = rcgen::CertifiedIssuer::self_signed(authority, authority_key)?;
        let key = rcgen::KeyPair::generate()?;
        let mut server =
            rcgen::CertificateParams::new(vec!["localhost".to_owned(), "127.0.0.1".to_owned()])?;
        server
            .distinguished_name
            .push(rcgen::DnType::CommonName, "localhost");
        server.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ServerAuth];
        server.use_authority_key_identifier_extension = true;
        let server = server.signed_by(&key, &authority)?;
        Ok(Self {
            authority_pem: authority.pem(),
            chain_pem: server.pem(),
            key_pem: key.serialize_pem(),
        })
    }

    /// The server's TLS configuration.
    pub(crate) fn server_config(&self) -> Result<rustls::ServerConfig, CertificateError> {
        server_config(self.chain_pem.as_bytes(), self.key_pem.as_bytes())
    }
}
