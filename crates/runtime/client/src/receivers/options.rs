//! The checks of the receivers' options, and those options that are set in another way than by
//! their value.

use super::observe::{ObservedDelivery, Observer};
use super::{MaxAge, ReceiversOptions};
use bankrail_http::names::is_reserved;
#[cfg(doc)]
use bankrail_mailbox::Inbox;
use bankrail_values::SecretString;
use bankrail_webhook::MessageKind;
use http::HeaderName;
use std::time::Duration;

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

    /// Sets a function that is notified of each delivery after it was judged and stored, and before
    /// it is answered. The reports are for the operator and must not reach the sender. The function
    /// must not block. Default: none; the log has each refusal too.
    ///
    /// There is no notification if the sender closes the connection before.
    #[must_use]
    pub fn observe(mut self, observer: impl Fn(&ObservedDelivery) + Send + Sync + 'static) -> Self {
        self.observer = Some(Observer::new(observer));
        self
    }

    /// Returns the maximum age of a message with an inbox of this retention; `None` for any age.
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

/// The reason why [`Receivers`](super::Receivers) cannot be made from their API key and options.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReceiversOptionsError {
    /// The text is not the name of a header that an API key can be in.
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
    /// A path does not begin with a slash, has a pattern, or is another receiver's.
    #[error("expected a separate plain path for each receiver, found {found}")]
    Path {
        /// The text, cut and escaped.
        found: String,
    },
}
