//! Certificates for loopback, from an authority that is made for them and whose key is not kept.

use crate::failure::Failure;
use bankrail::values::{Clock as _, SystemClock};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose,
};
use std::time::Duration;
use zeroize::Zeroizing;

/// How long the certificates are valid: ten years.
const LIFE: Duration = Duration::from_secs(10 * 365 * 24 * 3600);
const DAY: Duration = Duration::from_secs(24 * 3600);

/// An authority that signs certificates until it is dropped.
pub(super) struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate and its key.
pub(super) struct Certificate {
    pub(super) chain_pem: String,
    pub(super) key_pem: Zeroizing<String>,
}

impl Authority {
    pub(super) fn new() -> Result<Self, Failure> {
        let mut authority = parameters(CertificateParams::default(), "bankrail demo authority");
        authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate().map_err(failed)?;
        CertifiedIssuer::self_signed(authority, key).map(Self).map_err(failed)
    }

    pub(super) fn pem(&self) -> String {
        self.0.pem()
    }

    /// A certificate for `localhost` and the loopback addresses.
    pub(super) fn certificate(&self) -> Result<Certificate, Failure> {
        let names = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec();
        let mut server = parameters(CertificateParams::new(names).map_err(failed)?, "localhost");
        server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        server.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        server.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate().map_err(failed)?;
        let chain_pem = server.signed_by(&key, &self.0).map_err(failed)?.pem();
        Ok(Certificate { chain_pem, key_pem: Zeroizing::new(key.serialize_pem()) })
    }
}

fn parameters(mut parameters: CertificateParams, name: &str) -> CertificateParams {
    let now = SystemClock.now();
    parameters.not_before = now.saturating_sub(DAY).to_time();
    parameters.not_after = now.saturating_add(LIFE).to_time();
    parameters.distinguished_name.push(DnType::CommonName, name);
    parameters
}

fn failed(error: rcgen::Error) -> Failure {
    Failure::unable(format_args!("a certificate cannot be made: {error}"), "try again")
}
