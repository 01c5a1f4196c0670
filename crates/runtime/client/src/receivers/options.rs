//! Options of the receivers.

use super::keys::SenderKeys;
use super::observe::{ObservedDelivery, Observer};
use crate::Archive;
use bankrail_http::HeadBounds;
use bankrail_http::names::{API_KEY, is_reserved};
#[cfg(doc)]
use bankrail_mailbox::Inbox;
use bankrail_secured_payload::SecuredPayload;
use bankrail_values::{Clock, SecretString, SystemClock};
use bankrail_webhook::{EachKind, MessageKind, MessageReadOptions};
use http::HeaderName;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

bankrail_values::options! {
    /// Options of [`Receivers`](super::Receivers).
    #[derive(Clone, Debug)]
    pub struct ReceiversOptions {
        /// The header that carries the API key. Default: `apikey` (Default: "Webhooks").
        api_key_header(into): String = API_KEY.as_str().to_owned(),
        /// The clock of arrival times, ages and leases. Default: the system's.
        pub(super) clock: Arc<dyn Clock> = Arc::new(SystemClock),
        /// A name that distinguishes customers who share an inbox. It is part of every duplicate
        /// key. Default: empty.
        pub(super) scope(into): String = String::new(),
        /// The most bytes of a request body. Default: [`SecuredPayload::DEFAULT_MAX_JSON_BYTES`],
        /// enough for the longest message that a sender seals by default.
        pub(super) max_body_bytes: usize = SecuredPayload::DEFAULT_MAX_JSON_BYTES,
        /// The maximum time in which a body has to arrive. Default: 15 s, the time that a sender
        /// waits for the answer.
        pub(super) body_timeout: Duration = Duration::from_secs(15),
        /// The bounds on the address and the headers of a request to the router; longer ones are
        /// answered 414 and 431 without a body. The server must allow more, so that it does not
        /// answer by itself. Default: [`HeadBounds::default`].
        pub(super) head_bounds: HeadBounds = HeadBounds::default(),
        /// The maximum number of payloads that are decrypted at once. Default: the number of cores.
        /// It has no effect on remote keys.
        pub(super) concurrency(NonZeroUsize => Some): Option<NonZeroUsize> = None,
        /// The retention of messages after they were handled. Default: without end, unless the
        /// inbox has a retention ([`Inbox::retention`]).
        ///
        /// Once an hour, a worker forgets those that were handled longer ago than this and
        /// [`EXPIRY_GRACE`](bankrail_values::EXPIRY_GRACE) ([`Inbox::forget`]). A forgotten message
        /// that is delivered again counts as new, unless it is too old
        /// ([`ReceiversOptions::max_age`]).
        pub(super) retention(Duration => Some): Option<Duration> = None,
        /// The source of the sender's verifying keys. When a message with any `kid` is
        /// rejected, the source reads new keys; if there are some, the message is opened once more.
        /// Default: none; such a message is refused.
        ///
        /// Give the opener the keys of the same source: it may be a
        /// [`KeyFolder`](super::keys::KeyFolder) or, with the feature `jwks-url`, a `JwksUrl`.
        pub(super) sender_keys(Arc<dyn SenderKeys> => Some): Option<Arc<dyn SenderKeys>> = None,
        /// The archive for the bodies of deliveries that have the API key and are refused with a
        /// status from 400 to 499, each with the reason. Default: nowhere.
        pub(super) archive(Archive => Some): Option<Archive> = None,
        /// The maximum age of a message: one whose `creation_date_time` is longer ago is refused
        /// with 400. At most the retention, so that a forgotten message cannot be handled again.
        /// `None`: messages of any age are accepted.
        ///
        /// Default: the shorter of [`ReceiversOptions::retention`] and [`Inbox::retention`];
        /// without either, any age. A sender that resends a message later regenerates it, with a
        /// new `creation_date_time`.
        max_age(Option<Duration> => |age| age.map_or(MaxAge::Any, MaxAge::Of)): MaxAge = MaxAge::AsRetention,
        ;
        pub(super) other_api_keys: Vec<SecretString> = Vec::new(),
        pub(super) paths: EachKind<String> = EachKind::from_fn(|kind| kind.default_path().to_owned()),
        pub(super) read: MessageReadOptions = MessageReadOptions::default(),
        pub(super) observer: Option<Observer> = None,
    }
}

#[derive(Clone, Copy, Debug)]
enum MaxAge {
    AsRetention,
    Any,
    Of(Duration),
}

impl ReceiversOptions {
    /// Accepts a further API key, while the sender changes from one to the other.
    #[must_use]
    pub fn also_api_key(mut self, api_key: impl Into<SecretString>) -> Self {
        self.other_api_keys.push(api_key.into());
        self
    }

    /// Sets the path of a receiver. Defaults: [`MessageKind::default_path`].
    #[must_use]
    pub fn path(mut self, kind: MessageKind, path: impl Into<String>) -> Self {
        *self.paths.get_mut(kind) = path.into();
        self
    }

    /// Sets the options for reading messages. Default: tolerant.
    #[must_use]
    pub fn read_options(mut self, options: MessageReadOptions) -> Self {
        self.read = options;
        self
    }

    /// Sets a function that is notified of each delivery after it was judged and stored, and before
    /// it is answered. For the operator: nothing of it may reach the sender. It must not block.
    /// Default: none; the log has each refusal too.
    ///
    /// The function is not notified of a delivery whose sender hung up before.
    #[must_use]
    pub fn observe(mut self, tell: impl Fn(&ObservedDelivery) + Send + Sync + 'static) -> Self {
        self.observer = Some(Observer::new(tell));
        self
    }

    /// The maximum age of a message with an inbox of this retention; `None` for any age.
    pub(super) fn checked_max_age(
        &self,
        inbox: Option<Duration>,
    ) -> Result<Option<Duration>, ReceiversOptionsError> {
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
    pub(super) fn checked(
        &self,
        api_key: &SecretString,
    ) -> Result<HeaderName, ReceiversOptionsError> {
        let key_header = HeaderName::try_from(self.api_key_header.as_str())
            .ok()
            .filter(|name| !is_reserved(name));
        let found = || bankrail_values::excerpt(&self.api_key_header);
        let key_header =
            key_header.ok_or_else(|| ReceiversOptionsError::HeaderName { found: found() })?;
        if self
            .other_api_keys
            .iter()
            .chain([api_key])
            .any(|key| key.expose_secret().is_empty())
        {
            return Err(ReceiversOptionsError::EmptyApiKey);
        }
        for (at, (_, path)) in self.paths.iter().enumerate() {
            let plain = path.starts_with('/') && !path.contains(['{', '}', '*', ':', '?', '#']);
            if !plain
                || self
                    .paths
                    .iter()
                    .take(at)
                    .any(|(_, earlier)| earlier == path)
            {
                return Err(ReceiversOptionsError::Path {
                    found: bankrail_values::excerpt(path),
                });
            }
        }
        Ok(key_header)
    }
}

/// The reason for which [`Receivers`](super::Receivers) cannot be made from their API key and
/// options.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReceiversOptionsError {
    /// Not the name of a header that an API key can be in.
    #[error("expected the name of a header for an API key, found {found}")]
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
    #[error("expected a separate plain path for each receiver, found {found}")]
    Path {
        /// The text, cut and escaped.
        found: String,
    },
}
