//! Request bodies, capped before they are kept.

use axum::body::Body;
use bytes::Bytes;
use http::HeaderMap;
use http::header::{CONTENT_LENGTH, EXPECT};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use std::time::Duration;

/// Why a body was not read.
#[derive(Debug)]
pub(crate) enum BodyError {
    /// More octets than the cap, announced or sent.
    TooLarge,
    /// The connection ended or broke before the body did.
    Broken,
}

/// The most octets of a body that are read only to be thrown away, if its sender is known and if not.
const DRAINED: usize = 4 << 20;
const DRAINED_OF_STRANGERS: usize = 64 << 10;

/// How long that may take.
const DRAINING: Duration = Duration::from_secs(5);

/// The body of a request.
#[derive(Debug)]
pub(crate) struct RequestBody {
    body: Body,
    /// Whether there may be more that is worth reading.
    unread: bool,
}

impl RequestBody {
    pub(crate) fn new(headers: &HeaderMap, body: Body) -> Self {
        // A sender that waits to be told to continue has sent nothing yet (RFC 9110 section 10.1.1), and would be told so.
        Self { body, unread: !headers.contains_key(EXPECT) }
    }

    /// Reads a body of at most `cap` octets. One that announces more is refused before any of it is kept, any other at
    /// the octet that is one too many.
    pub(crate) async fn read_capped(&mut self, headers: &HeaderMap, cap: usize) -> Result<Bytes, BodyError> {
        let announced = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
        if announced.is_some_and(|length| usize::try_from(length).map_or(true, |length| length > cap)) {
            return Err(BodyError::TooLarge);
        }
        let read = Limited::new(&mut self.body, cap).collect().await;
        self.unread = read.as_ref().is_err_and(|error| error.is::<LengthLimitError>());
        match read {
            Ok(read) => Ok(read.to_bytes()),
            Err(_) if self.unread => Err(BodyError::TooLarge),
            Err(_) => Err(BodyError::Broken),
        }
    }

    /// Reads what is left, if the request was refused without it, up to a bound of octets and of time. More is read for a
    /// known sender: one whose API key is a customer's.
    ///
    /// A server that drops a body ends the stream with it, and then some clients lose the answer that came before: over
    /// HTTP/2 the whole answer is sent, then a reset without an error (RFC 9113 section 8.1), and curl 7.88 shows the
    /// reset. Beyond the bound that is theirs to bear.
    pub(crate) async fn drain(mut self, known_sender: bool) {
        if !self.unread {
            return;
        }
        let read = async {
            let mut left = if known_sender { DRAINED } else { DRAINED_OF_STRANGERS };
            while let Some(Ok(frame)) = self.body.frame().await {
                let Some(after) = left.checked_sub(frame.data_ref().map_or(0, Bytes::len)) else { return };
                left = after;
            }
        };
        // Whether it ended or not: nothing of it is wanted.
        let _ = tokio::time::timeout(DRAINING, read).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream;
    use http::HeaderValue;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[tokio::test(flavor = "current_thread")]
    async fn the_cap_holds_whatever_is_announced() {
        let read = |announced: Option<&'static str>, sent: usize| async move {
            let mut headers = HeaderMap::new();
            if let Some(length) = announced {
                headers.insert(CONTENT_LENGTH, HeaderValue::from_static(length));
            }
            RequestBody::new(&headers, Body::from(vec![b'x'; sent])).read_capped(&headers, 8).await
        };
        assert_eq!(read(None, 8).await.unwrap().len(), 8);
        assert_eq!(read(Some("nonsense"), 8).await.unwrap().len(), 8);
        assert!(matches!(read(None, 9).await, Err(BodyError::TooLarge)));
        assert!(matches!(read(Some("9"), 0).await, Err(BodyError::TooLarge)));
        assert!(matches!(read(Some("99999999999999999999"), 9).await, Err(BodyError::TooLarge)));
    }

    /// Many chunks of 1 KiB; one that is asked for after the end panics. Also says how many were taken.
    fn chunks(many: usize) -> (Body, Arc<AtomicUsize>) {
        let taken = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&taken);
        let body = stream::unfold(many, move |left| {
            counted.fetch_add(usize::from(left > 0), Ordering::SeqCst);
            let chunk = Ok::<_, std::io::Error>(Bytes::from_static(&[b'x'; 1024]));
            std::future::ready(left.checked_sub(1).map(|left| (chunk, left)))
        });
        (Body::from_stream(body), taken)
    }

    #[tokio::test(flavor = "current_thread")]
    async fn draining_ends_at_the_body_or_at_the_bound() {
        for (known, many, read) in [(false, 3, 3), (false, 5000, 64 + 1), (true, 5000, 4096 + 1)] {
            let (body, taken) = chunks(many);
            RequestBody::new(&HeaderMap::new(), body).drain(known).await;
            assert_eq!(taken.load(Ordering::SeqCst), read);
        }
    }

    #[tokio::test(flavor = "current_thread")]
    async fn what_was_read_to_its_end_or_waits_to_be_asked_for_is_not_drained() {
        let none = HeaderMap::new();
        let mut read = RequestBody::new(&none, chunks(3).0);
        assert_eq!(read.read_capped(&none, 4096).await.unwrap().len(), 3072);
        read.drain(true).await;

        let (body, taken) = chunks(5);
        let mut too_large = RequestBody::new(&none, body);
        assert!(matches!(too_large.read_capped(&none, 1024).await, Err(BodyError::TooLarge)));
        assert_eq!(taken.load(Ordering::SeqCst), 2);
        too_large.drain(true).await;
        assert_eq!(taken.load(Ordering::SeqCst), 5);

        let waiting = HeaderMap::from_iter([(EXPECT, HeaderValue::from_static("100-continue"))]);
        let (body, taken) = chunks(5);
        RequestBody::new(&waiting, body).drain(true).await;
        assert_eq!(taken.load(Ordering::SeqCst), 0);
    }
}
