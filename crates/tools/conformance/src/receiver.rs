//! The judge of receivers.

mod answers;
mod forge;
mod messages;
mod rows;
mod session;

pub use session::ReceiverJudge;

use crate::client::{address, below, client};
use crate::error::{JudgeError, failed};
use crate::invented::{Invented, any_seed};
use crate::row::shown;
use crate::selection::RowSelection;
use bankrail_http::__private::BodyReader;
use bankrail_http::tls::{ClientCertificate, TlsRoots};
use bankrail_http::{Proxy, names};
use bankrail_jose::{EncryptionKey, SigningKey};
use bankrail_secured_payload::{SealOptions, Sealer, SecuredPayload};
use bankrail_values::{SecretString, causes, options};
use bankrail_webhook::headers::{CORRELATION_ID, MESSAGE_ID, PRIORITY, REQUEST_KEY};
use bankrail_webhook::{EachKind, MessageKind};
use bytes::Bytes;
use forge::Forge;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use reqwest::Url;
use serde_json::Value;
use std::time::Duration;

/// The maximum number of bytes of an answer that are read.
const MAX_ANSWER_BYTES: usize = 64 * 1024;
/// The maximum number of bytes of a list of handled messages that are read.
const MAX_LIST_BYTES: usize = 32 << 20;

options! {
    /// The options of a [`ReceiverJudge`](ReceiverJudge).
    #[derive(Clone, Debug)]
    pub struct ReceiverJudgeOptions {
        /// Sets the API key that the receivers expect. Default: none is sent.
        api_key(SecretString => Some): Option<SecretString> = None,
        /// Sets the header of the API key. Default: `apikey`.
        api_key_header: HeaderName = names::API_KEY,
        /// Sets another signing key of the provider, of 4096 bits, that the receivers know as well.
        /// Default: the row about it gets [`Verdict::NotSeen`](crate::Verdict::NotSeen).
        large_signing_key(SigningKey => Some): Option<SigningKey> = None,
        /// Sets the certificate authorities of the receivers. Default: those of the system.
        roots: TlsRoots = TlsRoots::Platform,
        /// Sets the client certificate for receivers that request one. Default: none.
        client_certificate(ClientCertificate => Some): Option<ClientCertificate> = None,
        /// Sets the proxy of calls. The proxy of the environment is never used. Default: none.
        proxy(Proxy => Some): Option<Proxy> = None,
        /// Sets the maximum time for an answer, and for the receivers to list handled messages.
        /// Default: 10 s.
        timeout: Duration = Duration::from_secs(10),
        /// Lets rows beyond SPEC.md fail as well, if true. Default: false, such rows are noted.
        strict: bool = false,
        /// Sets the seed of invented ids and texts, which are the same in each run with the same
        /// seed. Receivers know the messages of an earlier run with the same seed. Default: a
        /// random seed.
        seed: u32 = any_seed(),
        /// Sets a list of the messages that the receivers have handled: an address that begins with
        /// `https://`, or a file. The README describes the list. Default: rows about handling get
        /// [`Verdict::NotSeen`](crate::Verdict::NotSeen).
        handled(String => Some): Option<String> = None,
        /// Sets the rows to judge. Default: all.
        only: Vec<RowSelection> = Vec::new(),
    }
}

/// The addresses of the receivers, by kind of message. Receivers without one are not judged.
#[derive(Clone, Debug, Default)]
pub struct ReceiverAddresses(EachKind<Option<Url>>);

impl ReceiverAddresses {
    /// Returns every receiver, at the specification's path below one address.
    ///
    /// # Errors
    /// [`JudgeError::Address`] if the address cannot be called.
    pub fn below(base: &str) -> Result<Self, JudgeError> {
        let base = address(base)?;
        Ok(Self(EachKind::from_fn(|kind| {
            Some(below(&base, kind.default_path()))
        })))
    }

    /// Sets the address of the receiver of one kind.
    ///
    /// # Errors
    /// [`JudgeError::Address`] if the address cannot be called.
    pub fn with(mut self, kind: MessageKind, url: &str) -> Result<Self, JudgeError> {
        *self.0.get_mut(kind) = Some(address(url)?);
        Ok(self)
    }
}

/// The provider that the judge plays: its keys, and the receivers that it delivers to.
struct Provider {
    addresses: EachKind<Option<Url>>,
    client: reqwest::Client,
    timeout: Duration,
    api_key: Option<(HeaderName, HeaderValue)>,
    invented: Invented,
    forge: Forge,
    sealer: Sealer,
    /// The names of the signing key and of that of 4096 bits, if there is such a key.
    kids: Option<[Option<String>; 2]>,
}

/// A delivery, with a description of its difference from an ordinary one.
#[derive(Clone)]
struct Delivery {
    kind: MessageKind,
    what: String,
    method: Method,
    headers: HeaderMap,
    body: Bytes,
}

/// The answer to a delivery, or the reason why there is none.
type Reply = Result<Answer, String>;

/// An answer.
struct Answer {
    status: StatusCode,
    content_type: Option<String>,
    body: Vec<u8>,
}

