//! Faults of deliveries, in sealing and in sending, and their records in the journal.

use crate::call::{Call, Endpoint};
use crate::fault::Fault;
use crate::front::{Front, KeptParts, MAX_REQUEST, Recording, cut};
use crate::journal::{self, MASK};
use crate::webhook::Webhook;
use bankrail_http::RequestKey;
use bankrail_http::names::API_KEY;
use bankrail_jose::{CurrentKey, EncryptionKey, RsaSize, SigningKey};
use bankrail_secured_payload::{SealError, SealOptions, Sealer, SecuredPayload};
use bankrail_service::delivery::{
    self, CpuPool, SealFuture, SealPayload, Transport, TransportError, TransportErrorKind,
    TransportFuture, TransportRequest, TransportResponse, UpFuture,
};
use bankrail_values::HyphenatedUuid;
use bankrail_webhook::Message;
use bytes::Bytes;
use futures_util::future::join_all;
use http::header::RETRY_AFTER;
use http::{HeaderMap, StatusCode};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The number of times that a message of a flood is sent.
const FLOOD_DELIVERIES: usize = 50;

/// The maximum number of sealed messages in memory, because a message that is never sent would
/// otherwise stay for ever.
const MAX_SEALED: usize = 1000;

/// A message that was sealed and is not sent yet.
#[derive(Clone, Debug, Default)]
struct Sealed {
    json: Vec<u8>,
    customer: Option<String>,
    fault: Option<Fault>,
    /// A contradicting message to send after this one, and its sealed form.
    other: Option<(Vec<u8>, String)>,
}

/// The deliveries that have a fault or are recorded in the journal, and that are not sent yet, by
/// their sealed text.
#[derive(Debug)]
pub(crate) struct WebhookFaults {
    front: Arc<Front>,
    sealed: Mutex<HashMap<String, Sealed>>,
    /// A signing key that no receiver knows.
    stray: OnceLock<Option<SigningKey>>,
}

impl WebhookFaults {
    pub(crate) fn new(front: Arc<Front>) -> Self {
        Self {
            front,
            sealed: Mutex::default(),
            stray: OnceLock::new(),
        }
    }

    fn sealed(&self) -> MutexGuard<'_, HashMap<String, Sealed>> {
        // Of a poisoned lock too: a message is inserted whole, or removed.
        self.sealed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Seals the messages for one receiver with the signing key in use, and with the faults that are
/// ordered for deliveries. [`Emulator::sealer`](crate::Emulator::sealer) makes such a sealer.
#[derive(Debug)]
pub(crate) struct FaultySealer {
    pub(crate) signing: CurrentKey<SigningKey>,
    pub(crate) encryption: CurrentKey<EncryptionKey>,
    pub(crate) customer: Option<String>,
    pub(crate) faults: Arc<WebhookFaults>,
}

impl SealPayload for FaultySealer {
    fn seal<'a>(&'a self, json: &'a [u8], pool: &'a CpuPool) -> SealFuture<'a> {
        Box::pin(async move {
            let fault = self
                .faults
                .front
                .plan
                .take(Endpoint::Webhook, self.customer.as_deref())
                .map(|(fault, _)| fault);
            let sealed = self.seal_with(fault.as_ref(), json, pool).await?;
            if fault.is_none() && self.faults.front.keeps != KeptParts::Masked {
                return Ok(sealed);
            }
            let other = match contradicting(json).filter(|_| fault == Some(Fault::Changed)) {
                Some(other) => Some((other.clone(), self.seal_with(None, &other, pool).await?)),
                None => None,
            };
            let mut kept = self.faults.sealed();
            if kept.len() >= MAX_SEALED {
                // A delivery whose record is dropped here is sent without its fault.
                kept.clear();
            }
            kept.insert(
                sealed.clone(),
                Sealed {
                    json: json.to_vec(),
                    customer: self.customer.clone(),
                    fault,
                    other,
                },
            );
            Ok(sealed)
        })
    }
}

impl FaultySealer {
    async fn seal_with(
        &self,
        fault: Option<&Fault>,
        json: &[u8],
        pool: &CpuPool,
    ) -> Result<String, SealError> {
        let mut signing = (*self.signing.get()).clone();
        let mut encryption = (*self.encryption.get()).clone();
        let make = || SigningKey::generate(RsaSize::Rsa2048).ok();
        let stray = fault.and_then(|_| self.faults.stray.get_or_init(make).as_ref());
        match (fault, stray) {
            (Some(Fault::BadSignature), Some(stray)) => {
                signing = signing
                    .kid()
                    .map_or_else(|| stray.clone(), |kid| stray.clone().with_kid(kid));
            }
            (Some(Fault::UnknownKid), Some(stray)) => signing = stray.clone().with_kid("unknown"),
            (Some(Fault::WrongKey), Some(stray)) => {
                if let Ok(other) = EncryptionKey::from_pem(&stray.verifying_key().to_spki_pem()) {
                    encryption = encryption
                        .kid()
                        .map_or_else(|| other.clone(), |kid| other.clone().with_kid(kid));
                }
            }
            _ => {}
        }
        SealPayload::seal(
            &Sealer::new(signing, encryption, SealOptions::new()),
            json,
            pool,
        )
        .await
    }
}

