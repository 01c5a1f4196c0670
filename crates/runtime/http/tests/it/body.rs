//! Reading and draining bodies.

use bankrail_http::__private::{BodyError, BodyReader, Peer};
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http::HeaderMap;
use http::HeaderValue;
use http::header::{CONTENT_LENGTH, EXPECT};
use http_body::Body;
use http_body::Frame;
use http_body_util::{Full, StreamBody};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(flavor = "current_thread")]
async fn the_limit_holds_whatever_is_announced() {
    let read = |announced: Option<&'static str>, sent: usize| async move {
        let mut headers = HeaderMap::new();
        if let Some(length) = announced {
            headers.insert(CONTENT_LENGTH, HeaderValue::from_static(length));
        }
        BodyReader::new(&headers, Full::from(vec![b'x'; sent]))
            .read(8, SECOND)
            .await
    };
    assert_eq!(read(None, 8).await.unwrap().len(), 8);
    assert_eq!(read(Some("nonsense"), 8).await.unwrap().len(), 8);
    assert!(matches!(
        read(None, 9).await,
        Err(BodyError::TooLarge { limit: 8 })
    ));
    assert!(matches!(
        read(Some("9"), 0).await,
        Err(BodyError::TooLarge { .. })
    ));
    assert!(matches!(
        read(Some("99999999999999999999"), 9).await,
        Err(BodyError::TooLarge { .. })
    ));
}

type Chunks = Pin<Box<dyn Body<Data = Bytes, Error = std::io::Error> + Send>>;

/// Returns a body of `many` chunks of 1 KiB that panics if it is read after its end, and the count
/// of the chunks taken.
fn chunks(many: usize) -> (Chunks, Arc<AtomicUsize>) {
    let taken = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&taken);
    let body = stream::unfold(many, move |left| {
        counted.fetch_add(usize::from(left > 0), Ordering::SeqCst);
        let chunk = Ok::<_, std::io::Error>(Frame::data(Bytes::from_static(&[b'x'; 1024])));
        std::future::ready(left.checked_sub(1).map(|left| (chunk, left)))
    });
    (Box::pin(StreamBody::new(body)), taken)
}

#[tokio::test(flavor = "current_thread")]
async fn draining_ends_at_the_body_or_at_the_bound() {
    for (sender, many, read) in [
        (Peer::Unknown, 3, 3),
        (Peer::Unknown, 5000, 65),
        (Peer::Known, 5000, 4097),
    ] {
        let (body, taken) = chunks(many);
        BodyReader::new(&HeaderMap::new(), body)
            .drain(sender, SECOND)
            .await;
        assert_eq!(taken.load(Ordering::SeqCst), read);
    }
}

#[tokio::test(flavor = "current_thread")]
async fn what_was_read_to_its_end_or_waits_to_be_asked_for_is_not_drained() {
    let none = HeaderMap::new();
    let mut read = BodyReader::new(&none, chunks(3).0);
    assert_eq!(read.read(4096, SECOND).await.unwrap().len(), 3072);
    read.drain(Peer::Known, SECOND).await;

    let (body, taken) = chunks(5);
    let mut too_large = BodyReader::new(&none, body);
    assert!(matches!(
        too_large.read(1024, SECOND).await,
        Err(BodyError::TooLarge { .. })
    ));
    assert_eq!(taken.load(Ordering::SeqCst), 2);
    too_large.drain(Peer::Known, SECOND).await;
    assert_eq!(taken.load(Ordering::SeqCst), 5);

    let waiting = HeaderMap::from_iter([(EXPECT, HeaderValue::from_static("100-continue"))]);
    let (body, taken) = chunks(5);
    BodyReader::new(&waiting, body)
        .drain(Peer::Known, SECOND)
        .await;
    assert_eq!(taken.load(Ordering::SeqCst), 0);
}

#[tokio::test(flavor = "current_thread", start_paused = true)]
async fn a_body_that_hangs_is_given_up_and_not_drained() {
    let pieces = stream::iter([Ok::<_, std::io::Error>(Frame::data(Bytes::from_static(
        b"x",
    )))]);
    let mut body = BodyReader::new(
        &HeaderMap::new(),
        StreamBody::new(pieces.chain(stream::pending())),
    );
    assert!(matches!(
        body.read(8, SECOND).await,
        Err(BodyError::TimedOut { after: SECOND })
    ));
    let begun = tokio::time::Instant::now();
    body.drain(Peer::Known, SECOND).await;
    assert!(begun.elapsed().is_zero());
}

#[tokio::test(flavor = "current_thread")]
async fn a_prefix_is_cut_and_the_rest_is_left() {
    let (body, taken) = chunks(5);
    let mut body = BodyReader::new(&HeaderMap::new(), body);
    assert_eq!(body.read_prefix(1500, SECOND).await.unwrap().len(), 1500);
    assert_eq!(taken.load(Ordering::SeqCst), 2);
    let (short, _) = chunks(1);
    assert_eq!(
        BodyReader::new(&HeaderMap::new(), short)
            .read_prefix(1500, SECOND)
            .await
            .unwrap()
            .len(),
        1024
    );
}