impl Provider {
    fn new(
        addresses: ReceiverAddresses,
        signing_key: &SigningKey,
        encryption_key: &EncryptionKey,
        options: &ReceiverJudgeOptions,
    ) -> Result<Self, JudgeError> {
        let addresses = addresses.0;
        if addresses.iter().all(|(_, url)| url.is_none()) {
            return Err(JudgeError::NoAddress);
        }
        let large = options.large_signing_key.as_ref();
        if let Some(bits) = large.map(|key| key.verifying_key().public_key().bits())
            && bits != 4096
        {
            return Err(JudgeError::KeySize { bits });
        }
        let api_key = options.api_key.as_ref().map(|key| {
            let mut value =
                HeaderValue::try_from(key.expose_secret()).map_err(|_| JudgeError::ApiKey)?;
            // Marks the API key, so that the HTTP stack does not print it.
            value.set_sensitive(true);
            Ok::<_, JudgeError>((options.api_key_header.clone(), value))
        });
        Ok(Self {
            addresses,
            client: client(
                &options.roots,
                options.client_certificate.as_ref(),
                options.proxy.as_ref(),
                options.timeout,
            )?,
            timeout: options.timeout,
            api_key: api_key.transpose()?,
            invented: Invented::new(options.seed),
            forge: Forge::new(signing_key, large, encryption_key.clone())?,
            sealer: Sealer::new(
                signing_key.clone(),
                encryption_key.clone(),
                SealOptions::new(),
            ),
            kids: large
                .map(|large| [signing_key.kid(), large.kid()].map(|kid| kid.map(str::to_owned))),
        })
    }

    /// Returns a correct delivery of a message.
    fn sealed(
        &self,
        kind: MessageKind,
        what: &str,
        message: &Value,
    ) -> Result<Delivery, JudgeError> {
        let compact = self.sealer.seal(message.to_string().as_bytes());
        let compact = compact.map_err(failed)?;
        Ok(self.carried(kind, what, compact))
    }

    /// Returns a delivery with a text as its `secured_payload`.
    fn carried(&self, kind: MessageKind, what: &str, compact: String) -> Delivery {
        self.delivery(
            kind,
            what,
            SecuredPayload::new(compact).to_json().into_bytes(),
        )
    }

    /// Returns a delivery of a body, with the headers of the specification's table for a kind of
    /// message.
    fn delivery(
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

    async fn send(&self, delivery: &Delivery) -> Reply {
        let Some(url) = self.addresses.get(delivery.kind) else {
            return Err("no address".to_owned());
        };
        // The body of a GET has no meaning (RFC 9110 section 9.3.1), and a server may refuse the
        // request for it.
        let body = if delivery.method == Method::GET {
            Bytes::new()
        } else {
            delivery.body.clone()
        };
        let request = self
            .client
            .request(delivery.method.clone(), url.clone())
            .headers(delivery.headers.clone());
        self.hear(request.body(body), MAX_ANSWER_BYTES).await
    }

    /// Reads the text at an address.
    async fn get(&self, url: Url) -> Reply {
        self.hear(self.client.get(url), MAX_LIST_BYTES).await
    }

    async fn hear(&self, request: reqwest::RequestBuilder, max_bytes: usize) -> Reply {
        let seconds = self.timeout.as_secs();
        let answer = request.send().await.map_err(|error| {
            if error.is_timeout() {
                format!("none within {seconds} s")
            } else {
                causes(&error.without_url())
            }
        })?;
        let (head, body) = http::Response::<reqwest::Body>::from(answer).into_parts();
        // The answer of a receiver may be of any length.
        let mut reader = BodyReader::new(&head.headers, body);
        let body = reader.read_prefix(max_bytes, self.timeout).await;
        let body = body.map_err(|error| format!("half an answer: {}", causes(&error)))?;
        let content_type = head.headers.get(CONTENT_TYPE);
        Ok(Answer {
            status: head.status,
            content_type: content_type
                .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()),
            body: body.to_vec(),
        })
    }
}

impl Delivery {
    /// Returns the delivery with another description for verdicts.
    fn named(self, what: &str) -> Self {
        Self {
            what: what.to_owned(),
            ..self
        }
    }

    /// Returns the delivery with a header, which replaces others of the same name.
    fn with(mut self, name: &str, value: &str) -> Self {
        let name = HeaderName::from_bytes(name.as_bytes())
            .expect("the names of this program's headers are names");
        self.headers.insert(
            name,
            HeaderValue::try_from(value).expect("the values of this program have no line ends"),
        );
        self
    }

    /// Returns the `X-Message-Id` of the delivery.
    fn message_id(&self) -> &str {
        self.headers
            .get(MESSAGE_ID)
            .and_then(|id| id.to_str().ok())
            .unwrap_or_default()
    }

    /// Returns the delivery without a header.
    fn without(mut self, name: &str) -> Self {
        self.headers.remove(name);
        self
    }
}

impl Answer {
    /// Returns a member of the acknowledgement, if the answer is a JSON object with this member as
    /// text.
    fn member(&self, name: &str) -> Option<String> {
        let object: Value = serde_json::from_slice(&self.body).ok()?;
        object.get(name)?.as_str().map(str::to_owned)
    }

    /// Describes the answer by its status and the beginning of its body.
    fn describe(&self) -> String {
        match String::from_utf8_lossy(&self.body).as_ref() {
            "" => format!("{} without a body", self.status.as_u16()),
            body => format!("{} {}", self.status.as_u16(), shown(body)),
        }
    }
}

/// Describes the answer, or the reason why there is none.
fn describe(reply: &Reply) -> String {
    match reply {
        Ok(answer) => answer.describe(),
        Err(why) => format!("no answer: {why}"),
    }
}