/// Returns a message with the same duplicate key and other content.
fn contradicting(json: &[u8]) -> Option<Vec<u8>> {
    Some(
        Webhook::from(Message::from_json_of_any_kind(json)?.message)
            .contradicted(HyphenatedUuid::random())
            .message
            .to_json()
            .into_bytes(),
    )
}

/// A transport that sends deliveries with their faults.
#[derive(Debug)]
pub(crate) struct FaultyTransport {
    pub(crate) inner: Arc<dyn Transport>,
    pub(crate) faults: Arc<WebhookFaults>,
}

impl Transport for FaultyTransport {
    fn post(&self, request: TransportRequest) -> TransportFuture<'_> {
        let text = SecuredPayload::from_json(&request.body).map(|payload| payload.secured_payload);
        let mut kept = self.faults.sealed();
        let sealed = text
            .ok()
            .and_then(|text| kept.remove(&text))
            .unwrap_or_default();
        Box::pin(async move {
            match (&sealed.fault, &sealed.other) {
                (Some(fault @ (Fault::Doubled | Fault::Flood)), _) => {
                    let times = if *fault == Fault::Flood {
                        FLOOD_DELIVERIES
                    } else {
                        2
                    };
                    let mut answers =
                        join_all((0..times).map(|_| self.send(request.clone(), &sealed))).await;
                    answers
                        .pop()
                        .unwrap_or_else(|| Err(TransportErrorKind::Broken.into()))
                }
                (Some(Fault::Changed), Some((json, other))) => {
                    let mut changed = request.clone();
                    changed.body = Bytes::from(SecuredPayload::new(other.clone()).to_json());
                    let answer = self.send(request, &sealed).await;
                    // The answer to the message itself is returned; the answer to the contradiction
                    // is only recorded.
                    let _ = self
                        .send(
                            changed,
                            &Sealed {
                                json: json.clone(),
                                ..sealed.clone()
                            },
                        )
                        .await;
                    answer
                }
                (Some(Fault::LostAcknowledgement), _) => {
                    self.send(request, &sealed).await?;
                    Err(TransportErrorKind::Broken.into())
                }
                (Some(Fault::Reordered), _) => Ok(held_back(2)),
                (Some(Fault::LateByADay), _) => Ok(held_back(24 * 3600)),
                _ => self.send(request, &sealed).await,
            }
        })
    }

    fn is_up<'a>(&'a self, endpoint: &'a delivery::Endpoint) -> UpFuture<'a> {
        self.inner.is_up(endpoint)
    }
}

impl FaultyTransport {
    /// Sends a request, and keeps it with its answer unless nothing is kept.
    async fn send(
        &self,
        request: TransportRequest,
        sealed: &Sealed,
    ) -> Result<TransportResponse, TransportError> {
        let front = &self.faults.front;
        if front.keeps == KeptParts::Nothing {
            return self.inner.post(request).await;
        }
        let mask = |call: &mut Call| {
            if front.keeps == KeptParts::Masked {
                journal::mask(call);
            }
        };
        let mut call = Call::new(Endpoint::Webhook, front.clock.now());
        call.request_key = RequestKey::from_headers(&request.headers).map(RequestKey::uuid);
        (call.method, call.path) = ("POST".to_owned(), cut(request.url.path()));
        // A message that was sealed by another sealer is recorded in its sealed form.
        let body = if sealed.json.is_empty() {
            &request.body[..]
        } else {
            &sealed.json
        };
        call.body = Bytes::copy_from_slice(body.get(..MAX_REQUEST).unwrap_or(body));
        (call.headers, call.customer, call.fault) = (
            request.headers.clone(),
            sealed.customer.clone(),
            sealed.fault.clone(),
        );
        let key = call
            .headers
            .iter()
            .find(|(name, value)| **name == API_KEY || value.is_sensitive());
        let key = key
            .and_then(|(_, value)| value.to_str().ok())
            .filter(|key| !key.is_empty())
            .map(str::to_owned);
        mask(&mut call);
        // A delivery that the dispatcher abandons is recorded without an answer.
        let mut recording = Recording::new(&front.calls, call);
        let answer = self.inner.post(request).await;
        let call = &mut recording.call;
        match &answer {
            Ok(answer) => {
                (call.status, call.answer_headers) =
                    (Some(answer.status.as_u16()), answer.headers.clone());
                let text =
                    String::from_utf8_lossy(answer.body.get(..MAX_REQUEST).unwrap_or(&answer.body));
                // Some receivers echo the request, with its API key.
                call.answer = key
                    .map_or_else(|| text.clone().into_owned(), |key| text.replace(&key, MASK))
                    .into();
            }
            Err(error) => call.reason = Some(error.kind().to_string()),
        }
        mask(call);
        answer
    }
}

/// Returns a response in place of the receiver's, after which the message is due again in this many
/// seconds and the receiver counts as healthy.
fn held_back(seconds: u64) -> TransportResponse {
    TransportResponse::new(
        StatusCode::CONFLICT,
        HeaderMap::from_iter([(RETRY_AFTER, seconds.into())]),
        Bytes::new(),
    )
}
