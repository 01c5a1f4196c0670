//! An endpoint is given the key that signs, and not what seals.
//! says: pass `Arc::new(Sealer::new(signing_key, encryption_key, options))`
use bankrail::http::EndpointUrl;
use bankrail::jose::SigningKey;
use bankrail::mailbox::EndpointId;
use bankrail::service::delivery::Endpoint;
use std::sync::Arc;

fn endpoint(id: EndpointId, base: EndpointUrl, key: SigningKey) -> Endpoint {
    Endpoint::new(id, base, Arc::new(key))
}

fn main() {}
