//! Parts of rustls that clients and servers share: the crypto provider, certificates, roots.

use rustls::RootCertStore;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::error::Error;
use std::sync::Arc;

/// Returns the process's crypto provider if one is installed, otherwise AWS-LC.
pub(crate) fn provider() -> Arc<CryptoProvider> {
    CryptoProvider::get_default()
        .cloned()
        .unwrap_or_else(|| Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
}

/// Reads the certificates of a PEM text, which may be none.
pub(crate) fn certificates(
    pem: &[u8],
) -> Result<Vec<CertificateDer<'static>>, Box<dyn Error + Send + Sync>> {
    let certificates: Result<_, _> = CertificateDer::pem_slice_iter(pem).collect();
    Ok(certificates?)
}

/// Reads the authorities of a PEM text, which may be none.
pub(crate) fn roots(pem: &[u8]) -> Result<RootCertStore, Box<dyn Error + Send + Sync>> {
    let mut store = RootCertStore::empty();
    for certificate in certificates(pem)? {
        store.add(certificate)?;
    }
    Ok(store)
}
