//! One delivery, as the judge makes it, and what is heard in return.

use crate::client::{address, below};
use crate::error::JudgeError;
use crate::invented::Invented;
use bankrail_http::BodyReader;
use bankrail_values::{causes, excerpt};
use bankrail_webhook::headers::{CORRELATION_ID, MESSAGE_ID, PRIORITY, REQUEST_KEY};
use bankrail_webhook::{EachKind, MessageKind};
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use reqwest::Url;
use serde_json::Value;
use std::time::Duration;

/// How long a receiver has to answer.
pub(super) const TIMEOUT: Duration = Duration::from_secs(10);
/// The bytes of an answer that are read, and those of a list of what was handled.
const MOST: usize = 64 * 1024;
const LIST: usize = 32 << 20;

/// The addresses of the receivers, by kind of message. Receivers without one are not judged.
#[derive(Clone, Debug, Default)]
pub struct ReceiverAddresses(pub(super) EachKind<Option<Url>>);

impl ReceiverAddresses {
    /// Every receiver, at the specification's path below one address.
    ///
    /// # Errors
    /// [`JudgeError::Address`].
    pub fn below(base: &str) -> Result<Self, JudgeError> {
        let base = address(base)?;
        Ok(Self(EachKind::from_fn(|kind| {
            Some(below(&base, kind.default_path()))
        })))
    }

    /// The receiver of one kind at an address of its own.
    ///
    /// # Errors
    /// [`JudgeError::Address`].
    pub fn with(mut self, kind: MessageKind, url: &str) -> Result<Self, JudgeError> {
        *self.0.get_mut(kind) = Some(address(url)?);
        Ok(self)
    }
}

/// The receivers.
pub(super) struct Target {
    pub(super) addresses: EachKind<Option<Url>>,
    pub(super) client: reqwest::Client,
    pub(super) api_key: Option<(HeaderName, HeaderValue)>,
    pub(super) invented: Invented,
}

/// A delivery, with what tells it from an ordinary one.
#[derive(Clone)]
pub(super) struct Delivery {
    pub(super) kind: MessageKind,
    pub(super) what: String,
    method: Method,
    headers: HeaderMap,
    body: Bytes,
}

/// What a receiver answered.
pub(super) enum Heard {
    Answer(Answer),
    /// There was no answer, and why.
    Nothing(String),
}

/// An answer.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) content_type: Option<String>,
    pub(super) body: Vec<u8>,
}

impl Target {
    /// A delivery of a body, with the headers of the specification's table for this kind.
    pub(super) fn delivery(
        &self,
        kind: MessageKind,
        what: impl Into<String>,
        body: impl Into<Bytes>,
    ) -> Delivery {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.extend(self.api_key.clone());
        let delivery = Delivery {
            kind,
            what: what.into(),
            method: Method::POST,
            headers,
            body: body.into(),
        };
        let id = || self.invented.uuid().to_string();
        let delivery = delivery
            .with(MESSAGE_ID, &id())
            .with(PRIORITY, "UNATTENDED");
        if kind.answers_a_request() {
            delivery
                .with(REQUEST_KEY, &id())
                .with(CORRELATION_ID, &id())
        } else {
            delivery
        }
    }

    pub(super) async fn send(&self, delivery: &Delivery) -> Heard {
        let Some(url) = self.addresses.get(delivery.kind) else {
            return Heard::Nothing("no address".to_owned());
        };
        let body = if delivery.method == Method::GET {
            Bytes::new()
        } else {
            delivery.body.clone()
        };
        let request = self
            .client
            .request(delivery.method.clone(), url.clone())
            .headers(delivery.headers.clone());
        Self::hear(request.body(body), MOST).await
    }

    /// What is at an address.
    pub(super) async fn get(&self, url: Url) -> Heard {
        Self::hear(self.client.get(url), LIST).await
    }

    async fn hear(request: reqwest::RequestBuilder, most: usize) -> Heard {
        let answer = match request.send().await {
            Ok(answer) => answer,
            Err(error) => return Heard::Nothing(reason(error)),
        };
        let (head, body) = http::Response::<reqwest::Body>::from(answer).into_parts();
        match BodyReader::new(&head.headers, body)
            .read_prefix(most, TIMEOUT)
            .await
        {
            Ok(body) => Heard::Answer(Answer {
                status: head.status,
                content_type: head
                    .headers
                    .get(CONTENT_TYPE)
                    .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()),
                body: body.to_vec(),
            }),
            Err(error) => Heard::Nothing(format!("half an answer: {}", causes(&error))),
        }
    }
}

impl Delivery {
    /// Under another name in verdicts.
    pub(super) fn named(self, what: &str) -> Self {
        Self {
            what: what.to_owned(),
            ..self
        }
    }

    /// With this header, in place of others of its name.
    pub(super) fn with(mut self, name: &str, value: &str) -> Self {
        let name = HeaderName::from_bytes(name.as_bytes())
            .expect("the names of this program's headers are names");
        self.headers.insert(
            name,
            HeaderValue::try_from(value).expect("the values of this program have no line ends"),
        );
        self
    }

    /// With another version in the UUID of this header.
    pub(super) fn of_version(self, name: &str, version: &str) -> Self {
        let mut id = self
            .headers
            .get(name)
            .and_then(|id| id.to_str().ok())
            .unwrap_or_default()
            .to_owned();
        id.replace_range(14..15, version);
        self.with(name, &id)
    }

    /// Its X-Message-Id.
    pub(super) fn message_id(&self) -> &str {
        self.headers
            .get(MESSAGE_ID)
            .and_then(|id| id.to_str().ok())
            .unwrap_or_default()
    }

    /// Without this header.
    pub(super) fn without(mut self, name: &str) -> Self {
        self.headers.remove(name);
        self
    }

    /// With this method; GET has no body.
    pub(super) fn method(mut self, method: Method) -> Self {
        self.method = method;
        self
    }
}

impl Answer {
    /// The acknowledgement's member, if the answer is a JSON object that has it as text.
    pub(super) fn member(&self, name: &str) -> Option<String> {
        let object: Value = serde_json::from_slice(&self.body).ok()?;
        object.get(name)?.as_str().map(str::to_owned)
    }

    /// The status, and the beginning of the body.
    pub(super) fn describe(&self) -> String {
        match String::from_utf8_lossy(&self.body).as_ref() {
            "" => format!("{} without a body", self.status.as_u16()),
            body => format!("{} {}", self.status.as_u16(), excerpt(body)),
        }
    }
}

impl Heard {
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Answer(answer) => answer.describe(),
            Self::Nothing(why) => format!("no answer: {why}"),
        }
    }
}

/// Why there is no answer, without the address.
fn reason(error: reqwest::Error) -> String {
    if error.is_timeout() {
        return format!("none within {} s", TIMEOUT.as_secs());
    }
    causes(&error.without_url())
}
