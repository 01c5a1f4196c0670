//! The refusals of deliveries. The row of a refusal has the answer, the stage and the reason for
//! the operator, the line in the log, and the label of the metric.

use super::observe::DeliveryStage as Stage;
use axum::body::Body;
use bankrail_http::{
    __private::{BodyError, EndpointFault},
    HeadError,
};
use bankrail_secured_payload::{MalformedMessageError, OpenError, OpenErrorKind, unverified_kid};
use bankrail_values::{HyphenatedUuid, StoreError};
use bankrail_webhook::{DeliveryHeaderError, MessageError, MessageKind};
use http::header::{ALLOW, CONNECTION, CONTENT_TYPE};
use http::{HeaderValue, Response, StatusCode};

/// The same text for every fault of a delivery, so that an attacker does not learn the fault.
const REFUSED: &str =
    r#"{"status":"400","title":"Bad Request","detail":"The delivery was refused."}"#;
const FAILED: &str = r#"{"status":"500","title":"Internal Server Error","detail":"The delivery was not stored. Deliver it again."}"#;

/// The reason why a delivery is not stored.
pub(super) enum Refusal {
    Fault(EndpointFault),
    ApiKey,
    ContentType,
    /// The body is compressed, in this coding.
    Coding(&'static str),
    Head(HeadError),
    Body(BodyError),
    Headers(DeliveryHeaderError),
    HeaderFindings(usize),
    Envelope,
    NotOpened(Unopened),
    /// A remote key did not answer, opening panicked, or the runtime is shutting down.
    NoAnswer,
    Message(MessageError),
    TooOld,
    Inbox(StoreError),
}

/// A payload that was not opened.
pub(super) struct Unopened {
    pub(super) error: OpenError,
    /// The `kid` of the payload's header, not verified, cut and escaped.
    kid: Option<String>,
}

impl Unopened {
    /// Returns the refusal of a compact message that was not opened.
    pub(super) fn refusal(error: OpenError, compact: &str) -> Refusal {
        let kid = unverified_kid(compact);
        Refusal::NotOpened(Self { error, kid })
    }

