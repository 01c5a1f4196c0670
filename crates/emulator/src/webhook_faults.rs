//! What goes wrong with deliveries: what is sealed wrongly, and what is sent wrongly.

use crate::call::Endpoint;
use crate::fault::Fault;
use crate::front::Front;
use crate::webhook::{Webhook, read_any};
use bankrail_jose::{CurrentKey, EncryptionKey, RsaSize, SigningKey};
use bankrail_secured_payload::{SealError, SealOptions, Sealer, SecuredPayload};
use bankrail_service::delivery::{
    CpuPool, SealFuture, SealPayload, Transport, TransportErrorKind, TransportFuture, TransportRequest,
    TransportResponse,
};
use bankrail_values::HyphenatedUuid;
use bytes::Bytes;
use futures_util::future::join_all;
use http::header::RETRY_AFTER;
use http::{HeaderMap, StatusCode};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// How many times a message of a flood is sent.
const FLOOD: usize = 50;

/// How many sealed messages with a fault are known at once. A shutdown can leave one that is never sent.
const MOST_SEALED: usize = 1000;

/// The faults of deliveries that are sealed and not sent yet, by the sealed text.
#[derive(Debug)]
pub(crate) struct WebhookFaults {
    front: Arc<Front>,
    sealed: Mutex<HashMap<String, (Fault, Option<String>)>>,
    /// A key that nobody knows.
    stray: OnceLock<Option<SigningKey>>,
}

impl WebhookFaults {
    pub(crate) fn new(front: Arc<Front>) -> Self {
        Self { front, sealed: Mutex::default(), stray: OnceLock::new() }
    }
}

/// Seals the messages for one receiver with the signing key in use, and with the faults that are ordered for
/// deliveries. [`Emulator::sealer`](crate::Emulator::sealer) makes it.
#[derive(Debug)]
pub(crate) struct FaultySealer {
    pub(crate) signing: CurrentKey<SigningKey>,
    pub(crate) encryption: EncryptionKey,
    pub(crate) customer: Option<String>,
    pub(crate) faults: Arc<WebhookFaults>,
}

impl SealPayload for FaultySealer {
    fn seal<'a>(&'a self, json: &'a [u8], pool: &'a CpuPool) -> SealFuture<'a> {
        Box::pin(async move {
            let fault =
                self.faults.front.plan.take(Endpoint::Webhook, self.customer.as_deref()).map(|(fault, _)| fault);
            let sealed = self.seal_with(fault.as_ref(), json, pool).await?;
            let Some(fault) = fault else { return Ok(sealed) };
            let other = match contradicting(json).filter(|_| fault == Fault::Changed) {
                Some(other) => Some(self.seal_with(None, &other, pool).await?),
                None => None,
            };
            let mut kept = self.faults.sealed.lock().unwrap_or_else(PoisonError::into_inner);
            if kept.len() >= MOST_SEALED {
                kept.clear();
            }
            kept.insert(sealed.clone(), (fault, other));
            Ok(sealed)
        })
    }
}

impl FaultySealer {
    async fn seal_with(&self, fault: Option<&Fault>, json: &[u8], pool: &CpuPool) -> Result<String, SealError> {
        let (mut signing, mut encryption) = ((*self.signing.get()).clone(), self.encryption.clone());
        let make = || SigningKey::generate(RsaSize::Rsa2048).ok();
        let stray = fault.and_then(|_| self.faults.stray.get_or_init(make).as_ref());
        match (fault, stray) {
            (Some(Fault::BadSignature), Some(stray)) => {
                signing = signing.kid().map_or_else(|| stray.clone(), |kid| stray.clone().with_kid(kid));
            }
            (Some(Fault::UnknownKid), Some(stray)) => signing = stray.clone().with_kid("unknown"),
            (Some(Fault::WrongKey), Some(stray)) => {
                if let Ok(other) = EncryptionKey::from_pem(&stray.verifying_key().to_spki_pem()) {
                    encryption = encryption.kid().map_or_else(|| other.clone(), |kid| other.clone().with_kid(kid));
                }
            }
            _ => {}
        }
        SealPayload::seal(&Sealer::new(signing, encryption, SealOptions::new()), json, pool).await
    }
}

/// A message with the same duplicate key and other content.
fn contradicting(json: &[u8]) -> Option<Vec<u8>> {
    Some(Webhook::from(read_any(json)?).contradicted(HyphenatedUuid::random()).message.to_json())
}

/// A transport that sends deliveries with their faults.
#[derive(Debug)]
pub(crate) struct FaultyTransport {
    pub(crate) inner: Arc<dyn Transport>,
    pub(crate) faults: Arc<WebhookFaults>,
}

impl Transport for FaultyTransport {
    fn post(&self, request: TransportRequest) -> TransportFuture<'_> {
        let sealed = SecuredPayload::from_json(&request.body).map(|payload| payload.secured_payload);
        let mut kept = self.faults.sealed.lock().unwrap_or_else(PoisonError::into_inner);
        let fault = sealed.ok().and_then(|sealed| kept.remove(&sealed));
        Box::pin(async move {
            match fault {
                Some((fault @ (Fault::Doubled | Fault::Flood), _)) => {
                    let times = if fault == Fault::Flood { FLOOD } else { 2 };
                    let mut answers = join_all((0..times).map(|_| self.inner.post(request.clone()))).await;
                    answers.pop().unwrap_or_else(|| Err(TransportErrorKind::Broken.into()))
                }
                Some((Fault::Changed, Some(other))) => {
                    let mut changed = request.clone();
                    changed.body = Bytes::from(SecuredPayload::new(other).to_json());
                    let answer = self.inner.post(request).await;
                    let _ = self.inner.post(changed).await;
                    answer
                }
                Some((Fault::LostAcknowledgement, _)) => {
                    self.inner.post(request).await?;
                    Err(TransportErrorKind::Broken.into())
                }
                Some((Fault::Reordered, _)) => Ok(held_back(2)),
                Some((Fault::LateByADay, _)) => Ok(held_back(24 * 3600)),
                _ => self.inner.post(request).await,
            }
        })
    }
}

/// In place of the receiver's answer: the message is due again after so many seconds, and the receiver is well.
fn held_back(seconds: u64) -> TransportResponse {
    TransportResponse::new(StatusCode::CONFLICT, HeaderMap::from_iter([(RETRY_AFTER, seconds.into())]), Bytes::new())
}
