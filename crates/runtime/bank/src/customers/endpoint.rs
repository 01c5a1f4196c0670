//! Records of customers' webhook receivers.

use bankrail_http::names::API_KEY;
use bankrail_http::tls::ClientCertificate;
use bankrail_jose::EncryptionKey;
use bankrail_mailbox::EndpointId;
use bankrail_service::delivery::{
    Endpoint, EndpointError, EndpointUrl, MissingAcknowledgement, SealPayload,
};
use bankrail_values::SecretString;
use bankrail_webhook::MessageKind;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A customer's webhook receiver: id, base address, paths, API key, and the key that messages are
/// encrypted for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointRecord {
    id: EndpointId,
    url: EndpointUrl,
    encryption_key: EncryptionKey,
    paths: BTreeMap<&'static str, (MessageKind, String)>,
    api_key: Option<(String, SecretString)>,
    client_certificate: Option<ClientCertificate>,
    missing_acknowledgement: Option<MissingAcknowledgement>,
}

impl EndpointRecord {
    /// Creates a receiver without an API key, at the default paths below its base.
    #[must_use]
    pub fn new(id: EndpointId, url: EndpointUrl, encryption_key: EncryptionKey) -> Self {
        Self {
            id,
            url,
            encryption_key,
            paths: BTreeMap::new(),
            api_key: None,
            client_certificate: None,
            missing_acknowledgement: None,
        }
    }

    /// Sets another path for one kind of message, relative to the base.
    #[must_use]
    pub fn with_path(mut self, kind: MessageKind, path: impl Into<String>) -> Self {
        self.paths.insert(kind.as_str(), (kind, path.into()));
        self
    }

    /// Sets an API key, sent in the header `apikey` (Default: "Webhooks").
    ///
    /// # Errors
    /// [`EndpointError`] if the key cannot be a header value.
    pub fn with_api_key(self, value: SecretString) -> Result<Self, EndpointError> {
        self.with_api_key_in(API_KEY.as_str(), value)
    }

    /// Sets an API key, sent in the header of this name.
    ///
    /// # Errors
    /// [`EndpointError`] if the name or the key cannot be in a header, or if the header has another
    /// purpose in deliveries.
    pub fn with_api_key_in(
        mut self,
        name: &str,
        value: SecretString,
    ) -> Result<Self, EndpointError> {
        let (header, _) = Endpoint::api_key_header(name, &value)?;
        self.api_key = Some((header.to_string(), value));
        Ok(self)
    }

    /// Sets the client certificate for this receiver, in place of that of all deliveries.
    #[must_use]
    pub fn with_client_certificate(mut self, certificate: ClientCertificate) -> Self {
        self.client_certificate = Some(certificate);
        self
    }

    /// Sets the treatment of a 2xx answer without the acknowledgement, in place of that of all
    /// receivers.
    #[must_use]
    pub fn with_missing_acknowledgement(mut self, treatment: MissingAcknowledgement) -> Self {
        self.missing_acknowledgement = Some(treatment);
        self
    }

    /// Returns the name of the receiver, which messages of the outbox have.
    #[must_use]
    pub fn id(&self) -> &EndpointId {
        &self.id
    }

    /// Returns the base address.
    #[must_use]
    pub fn url(&self) -> &EndpointUrl {
        &self.url
    }

    /// Returns the customer's public key, for which messages are encrypted.
    #[must_use]
    pub fn encryption_key(&self) -> &EncryptionKey {
        &self.encryption_key
    }

    /// Returns the client certificate of deliveries to this receiver; `None` for that of all
    /// receivers.
    #[must_use]
    pub fn client_certificate(&self) -> Option<&ClientCertificate> {
        self.client_certificate.as_ref()
    }

    /// Returns the treatment of a 2xx answer without the acknowledgement; `None` for that of all
    /// receivers.
    #[must_use]
    pub fn missing_acknowledgement(&self) -> Option<MissingAcknowledgement> {
        self.missing_acknowledgement
    }

    /// Returns the kinds of message that do not use the default path.
    pub fn paths(&self) -> impl Iterator<Item = (MessageKind, &str)> {
        self.paths
            .values()
            .map(|(kind, path)| (*kind, path.as_str()))
    }

    /// Returns the API key's header and value.
    #[must_use]
    pub fn api_key(&self) -> Option<(&str, &SecretString)> {
        self.api_key
            .as_ref()
            .map(|(header, value)| (header.as_str(), value))
    }

    /// Makes an endpoint from the receiver and the sealer of its messages, for
    /// [`Endpoints::insert`](bankrail_service::delivery::Endpoints::insert).
    #[must_use]
    pub fn endpoint(&self, sealer: Arc<dyn SealPayload>) -> Endpoint {
        let mut endpoint = Endpoint::new(self.id.clone(), self.url.clone(), sealer);
        if let Some(certificate) = &self.client_certificate {
            endpoint = endpoint.with_client_certificate(certificate.clone());
        }
        if let Some(treatment) = self.missing_acknowledgement {
            endpoint = endpoint.with_missing_acknowledgement(treatment);
        }
        let endpoint = self.paths().fold(endpoint, |endpoint, (kind, path)| {
            endpoint.with_path(kind, path)
        });
        match self.api_key() {
            None => endpoint,
            Some((header, value)) => endpoint
                .with_api_key_in(header, value)
                .expect("header and key were checked when they were set"),
        }
    }
}
