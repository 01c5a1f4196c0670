//! Request bodies, capped before they are kept.

use axum::body::Body;
use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_LENGTH;
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

/// The most octets of a body that are read only to be thrown away.
const DRAINED: usize = 64 * 1024;

/// How long that may take.
const DRAINING: Duration = Duration::from_secs(5);

/// Reads what is left of the body of a request that was refused without it, up to a bound of octets and of time.
///
/// A server that drops a body ends the stream with it, and then some clients lose the answer that came before.
pub(crate) async fn drain(mut body: Body) {
    let read = async {
        let mut left = DRAINED;
        while let Some(Ok(frame)) = body.frame().await {
            let Some(after) = left.checked_sub(frame.data_ref().map_or(0, Bytes::len)) else { return };
            left = after;
        }
    };
    // Whether it ended or not: nothing of it is wanted.
    let _ = tokio::time::timeout(DRAINING, read).await;
}

/// Reads a body of at most `cap` octets. One that announces more is refused before any of it is kept, any other at the
/// octet that is one too many.
pub(crate) async fn read_capped(headers: &HeaderMap, body: &mut Body, cap: usize) -> Result<Bytes, BodyError> {
    let announced = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| usize::try_from(length).map_or(true, |length| length > cap)) {
        return Err(BodyError::TooLarge);
    }
    match Limited::new(body, cap).collect().await {
        Ok(read) => Ok(read.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(BodyError::TooLarge),
        Err(_) => Err(BodyError::Broken),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[tokio::test(flavor = "current_thread")]
    async fn the_cap_holds_whatever_is_announced() {
        let read = |announced: Option<&'static str>, sent: usize| async move {
            let mut headers = HeaderMap::new();
            if let Some(length) = announced {
                headers.insert(CONTENT_LENGTH, HeaderValue::from_static(length));
            }
            read_capped(&headers, &mut Body::from(vec![b'x'; sent]), 8).await
        };
        assert_eq!(read(None, 8).await.unwrap().len(), 8);
        assert_eq!(read(Some("nonsense"), 8).await.unwrap().len(), 8);
        assert!(matches!(read(None, 9).await, Err(BodyError::TooLarge)));
        assert!(matches!(read(Some("9"), 0).await, Err(BodyError::TooLarge)));
        assert!(matches!(read(Some("99999999999999999999"), 9).await, Err(BodyError::TooLarge)));
    }

    #[tokio::test(flavor = "current_thread")]
    async fn draining_ends_at_the_body_or_at_the_bound() {
        use futures_util::stream;
        use std::sync::Arc;
        use std::sync::atomic::{AtomicUsize, Ordering};
        for (chunks, read) in [(3, 3), (1000, DRAINED / 1024 + 1)] {
            let taken = Arc::new(AtomicUsize::new(0));
            let counted = Arc::clone(&taken);
            let chunk = move |_| {
                counted.fetch_add(1, Ordering::SeqCst);
                Ok::<_, std::io::Error>(Bytes::from_static(&[b'x'; 1024]))
            };
            drain(Body::from_stream(stream::iter((0..chunks).map(chunk)))).await;
            assert_eq!(taken.load(Ordering::SeqCst), read);
        }
    }
}
