//! The steps of a request through an endpoint.

use crate::body::{BodyError, BodyReader, DRAINING, Peer};
use bankrail_values::Timestamp;
use bytes::Bytes;
use http::Method;
use http::request::Parts;
use http_body::Body;
use std::error::Error;
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// An endpoint that takes `POST`: the steps that a request passes in [`serve`], in this order. The
/// first one that fails decides the answer.
///
/// | step | where |
/// |---|---|
/// | the method | [`serve`] |
/// | the API key | [`Endpoint::identify`] |
/// | the rest of the head | [`Endpoint::check_head`] |
/// | the body, within its bounds | [`serve`], by [`Endpoint::body_bounds`] |
/// | the instant at which everything is judged | [`serve`], by [`Endpoint::now`] |
/// | the proof that the request is the caller's | [`Endpoint::prove`] |
/// | the limit, the work and its record | [`Endpoint::work`] |
pub trait Endpoint: Sync {
    /// The caller that the request's API key belongs to.
    type Caller: Send + Sync;
    /// The proof of a request: the value that its body was checked into.
    type Proof: Send;
    /// An answer of success.
    type Answer: Send;
    /// The reason why a request is refused: a row of the endpoint's table of refusals.
    type Refusal: From<EndpointFault> + Send;

    /// Finds the caller by the API key.
    fn identify(
        &self,
        head: &Parts,
    ) -> impl Future<Output = Result<Self::Caller, Self::Refusal>> + Send;

    /// Judges the rest of the head before the body is read. The default refuses nothing.
    ///
    /// # Errors
    /// The refusal of a head.
    fn check_head(&self, _: &Parts) -> Result<(), Self::Refusal> {
        Ok(())
    }

    /// Returns the name under which a server counts the connections of a caller. By default all
    /// callers have one name.
    fn caller_name<'a>(&self, _: &'a Self::Caller) -> &'a str {
        ""
    }

    /// Returns the maximum number of bytes of a body, and the time in which it must arrive.
    fn body_bounds(&self) -> (usize, Duration);

    /// Returns the time by the endpoint's clock.
    fn now(&self) -> Timestamp;

    /// Proves that the request is the caller's. Also decides the refusal of a body that could not
    /// be read.
    fn prove(
        &self,
        caller: &Self::Caller,
        head: &Parts,
        body: Result<Bytes, BodyError>,
        now: Timestamp,
    ) -> impl Future<Output = Result<Self::Proof, Self::Refusal>> + Send;

    /// Counts the request against its limit, does its work, and records it.
    fn work(
        &self,
        caller: &Self::Caller,
        head: &Parts,
        proof: Self::Proof,
        now: Timestamp,
    ) -> impl Future<Output = Result<Self::Answer, Self::Refusal>> + Send;
}

/// The faults that every endpoint refuses in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndpointFault {
    /// The method is not `POST`.
    Method,
    /// A step panicked. The panic hook has reported the panic.
    Panicked,
    /// The server's time for a request is over ([`AnswerBy`]).
    TimedOut,
}

/// The deadline of an endpoint's answer: an extension of each request that `serve::Server` takes, a
/// little before the server itself answers with an empty body.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs, reason = "an instant, and no more")]
pub struct AnswerBy(pub Instant);

/// Notifies the server that the caller of a request is known: an extension of each request that
/// `serve::Server` takes. The endpoints of both sides do so as soon as a caller is proved; another
/// service does so itself.
///
/// A server that is full keeps the connections of callers that are known, and closes those of
/// others. An API key alone makes no caller known: the endpoint names its caller, and the server
/// bounds the connections under one name.
#[derive(Clone)]
pub struct KnownCaller(Arc<Knows>);

/// A notification: the name of a caller that has proved nothing yet, or `None` once it is known.
pub(crate) type Knows = dyn Fn(Option<&str>) + Send + Sync;

impl KnownCaller {
    /// Makes a value that calls this function at each notification: with the name of a caller that
    /// has proved nothing yet, or with `None` once the caller is known.
    pub fn new(told: impl Fn(Option<&str>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(told))
    }

    /// Names the caller that the request's API key belongs to.
    pub fn name(&self, caller: &str) {
        (self.0)(Some(caller));
    }

    /// Notifies the server that the request has proved to be its caller's. A second notification
    /// changes nothing.
    pub fn tell(&self) {
        (self.0)(None);
    }
}

impl fmt::Debug for KnownCaller {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("KnownCaller").finish_non_exhaustive()
    }
}

/// Takes a request through the steps of an endpoint. Returns the caller, if the API key was known,
/// and the outcome.
///
/// The rest of the body of a refused request is drained, so that its sender gets the answer
/// ([`BodyReader::drain`]).
pub async fn serve<E, B>(
    endpoint: &E,
    head: &Parts,
    body: B,
) -> (Option<E::Caller>, Result<E::Answer, E::Refusal>)
where
    E: Endpoint,
    B: Body<Data = Bytes> + Send + Unpin,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let mut body = BodyReader::new(&head.headers, body);
    let mut caller = None;
    let steps = async {
        if head.method != Method::POST {
            return Err(EndpointFault::Method.into());
        }
        let caller = caller.insert(endpoint.identify(head).await?);
        let known = head.extensions.get::<KnownCaller>();
        if let Some(known) = known {
            known.name(endpoint.caller_name(caller));
        }
        endpoint.check_head(head)?;
        let (limit, within) = endpoint.body_bounds();
        let read = body.read(limit, within).await;
        // The time is read after the body, which may take long, so that all parts are judged at one
        // instant.
        let now = endpoint.now();
        let proof = endpoint.prove(caller, head, read, now).await?;
        if let Some(known) = known {
            known.tell();
        }
        endpoint.work(caller, head, proof, now).await
    };
    let steps = unless_it_panics(steps);
    let ended = match head.extensions.get() {
        Some(AnswerBy(instant)) => timeout_at(*instant, steps)
            .await
            .map_err(|_| EndpointFault::TimedOut),
        None => Ok(steps.await),
    };
    let served = match ended {
        Ok(Some(served)) => served,
        Ok(None) => Err(EndpointFault::Panicked.into()),
        // There is no time left to drain the body.
        Err(late) => return (caller, Err(late.into())),
    };
    let peer = if caller.is_some() {
        Peer::Known
    } else {
        Peer::Unknown
    };
    body.drain(peer, DRAINING).await;
    (caller, served)
}

/// Awaits a future; `None` if it panics.
async fn unless_it_panics<T>(steps: impl Future<Output = T>) -> Option<T> {
    let mut steps = pin!(steps);
    let polled =
        poll_fn(
            |context| match catch_unwind(AssertUnwindSafe(|| steps.as_mut().poll(context))) {
                Ok(polled) => polled.map(Some),
                Err(_) => std::task::Poll::Ready(None),
            },
        );
    polled.await
}
