//! Options of the receivers.

use super::keys::SenderKeys;
use super::observe::{ObservedDelivery, Observer};
use bankrail_http::HeadBounds;
use bankrail_http::names::API_KEY;
#[cfg(doc)]
use bankrail_mailbox::Inbox;
use bankrail_secured_payload::SecuredPayload;
use bankrail_values::{Clock, SecretString, SystemClock};
use bankrail_webhook::{MessageKind, MessageReadOptions};
use http::HeaderName;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

/// Options of [`Receivers`](super::Receivers).
#[derive(Clone, Debug)]
pub struct ReceiversOptions {
    api_key_header: String,
    pub(super) other_api_keys: Vec<SecretString>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) scope: String,
    pub(super) paths: [String; MessageKind::ALL.len()],
    pub(super) max_bytes: usize,
    pub(super) body_timeout: Duration,
    pub(super) head_bounds: HeadBounds,
    pub(super) read: MessageReadOptions,
    pub(super) concurrency: Option<NonZeroUsize>,
    pub(super) retention: Option<Duration>,
    pub(super) sender_keys: Option<Arc<dyn SenderKeys>>,
    pub(super) observer: Option<Observer>,
    max_age: MaxAge,
}

#[derive(Clone, Copy, Debug)]
enum MaxAge {
    AsRetention,
    Any,
    Of(Duration),
}

impl Default for ReceiversOptions {
    fn default() -> Self {
        Self {
            api_key_header: API_KEY.as_str().to_owned(),
            other_api_keys: Vec::new(),
            clock: Arc::new(SystemClock),
            scope: String::new(),
            paths: MessageKind::ALL.map(|kind| kind.default_path().to_owned()),
            max_bytes: SecuredPayload::DEFAULT_MAX_JSON,
            body_timeout: Duration::from_secs(15),
            head_bounds: HeadBounds::default(),
            read: MessageReadOptions::default(),
            concurrency: None,
            retention: None,
            sender_keys: None,
            observer: None,
            max_age: MaxAge::AsRetention,
        }
    }
}

