//! An authority for tests, and the certificates that it issues.

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};

pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub(crate) fn new() -> Self {
        let mut parameters = CertificateParams::new(Vec::<String>::new()).unwrap();
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        // OpenSSL takes a certificate whose issuer has its own name for one issued by itself.
        let name = &mut parameters.distinguished_name;
        name.push(DnType::CommonName, "authority");
        let key = KeyPair::generate().unwrap();
        Self(CertifiedIssuer::self_signed(parameters, key).unwrap())
    }

    pub(crate) fn pem(&self) -> Vec<u8> {
        self.0.pem().into_bytes()
    }

    /// Issues a certificate for this name, and returns it with its key.
    pub(crate) fn issue(&self, name: &str) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let parameters = CertificateParams::new(vec![name.to_owned()]).unwrap();
        let certificate = parameters.signed_by(&key, &self.0).unwrap();
        (certificate.pem(), key.serialize_pem())
    }

    /// Issues a certificate like [`Self::issue`], and returns it with its key in one text.
    pub(crate) fn issue_in_one(&self, name: &str) -> String {
        let (certificate, key) = self.issue(name);
        certificate + &key
    }
}
