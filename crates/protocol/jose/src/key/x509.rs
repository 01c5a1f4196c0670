//! Keys from X.509 certificates (RFC 5280).

use super::public_key::{check_len, not_der};
use super::{KeyError, PublicKey, pem};
use bankrail_values::Timestamp;
use x509_cert::der::{Decode as _, Encode as _};

/// The key of an X.509 certificate and the dates between which it is valid.
///
/// Nothing else is read: issuer, key usage and revocation are not checked. The certificate is only
/// a container in which a counterparty hands over a key. Trust comes from the way in which it was
/// handed over.
#[derive(Clone, Debug)]
pub struct Certificate {
    public_key: PublicKey,
    not_before: Timestamp,
    not_after: Timestamp,
}

impl Certificate {
    /// Reads one PEM block `CERTIFICATE`, or the first one of a chain. The rest of the chain and
    /// blocks of other kinds are not read.
    ///
    /// # Errors
    /// [`KeyError`] unless there is such a block, the first of them with an acceptable RSA key.
    pub fn from_pem(text: &str) -> Result<Self, KeyError> {
        match pem::decode(text, |label| label == pem::CERTIFICATE)? {
            (pem::CERTIFICATE, der) => Self::from_der(&der),
            (label, _) => Err(pem::unexpected(label, "a certificate")),
        }
    }

    /// Reads one certificate in DER.
    ///
    /// # Errors
    /// [`KeyError`] unless it is one certificate with an acceptable RSA key and nothing else.
    pub fn from_der(der: &[u8]) -> Result<Self, KeyError> {
        check_len(der)?;
        let refused = not_der("a certificate");
        let certificate = x509_cert::Certificate::from_der(der).map_err(&refused)?;
        let body = certificate.tbs_certificate();
        let spki = body.subject_public_key_info().to_der().map_err(refused)?;
        let instant = |time: x509_cert::time::Time| {
            let millis = i64::try_from(time.to_unix_duration().as_millis()).unwrap_or(i64::MAX);
            Timestamp::saturating_from_unix_millis(millis)
        };
        Ok(Self {
            public_key: PublicKey::from_spki_der(&spki)?,
            not_before: instant(body.validity().not_before),
            not_after: instant(body.validity().not_after),
        })
    }

    /// Returns the key.
    #[must_use]
    pub fn public_key(&self) -> &PublicKey {
        &self.public_key
    }

    /// Returns the first instant at which the certificate is valid.
    #[must_use]
    pub fn not_before(&self) -> Timestamp {
        self.not_before
    }

    /// Returns the last second at which the certificate is valid.
    #[must_use]
    pub fn not_after(&self) -> Timestamp {
        self.not_after
    }

    /// Returns the key, without the dates.
    #[must_use]
    pub fn into_public_key(self) -> PublicKey {
        self.public_key
    }

    /// Returns true if `now` is between the dates, both included.
    #[must_use]
    pub fn is_valid_at(&self, now: Timestamp) -> bool {
        self.not_before <= now && now.unix_seconds() <= self.not_after.unix_seconds()
    }
}