impl ReceiversOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The header that carries the API key. Default: `apikey` (Default: "Webhooks").
    #[must_use]
    pub fn api_key_header(mut self, name: impl Into<String>) -> Self {
        self.api_key_header = name.into();
        self
    }

    /// Accepts a further API key, while the sender changes from one to the other.
    #[must_use]
    pub fn also_api_key(mut self, api_key: impl Into<SecretString>) -> Self {
        self.other_api_keys.push(api_key.into());
        self
    }

    /// The path of a receiver. Defaults: [`MessageKind::default_path`].
    #[must_use]
    pub fn path(mut self, kind: MessageKind, path: impl Into<String>) -> Self {
        if let Some((_, own)) = MessageKind::ALL.into_iter().zip(&mut self.paths).find(|(own, _)| *own == kind) {
            *own = path.into();
        }
        self
    }

    /// A name that distinguishes customers who share an inbox. It is part of every duplicate key. Default: empty.
    #[must_use]
    pub fn scope(mut self, scope: impl Into<String>) -> Self {
        self.scope = scope.into();
        self
    }

    /// The most bytes of a request body. Default: [`SecuredPayload::DEFAULT_MAX_JSON`], enough for the longest message
    /// that a sender seals by default.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// How long a body may take to arrive. Default: 15 s, the time that a sender waits for the answer.
    #[must_use]
    pub fn body_timeout(mut self, longest: Duration) -> Self {
        self.body_timeout = longest;
        self
    }

    /// How long the address and the headers of a request to the router may be; longer ones are answered 414 and 431
    /// without a body. The server must allow more, so that it does not answer by itself. Default:
    /// [`HeadBounds::default`].
    #[must_use]
    pub fn head_bounds(mut self, bounds: HeadBounds) -> Self {
        self.head_bounds = bounds;
        self
    }

    /// How messages are read. Default: tolerant.
    #[must_use]
    pub fn read_options(mut self, options: MessageReadOptions) -> Self {
        self.read = options;
        self
    }

    /// The most payloads that are decrypted at once. Default: as many as there are cores. It has no effect on
    /// remote keys.
    #[must_use]
    pub fn concurrency(mut self, payloads: NonZeroUsize) -> Self {
        self.concurrency = Some(payloads);
        self
    }

    /// How long messages are kept after they were handled. Default: for ever, unless the inbox has a retention
    /// ([`Inbox::retention`]).
    ///
    /// Once an hour, a worker forgets those that were handled longer ago than this and
    /// [`EXPIRY_GRACE`](bankrail_values::EXPIRY_GRACE) ([`Inbox::forget`]). A forgotten message that is delivered again
    /// counts as new, unless it is too old ([`ReceiversOptions::max_age`]).
    #[must_use]
    pub fn retention(mut self, retention: Duration) -> Self {
        self.retention = Some(retention);
        self
    }

    /// The maximum age of a message: one whose `creation_date_time` is longer ago is refused with 400. At most the
    /// retention, so that a forgotten message cannot be handled again. `None`: messages of any age are accepted.
    ///
    /// Default: the shorter of [`ReceiversOptions::retention`] and [`Inbox::retention`]; without either, any age. A
    /// sender that resends a message later regenerates it, with a new `creation_date_time`.
    #[must_use]
    pub fn max_age(mut self, age: Option<Duration>) -> Self {
        self.max_age = age.map_or(MaxAge::Any, MaxAge::Of);
        self
    }

    /// The source of the sender's verifying keys. When a message is signed under an unknown `kid`, it is asked for new
    /// keys, and if it has read some, the message is opened once more. Default: none; such a message is refused.
    ///
    /// Give the opener the keys of the same source: it may be a [`KeyFolder`](super::keys::KeyFolder) or, with the
    /// feature `jwks-url`, a `JwksUrl`.
    #[must_use]
    pub fn sender_keys(mut self, keys: Arc<dyn SenderKeys>) -> Self {
        self.sender_keys = Some(keys);
        self
    }

    /// A function that is told what became of each delivery, after it was judged and stored and before it is answered.
    /// For the operator: nothing of it may reach the sender. It must not block. Default: none; the log has each refusal
    /// too.
    ///
    /// It is not told of a delivery whose sender hung up before.
    #[must_use]
    pub fn observe(mut self, tell: impl Fn(&ObservedDelivery) + Send + Sync + 'static) -> Self {
        self.observer = Some(Observer::new(tell));
        self
    }

    /// The clock of arrival times, ages and leases. Default: the system's.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// The maximum age of a message with an inbox of this retention; `None` for any age.
    pub(super) fn checked_max_age(&self, inbox: Option<Duration>) -> Result<Option<Duration>, ReceiversOptionsError> {
        let retention = [self.retention, inbox].into_iter().flatten().min();
        match (self.max_age, retention) {
            (MaxAge::Any, _) => Ok(None),
            (MaxAge::AsRetention, retention) => Ok(retention),
            (MaxAge::Of(found), Some(retention)) if found > retention => {
                Err(ReceiversOptionsError::MaxAge { retention, found })
            }
            (MaxAge::Of(age), _) => Ok(Some(age)),
        }
    }

    /// Checks the options with this key, and returns the header of the API key.
    pub(super) fn checked(&self, api_key: &SecretString) -> Result<HeaderName, ReceiversOptionsError> {
        let key_header = HeaderName::try_from(self.api_key_header.as_str())
            .map_err(|_| ReceiversOptionsError::HeaderName { found: bankrail_values::excerpt(&self.api_key_header) })?;
        if self.other_api_keys.iter().chain([api_key]).any(|key| key.expose_secret().is_empty()) {
            return Err(ReceiversOptionsError::EmptyApiKey);
        }
        for (at, path) in self.paths.iter().enumerate() {
            let plain = path.starts_with('/') && !path.contains(['{', '}', '*', ':', '?', '#']);
            if !plain || self.paths.iter().take(at).any(|earlier| earlier == path) {
                return Err(ReceiversOptionsError::Path { found: bankrail_values::excerpt(path) });
            }
        }
        Ok(key_header)
    }
}

/// Why [`Receivers`](super::Receivers) cannot be made from their API key and options.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReceiversOptionsError {
    /// Not the name of a header.
    #[error("expected the name of a header, found {found}")]
    HeaderName {
        /// The text, cut and escaped.
        found: String,
    },
    /// The maximum age of a message exceeds the retention: a forgotten message would be accepted.
    #[error("expected a maximum age of at most the retention of {retention:?}, found {found:?}")]
    MaxAge {
        /// The shorter of [`ReceiversOptions::retention`] and [`Inbox::retention`].
        retention: Duration,
        /// [`ReceiversOptions::max_age`].
        found: Duration,
    },
    /// An API key is empty, which an empty header would match.
    #[error("expected an API key, found an empty text")]
    EmptyApiKey,
    /// A path does not begin with a slash, has a pattern in it, or is another receiver's.
    #[error("expected a plain path of its own for each receiver, found {found}")]
    Path {
        /// The text, cut and escaped.
        found: String,
    },
}
