//! The provider's side of webhooks: one endpoint, and a dispatcher for it.

use crate::keys::Keys;
use bankrail::mailbox::{EndpointId, OutboxStore};
use bankrail::secured_payload::{SealOptions, Sealer};
use bankrail::service::delivery::{
    Dispatcher, DispatcherOptions, Endpoint, EndpointUrl, Endpoints, HttpsTransport,
    HttpsTransportOptions, TlsRoots,
};
use bankrail::values::{Clock, HyphenatedUuid, SecretString};
use bankrail::webhook::sender::OriginalRequest;
use bankrail::webhook::{DeliveryHeaders, MessageKind, Priority};
use std::error::Error;
use std::sync::Arc;

/// The name of the only endpoint.
pub(crate) const ENDPOINT: &str = "sandbox-customer";

/// A dispatcher for one receiver, sealing with the sandbox's keys.
pub(crate) fn dispatcher(
    base: EndpointUrl,
    api_key: &str,
    keys: &Keys,
    authorities: Vec<u8>,
    outbox: Arc<dyn OutboxStore>,
    clock: Arc<dyn Clock>,
) -> Result<Dispatcher, Box<dyn Error>> {
    let sealer = Sealer::new(
        keys.signing.clone(),
        keys.decryption.encryption_key(),
        SealOptions::new(),
    );
    let endpoint = Endpoint::new(EndpointId::parse(ENDPOINT)?, base, Arc::new(sealer))
        .with_api_key(&SecretString::from(api_key))?;
    let endpoints = Endpoints::new();
    endpoints.insert(endpoint);
    let roots = TlsRoots::OnlyPem(authorities);
    let transport = HttpsTransport::new(HttpsTransportOptions::new().tls_roots(roots))?;
    Ok(Dispatcher::new(
        outbox,
        endpoints,
        Arc::new(transport),
        DispatcherOptions::new().clock(clock),
    )?)
}

/// Headers with new keys. An outcome has the keys of the original request that it answers.
pub(crate) fn headers(kind: MessageKind) -> DeliveryHeaders {
    let fresh = || HyphenatedUuid::from(uuid::Uuid::new_v4());
    if kind.answers_a_request() {
        let request = OriginalRequest::new(fresh()).with_correlation_id(fresh());
        DeliveryHeaders::answering(&request, fresh()).priority(Priority::Attended)
    } else {
        DeliveryHeaders::new(fresh()).priority(Priority::Unattended)
    }
}
