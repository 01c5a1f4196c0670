//! Reading bodies up to a number of bytes and within a time.

use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http::header::{CONTENT_LENGTH, EXPECT};
use http_body::Body;
use std::error::Error;
use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;
use tokio::time::timeout;

/// Reads the body of a request or an answer.
///
/// - Reading is bounded in bytes and in time.
/// - A refused body can be drained. A server that drops an unread body also ends the stream, and
///   some clients then lose the answer. Over HTTP/2 the whole answer is sent, then a reset without
///   an error (RFC 9113 section 8.1), which curl 7.88 reports instead of the answer.
#[derive(Debug)]
pub struct BodyReader<B> {
    body: B,
    /// The `Content-Length`.
    announced: Option<u64>,
    /// True if [`BodyReader::drain`] reads the rest.
    unread: bool,
}

/// The maximum time of draining the unread body of a refused request.
pub const DRAINING: Duration = Duration::from_secs(5);

/// The peer whose unread body is drained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums)] // it is one or the other
pub enum Peer {
    /// A peer that has presented a known API key: up to 4 MiB are read.
    Known,
    /// A peer without a known API key: up to 64 KiB are read.
    Unknown,
}

/// The reason why a body was not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BodyError {
    /// The `Content-Length` or the body is larger than allowed.
    #[error("expected at most {limit} bytes, found more")]
    TooLarge {
        /// The maximum number of bytes allowed.
        limit: usize,
    },
    /// The body did not arrive in time.
    #[error("the body did not arrive within {after:?}")]
    TimedOut {
        /// The time allowed.
        after: Duration,
    },
    /// The connection ended or broke before the end of the body.
    #[error("the connection broke before the body was complete")]
    Broken(#[source] Box<dyn Error + Send + Sync>),
}

impl<B> BodyReader<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    /// Makes a reader of the body of a message with these headers. Pin a body that is not `Unpin`
    /// in a box.
    pub fn new(headers: &HeaderMap, body: B) -> Self {
        let announced = headers
            .get(CONTENT_LENGTH)
            .and_then(|value| value.to_str().ok());
        // A number that does not fit is above any limit; a value that is not a number is ignored.
        let announced = announced
            .filter(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()))
            // A length that is no number of 64 bits counts as too large.
            .map(|text| text.parse().unwrap_or(u64::MAX));
        // A sender that waits for 100 (Continue) has sent nothing yet (RFC 9110 section 10.1.1),
        // and reading would request it to continue.
        Self {
            body,
            announced,
            unread: !headers.contains_key(EXPECT),
        }
    }

    /// Reads a body of at most `limit` bytes within a time.
    ///
    /// - A body with a larger `Content-Length` is refused before any of it is read, any other at
    ///   the first byte beyond the limit.
    /// - A body that arrives in one piece is not copied.
    ///
    /// # Errors
    /// [`BodyError`] if the body is too large, does not arrive in time, or the connection breaks.
    pub async fn read(&mut self, limit: usize, within: Duration) -> Result<Bytes, BodyError> {
        let (mut first, mut all) = (Bytes::new(), BytesMut::new());
        self.read_each(limit, within, |piece| {
            if first.is_empty() && all.is_empty() {
                first = piece;
            } else {
                all.extend_from_slice(&std::mem::take(&mut first));
                all.extend_from_slice(&piece);
            }
        })
        .await?;
        Ok(if all.is_empty() { first } else { all.freeze() })
    }

    /// Reads as [`BodyReader::read`] does, and passes each piece to `keep` as it arrives. The
    /// pieces before an error have been passed.
    ///
    /// # Errors
    /// As [`BodyReader::read`].
    pub async fn read_each(
        &mut self,
        limit: usize,
        within: Duration,
        mut keep: impl FnMut(Bytes),
    ) -> Result<(), BodyError> {
        if self
            .announced
            .is_some_and(|length| usize::try_from(length).map_or(true, |length| length > limit))
        {
            return Err(BodyError::TooLarge { limit });
        }
        let mut left = limit;
        let read = async {
            while let Some(piece) = next_piece(&mut self.body).await? {
                left = left
                    .checked_sub(piece.len())
                    .ok_or(BodyError::TooLarge { limit })?;
                keep(piece);
            }
            Ok(())
        };
        // One deadline for the whole body: a peer that sends a byte now and then is cut off.
        let read = timeout(within, read)
            .await
            .unwrap_or(Err(BodyError::TimedOut { after: within }));
        // A body that broke or took too long is not drained.
        self.unread = matches!(read, Err(BodyError::TooLarge { .. }));
        read
    }

    /// Reads the first `limit` bytes, or all if there are fewer. The rest is not read.
    ///
    /// # Errors
    /// [`BodyError::Broken`] if the connection breaks, [`BodyError::TimedOut`] if the bytes do not
    /// arrive in time.
    pub async fn read_prefix(
        &mut self,
        limit: usize,
        within: Duration,
    ) -> Result<Bytes, BodyError> {
        let mut prefix = BytesMut::new();
        let read = async {
            while prefix.len() < limit
                && let Some(piece) = next_piece(&mut self.body).await?
            {
                let room = limit.saturating_sub(prefix.len());
                prefix.extend_from_slice(piece.get(..room).unwrap_or(&piece));
            }
            Ok(())
        };
        timeout(within, read)
            .await
            .unwrap_or(Err(BodyError::TimedOut { after: within }))?;
        Ok(prefix.freeze())
    }

    /// Reads and drops the rest of a body: at most the bytes that [`Peer`] states, within a time.
    /// Nothing is read if the body was read to its end, broke or took too long, or if its sender
    /// waits for 100 (Continue).
    pub async fn drain(mut self, peer: Peer, within: Duration) {
        if !self.unread {
            return;
        }
        let read = async {
            let mut left: usize = match peer {
                Peer::Known => 4 << 20,
                Peer::Unknown => 64 << 10,
            };
            while let Ok(Some(piece)) = next_piece(&mut self.body).await {
                let Some(after) = left.checked_sub(piece.len()) else {
                    return;
                };
                left = after;
            }
        };
        // A failure to drain is ignored, because the request is refused already.
        let _ = timeout(within, read).await;
    }
}

/// Returns the next piece of data, without trailers; `None` at the end.
async fn next_piece<B>(body: &mut B) -> Result<Option<Bytes>, BodyError>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    while let Some(frame) = poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await {
        if let Ok(data) = frame
            .map_err(|error| BodyError::Broken(error.into()))?
            .into_data()
        {
            return Ok(Some(data));
        }
    }
    Ok(None)
}
