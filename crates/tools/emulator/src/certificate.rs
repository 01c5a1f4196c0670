//! Certificates for loopback, from a temporary authority whose key is never stored.

use bankrail_values::{Clock as _, SystemClock};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose,
};
use std::fmt;
use std::time::Duration;
use zeroize::Zeroizing;

/// Validity of the certificates: ten years.
const VALIDITY: Duration = Duration::from_secs(10 * 365 * 24 * 3600);
const DAY: Duration = Duration::from_secs(24 * 3600);
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// The reason why a certificate cannot be made: a host name is malformed, or the crypto provider
/// failed.
#[derive(Debug, thiserror::Error)]
#[error("a certificate cannot be made")]
#[doc(hidden)]
pub struct CertificateAuthorityError(#[source] rcgen::Error);

/// An authority that signs certificates for loopback until it is dropped. Its key is new and never
/// leaves this value.
#[doc(hidden)]
pub struct CertificateAuthority(CertifiedIssuer<'static, KeyPair>);

/// A certificate for `localhost`, the loopback addresses and perhaps another host, and its key.
#[non_exhaustive]
pub struct Certificate {
    /// The certificate as PEM.
    pub chain_pem: String,
    /// The private key as PEM.
    pub key_pem: Zeroizing<String>,
}

impl CertificateAuthority {
    /// Returns a new authority, valid for ten years from now.
    ///
    /// # Errors
    /// [`CertificateAuthorityError`] if the crypto provider makes no key.
    pub fn new() -> Result<Self, CertificateAuthorityError> {
        let mut authority = parameters(CertificateParams::default(), "bankrail demo authority");
        // The authority must not sign other authorities.
        authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let issuer =
            KeyPair::generate().and_then(|key| CertifiedIssuer::self_signed(authority, key));
        issuer.map(Self).map_err(CertificateAuthorityError)
    }

    /// Returns the authority's certificate as PEM, for programs that must trust it.
    #[must_use]
    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// A new certificate with a new key, for this host too: a name or an IP address.
    ///
    /// # Errors
    /// [`CertificateAuthorityError`] if the host is neither, or the crypto provider makes no key.
    pub fn certificate(
        &self,
        host: Option<&str>,
    ) -> Result<Certificate, CertificateAuthorityError> {
        self.signed(host).map_err(CertificateAuthorityError)
    }

    fn signed(&self, host: Option<&str>) -> Result<Certificate, rcgen::Error> {
        let names: Vec<String> = LOOPBACK
            .into_iter()
            .chain(host)
            .map(str::to_owned)
            .collect();
        let mut server = parameters(CertificateParams::new(names)?, "localhost");
        server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        server.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        server.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate()?;
        let chain_pem = server.signed_by(&key, &self.0)?.pem();
        Ok(Certificate {
            chain_pem,
            key_pem: Zeroizing::new(key.serialize_pem()),
        })
    }
}

impl fmt::Debug for CertificateAuthority {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("CertificateAuthority(…)")
    }
}

// Does not print the key.
bankrail_values::impl_debug!(Certificate, self; chain_pem: self.chain_pem);

fn parameters(mut parameters: CertificateParams, name: &str) -> CertificateParams {
    let now = SystemClock.now();
    // The validity begins a day earlier, for clients whose clocks lag.
    parameters.not_before = now.saturating_sub(DAY).to_time();
    parameters.not_after = now.saturating_add(VALIDITY).to_time();
    parameters.distinguished_name.push(DnType::CommonName, name);
    parameters
}
