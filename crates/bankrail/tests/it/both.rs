//! The parts that the two sides share in every test.

use bankrail_jose::{DecryptionKey, RsaSize, SigningKey};
use bankrail_mailbox::EndpointId;
use bankrail_secured_payload::{OpenOptions, Opener, SealOptions, Sealer};
use bankrail_service::delivery::{Endpoint, EndpointUrl, Endpoints};
use bankrail_values::{HyphenatedUuid, SecretString};
use bankrail_webhook::{CaseType, DeliveryHeaders, Message, samples};
use std::sync::Arc;

pub(crate) const API_KEY: &str = "the-receivers-key";

/// The provider's signing key and the customer's decryption key.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    pub(crate) signing: SigningKey,
    pub(crate) decryption: DecryptionKey,
}

impl Keys {
    pub(crate) fn generate() -> Self {
        Self {
            signing: SigningKey::generate(RsaSize::Rsa2048).unwrap(),
            decryption: DecryptionKey::generate(RsaSize::Rsa2048).unwrap(),
        }
    }

    pub(crate) fn opener(&self) -> Opener {
        Opener::new(
            self.decryption.clone(),
            self.signing.verifying_key(),
            OpenOptions::new(),
        )
        .unwrap()
    }
}

/// Returns endpoints with one receiver, at this address.
pub(crate) fn endpoints(base: &str, keys: &Keys) -> Endpoints {
    let sealer = Sealer::new(
        keys.signing.clone(),
        keys.decryption.encryption_key(),
        SealOptions::new(),
    );
    let endpoint = Endpoint::new(
        endpoint(),
        EndpointUrl::parse(base).unwrap(),
        Arc::new(sealer),
    );
    let endpoints = Endpoints::new();
    endpoints.insert(endpoint.with_api_key(&SecretString::from(API_KEY)).unwrap());
    endpoints
}

pub(crate) fn endpoint() -> EndpointId {
    "biller".parse().unwrap()
}

/// Returns the message of this number, always the same, with its headers.
pub(crate) fn query(number: u32) -> (Message, DeliveryHeaders) {
    let mut query = samples::query(&CaseType::Mandate);
    query.case_id = format!("C{number}").parse().unwrap();
    let id = HyphenatedUuid::from_random_bytes((u128::from(number) << 96).to_be_bytes());
    (query.into(), DeliveryHeaders::new(id))
}