    /// Returns the reason for the log, without the text of any header but a `kid`.
    fn reason(&self) -> String {
        match &self.error {
            OpenError::UnsupportedHeader(header)
            | OpenError::Malformed(MalformedMessageError::Header(header)) => {
                header.member().map_or_else(
                    || "header".to_owned(),
                    |name| format!("header member {name}"),
                )
            }
            // With the payload's own names.
            OpenError::PayloadInvalid(_) => "the signed message is not acceptable JSON".to_owned(),
            other => other.to_string(),
        }
    }
}

impl From<EndpointFault> for Refusal {
    fn from(fault: EndpointFault) -> Self {
        Self::Fault(fault)
    }
}

/// The row of a refusal.
pub(super) struct Row {
    pub(super) stage: Stage,
    pub(super) status: StatusCode,
    /// The reason, which only the operator learns.
    pub(super) reason: String,
    /// The event in the log.
    event: &'static str,
    /// The other fields of the log: the name of a header, a number of findings, a place in the
    /// message, the `kid` of the encryption key.
    header: Option<String>,
    findings: Option<usize>,
    pointer: Option<String>,
    encryption_kid: Option<String>,
}

fn row(stage: Stage, status: StatusCode, event: &'static str, reason: impl ToString) -> Row {
    let reason = reason.to_string();
    Row {
        stage,
        status,
        reason,
        event,
        header: None,
        findings: None,
        pointer: None,
        encryption_kid: None,
    }
}

impl Refusal {
    /// Returns the row of the refusal.
    pub(super) fn row(&self) -> Row {
        /// The status of each fault of the sender, so that all have the same answer.
        const BAD: StatusCode = StatusCode::BAD_REQUEST;
        /// The status of a fault of this side, after which the sender delivers again.
        const FAILED: StatusCode = StatusCode::INTERNAL_SERVER_ERROR;
        match self {
            Self::Fault(EndpointFault::Method) => {
                let reason = "expected the method POST, found another";
                row(
                    Stage::Method,
                    StatusCode::METHOD_NOT_ALLOWED,
                    "delivery with another method",
                    reason,
                )
            }
            Self::Fault(EndpointFault::TimedOut) => row(
                Stage::Inbox,
                FAILED,
                "delivery that was not stored in time",
                "the time of a request was over",
            ),
            Self::Fault(_) => row(
                Stage::Inbox,
                FAILED,
                "taking a delivery panicked",
                "taking the delivery panicked",
            ),
            Self::ApiKey => {
                let reason = "expected the receiver's API key, found another or none";
                row(
                    Stage::ApiKey,
                    StatusCode::UNAUTHORIZED,
                    "delivery without the API key",
                    reason,
                )
            }
            Self::ContentType => {
                let reason = "expected the content type application/json, found another";
                let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
                row(
                    Stage::ContentType,
                    status,
                    "delivery with another content type",
                    reason,
                )
            }
            Self::Coding(found) => row(
                Stage::ContentType,
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "delivery with a compressed body",
                format_args!("expected an uncompressed body, found {found}"),
            ),
            Self::Head(fault) => row(
                Stage::Headers,
                fault.status(),
                "delivery with a head that is refused",
                fault,
            ),
            Self::Body(error) => {
                let status = match error {
                    BodyError::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
                    BodyError::TimedOut { .. } => StatusCode::REQUEST_TIMEOUT,
                    _ => BAD,
                };
                row(Stage::Body, status, "delivery with an unread body", error)
            }
            Self::Headers(error) => {
                // The error's text quotes the header's value.
                let reason = match error {
                    DeliveryHeaderError::Malformed { name, expected, .. } => {
                        format!("header {name}: expected {expected}")
                    }
                    other => other.to_string(),
                };
                let row = row(Stage::Headers, BAD, "delivery with wrong headers", reason);
                Row {
                    header: Some(error.name().to_owned()),
                    ..row
                }
            }
            Self::HeaderFindings(count) => {
                let reason = format_args!("expected headers without findings, found {count}");
                let row = row(
                    Stage::Headers,
                    BAD,
                    "delivery with findings in its headers",
                    reason,
                );
                Row {
                    findings: Some(*count),
                    ..row
                }
            }
            Self::Envelope => {
                let reason =
                    "expected a JSON object with the text secured_payload, found another body";
                row(Stage::Envelope, BAD, "delivery without an envelope", reason)
            }
            Self::NotOpened(unopened) => {
                let (status, event) = match unopened.error.kind() {
                    OpenErrorKind::Unavailable => (FAILED, "the decryption key is not available"),
                    _ => (BAD, "delivery that was not opened"),
                };
                let row = row(
                    Stage::of(unopened.error.kind()),
                    status,
                    event,
                    unopened.reason(),
                );
                Row {
                    encryption_kid: unopened.kid.clone(),
                    ..row
                }
            }
            Self::NoAnswer => {
                let reason = "the decryption key did not answer";
                row(
                    Stage::DecryptionKey,
                    FAILED,
                    "the decryption key did not answer in time",
                    reason,
                )
            }
            Self::Message(error) => {
                // The error's text quotes the message. Its place does so only where the message was
                // not read, and consists of the message's own names.
                let pointer = match error {
                    MessageError::Json(_) => "",
                    other => other.pointer().unwrap_or_default(),
                };
                let row = row(
                    Stage::Message,
                    BAD,
                    "delivery of a refused message",
                    why(error, pointer),
                );
                Row {
                    pointer: Some(pointer.to_owned()),
                    ..row
                }
            }
            Self::TooOld => {
                let reason = "the message is older than the inbox remembers";
                row(
                    Stage::Age,
                    BAD,
                    "delivery of a message that is too old",
                    reason,
                )
            }
            Self::Inbox(error) => row(Stage::Inbox, FAILED, "the inbox failed", error),
        }
    }
}

impl Row {
    pub(super) fn log(&self, kind: MessageKind, message_id: Option<HyphenatedUuid>) {
        let Self {
            event,
            header,
            findings,
            pointer,
            encryption_kid,
            ..
        } = self;
        let (message_id, stage) = (message_id.map(tracing::field::display), self.stage.as_str());
        let (header, pointer, encryption_kid) = (
            header.as_deref(),
            pointer.as_deref(),
            encryption_kid.as_deref(),
        );
        let reason = &*self.reason;
        if self.status.is_server_error() {
            tracing::error!(
                %kind, message_id, header, findings, pointer, encryption_kid, stage, reason,
                "{event}"
            );
        } else {
            tracing::warn!(
                %kind, message_id, header, findings, pointer, encryption_kid, stage, reason,
                "{event}"
            );
        }
    }

    /// Makes the answer: a constant body for a fault of the message and for one of this side,
    /// otherwise none.
    pub(super) fn answer(&self) -> Response<Body> {
        let (body, header) = match self.status {
            StatusCode::BAD_REQUEST => return json(self.status, REFUSED),
            StatusCode::INTERNAL_SERVER_ERROR => return json(self.status, FAILED),
            StatusCode::METHOD_NOT_ALLOWED => (Body::empty(), Some((ALLOW, "POST"))),
            // The rest of the body is not read, so the connection cannot be used again.
            StatusCode::PAYLOAD_TOO_LARGE | StatusCode::REQUEST_TIMEOUT => {
                (Body::empty(), Some((CONNECTION, "close")))
            }
            _ => (Body::empty(), None),
        };
        let mut response = Response::new(body);
        *response.status_mut() = self.status;
        if let Some((name, value)) = header {
            response
                .headers_mut()
                .insert(name, HeaderValue::from_static(value));
        }
        response
    }
}

/// Returns the reason why a message is refused, without any of its text.
fn why(error: &MessageError, pointer: &str) -> String {
    let text = match error {
        MessageError::Json(_) => "expected the JSON of a message, found other bytes".to_owned(),
        MessageError::BadValue { expected, .. } => format!("{pointer}: expected {expected}"),
        other => other.to_string(),
    };
    // The pointer to the whole message is empty.
    text.trim_start_matches(": ").to_owned()
}

/// Makes a JSON answer.
pub(super) fn json(status: StatusCode, body: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
