//! The transport that a connection reads from and writes to.

use super::activity::Activity;
use bytes::{Buf as _, Bytes};
use http::StatusCode;
use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// An answer that is being made: its status line, headers and body.
type Answer = Pin<Box<dyn Future<Output = Bytes> + Send>>;

/// Makes the answer to a request that the HTTP stack could not read and refuses with a status.
pub(super) type Unreadable = Box<dyn Fn(StatusCode) -> Answer + Send>;

/// A transport that reports arriving and leaving bytes to [`Activity`], and replaces the answers
/// that the HTTP stack makes by itself: the bytes that the stack writes while no answer of the
/// service is due.
pub(super) struct Transport<I> {
    io: I,
    activity: Arc<Activity>,
    unreadable: Option<Unreadable>,
    replacing: Option<Replacing>,
}

enum Replacing {
    Making(Answer),
    Sending(Bytes),
}

impl<I: AsyncWrite + Unpin> Transport<I> {
    pub(super) fn new(io: I, activity: Arc<Activity>, unreadable: Option<Unreadable>) -> Self {
        Self {
            io,
            activity,
            unreadable,
            replacing: None,
        }
    }

    fn replaces(&self) -> bool {
        self.replacing.is_some() || (self.unreadable.is_some() && self.activity.owes_no_answer())
    }

    /// Sends another answer in place of these bytes, which count as written once that answer is
    /// sent.
    fn poll_replace(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let making = || Some(self.unreadable.as_ref()?(status_of(bytes)?));
        if self.replacing.is_none() {
            self.replacing = making().map(Replacing::Making);
        }
        loop {
            match &mut self.replacing {
                Some(Replacing::Making(answer)) => {
                    self.replacing =
                        Some(Replacing::Sending(ready!(answer.as_mut().poll(context))));
                }
                Some(Replacing::Sending(left)) if left.has_remaining() => {
                    let sent = ready!(Pin::new(&mut self.io).poll_write(context, left))?;
                    if sent == 0 {
                        return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
                    }
                    left.advance(sent);
                }
                Some(Replacing::Sending(_)) => return Poll::Ready(Ok(bytes.len())),
                None => return Pin::new(&mut self.io).poll_write(context, bytes),
            }
        }
    }
}

/// Returns the status of an answer that begins with these bytes.
fn status_of(answer: &[u8]) -> Option<StatusCode> {
    let code = answer.strip_prefix(b"HTTP/1.")?.get(2..5)?;
    StatusCode::from_bytes(code).ok()
}

impl<I: AsyncRead + Unpin> AsyncRead for Transport<I> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.io).poll_read(context, buffer))?;
        if buffer.filled().len() > before {
            self.activity.bytes_arrived();
        }
        Poll::Ready(Ok(()))
    }
}

impl<I: AsyncWrite + Unpin> AsyncWrite for Transport<I> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.replaces() {
            return self.poll_replace(context, bytes);
        }
        Pin::new(&mut self.io).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.replaces() {
            let first = pieces.iter().find(|piece| !piece.is_empty());
            return self.poll_replace(context, first.map_or(&[], |piece| piece));
        }
        Pin::new(&mut self.io).poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.io).poll_flush(context))?;
        self.activity.flushed();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }
}
