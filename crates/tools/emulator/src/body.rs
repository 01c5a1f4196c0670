//! Bodies that arrive slowly, cut off, compressed or too long.

use axum::body::Body;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::stream;
use std::io::{self, Write as _};
use std::time::Duration;

/// The length of the pieces of an endless body, in bytes.
const PIECE_BYTES: usize = 64 * 1024;

fn broken() -> io::Error {
    io::ErrorKind::ConnectionReset.into()
}

/// Returns a body that breaks the connection before a byte is sent.
pub(crate) fn reset() -> Body {
    Body::from_stream(stream::once(async { Err::<Bytes, _>(broken()) }))
}

/// Returns a body that breaks the connection after its first half.
pub(crate) fn half(mut body: Bytes) -> Body {
    body.truncate(body.len() / 2);
    Body::from_stream(stream::unfold(Some(body), |left| async move {
        match left {
            Some(half) if !half.is_empty() => Some((Ok(half), Some(Bytes::new()))),
            // The half is sent before the next piece is requested.
            Some(_) => {
                tokio::task::yield_now().await;
                Some((Err(broken()), None))
            }
            None => None,
        }
    }))
}

/// Returns a body that is sent in pieces, with a pause after each.
pub(crate) fn drip(body: Bytes, bytes: usize, pause: Duration) -> Body {
    let bytes = bytes.max(1);
    Body::from_stream(stream::unfold(
        (body, true),
        move |(mut left, is_first)| async move {
            if left.is_empty() {
                return None;
            }
            if !is_first {
                tokio::time::sleep(pause).await;
            }
            let piece = left.split_to(bytes.min(left.len()));
            Some((Ok::<_, io::Error>(piece), (left, false)))
        },
    ))
}

/// Returns a body of this many spaces, made while they are sent.
pub(crate) fn endless(bytes: u64) -> Body {
    let piece = Bytes::from(vec![b' '; PIECE_BYTES]);
    Body::from_stream(stream::unfold(bytes, move |left| {
        let piece = piece.clone();
        async move {
            // More than `usize` holds is more than a piece.
            let length = usize::try_from(left)
                .unwrap_or(PIECE_BYTES)
                .min(PIECE_BYTES);
            let rest = left.saturating_sub(u64::try_from(length).unwrap_or(u64::MAX));
            (length > 0).then(|| (Ok::<_, io::Error>(piece.slice(..length)), rest))
        }
    }))
}

pub(crate) fn gzip(body: &[u8]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::default());
    out.write_all(body)
        .and_then(|()| out.finish())
        .expect("writing to memory succeeds")
}
