//! Request bodies, capped before they are kept.

use axum::body::Body;
use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_LENGTH;
use http_body_util::{BodyExt, LengthLimitError, Limited};

/// Why a body was not read.
#[derive(Debug)]
pub(crate) enum BodyError {
    /// More octets than the cap, announced or sent.
    TooLarge,
    /// The connection ended or broke before the body did.
    Broken,
}

/// Reads a body of at most `cap` octets. One that announces more is refused before its first octet is read, any other
/// at the octet that is one too many.
pub(crate) async fn read_capped(headers: &HeaderMap, body: Body, cap: usize) -> Result<Bytes, BodyError> {
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
            read_capped(&headers, Body::from(vec![b'x'; sent]), 8).await
        };
        assert_eq!(read(None, 8).await.unwrap().len(), 8);
        assert_eq!(read(Some("nonsense"), 8).await.unwrap().len(), 8);
        assert!(matches!(read(None, 9).await, Err(BodyError::TooLarge)));
        assert!(matches!(read(Some("9"), 0).await, Err(BodyError::TooLarge)));
        assert!(matches!(read(Some("99999999999999999999"), 9).await, Err(BodyError::TooLarge)));
    }
}
