//! The bodies of requests and answers of a server.

use super::activity::InProgress;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use pin_project_lite::pin_project;
use std::error::Error;
use std::fmt;
use std::future::Future as _;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep_until};

/// The body of a request. Reading it fails once its time is over.
pub struct RequestBody {
    /// `None` for a request that could not be read.
    body: Option<Incoming>,
    over: Pin<Box<Sleep>>,
    allowed: Duration,
}

impl RequestBody {
    pub(super) fn new(body: Option<Incoming>, allowed: Duration) -> Self {
        Self {
            body,
            over: Box::pin(sleep_until(Instant::now() + allowed)),
            allowed,
        }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = RequestBodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, RequestBodyError>>> {
        let Some(body) = &mut self.body else {
            return Poll::Ready(None);
        };
        // The frame is polled before the time: a body that has arrived is not refused for a slow
        // reader.
        if let Poll::Ready(frame) = Pin::new(body).poll_frame(context) {
            return Poll::Ready(
                frame.map(|frame| frame.map_err(|error| RequestBodyError::Broken(error.into()))),
            );
        }
        let after = self.allowed;
        self.over
            .as_mut()
            .poll(context)
            .map(|()| Some(Err(RequestBodyError::TimedOut { after })))
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body
            .as_ref()
            .map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}

impl fmt::Debug for RequestBody {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("RequestBody")
            .field("allowed", &self.allowed)
            .finish_non_exhaustive()
    }
}

/// The error of a request's body that could not be read to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RequestBodyError {
    /// The body did not arrive within
    /// [`ServerOptions::body_timeout`](super::ServerOptions::body_timeout).
    #[error("the body did not arrive within {after:?}")]
    TimedOut {
        /// The time allowed.
        after: Duration,
    },
    /// The connection ended before the body.
    #[error("the connection broke before the body was complete")]
    Broken(#[source] Box<dyn Error + Send + Sync>),
}

pin_project! {
    /// The body of an answer; `None` is an empty one. The request is in progress until this is
    /// dropped.
    pub(super) struct AnswerBody<B> {
        #[pin]
        pub(super) body: Option<B>,
        pub(super) in_progress: InProgress,
    }
}

impl<B: Body> Body for AnswerBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        match self.project().body.as_pin_mut() {
            Some(body) => body.poll_frame(context),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body
            .as_ref()
            .map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}
