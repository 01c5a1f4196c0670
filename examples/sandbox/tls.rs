//! A certificate authority and a server certificate for loopback, made at start or read back.

use bankrail::http::serve::{CertificateError, server_config};
use std::error::Error;
use std::path::Path;

/// The sandbox's certificate authority, the only one that its customer trusts, and the server certificate that it
/// issued.
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
        authority.distinguished_name.push(rcgen::DnType::CommonName, "bankrail sandbox authority");
        authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Constrained(0));
        authority.key_usages = vec![rcgen::KeyUsagePurpose::KeyCertSign, rcgen::KeyUsagePurpose::CrlSign];
        let authority_key = rcgen::KeyPair::generate()?;
        let authority = rcgen::CertifiedIssuer::self_signed(authority, authority_key)?;
        let key = rcgen::KeyPair::generate()?;
        let mut server = rcgen::CertificateParams::new(vec!["localhost".to_owned(), "127.0.0.1".to_owned()])?;
        server.distinguished_name.push(rcgen::DnType::CommonName, "localhost");
        server.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ServerAuth];
        server.use_authority_key_identifier_extension = true;
        let server = server.signed_by(&key, &authority)?;
        Ok(Self { authority_pem: authority.pem(), chain_pem: server.pem(), key_pem: key.serialize_pem() })
    }

    /// Reads the three files from `folder`, or makes them and writes them there.
    pub(crate) fn in_folder(folder: &Path) -> Result<Self, Box<dyn Error>> {
        let [authority, chain, key] = ["ca.pem", "server.pem", "server-key.pem"].map(|name| folder.join(name));
        if authority.exists() && chain.exists() && key.exists() {
            return Ok(Self {
                authority_pem: std::fs::read_to_string(authority)?,
                chain_pem: std::fs::read_to_string(chain)?,
                key_pem: std::fs::read_to_string(key)?,
            });
        }
        let made = Self::generate()?;
        super::files::write_private(&key, &made.key_pem)?;
        std::fs::write(chain, &made.chain_pem)?;
        std::fs::write(authority, &made.authority_pem)?;
        Ok(made)
    }

    /// The server's TLS configuration.
    pub(crate) fn server_config(&self) -> Result<rustls::ServerConfig, CertificateError> {
        server_config(self.chain_pem.as_bytes(), self.key_pem.as_bytes())
    }
}
