//! Calls as they come, as server-sent events.

use super::Page;
use super::calls::{Filter, OneCall};
use super::exchange::Destination;
use askama::Template as _;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use bankrail::http::serve::Shutdown;
use bankrail_emulator::{Call, Calls};
use futures_util::stream;
use serde::Deserialize;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Instant, sleep_until};

/// The most streams at once.
pub(super) const MAX_STREAMS: usize = 16;

/// The longest duration of a stream. The browser then asks for the next one, with the number of the
/// last call it saw.
pub(super) const LONGEST: Duration = Duration::from_secs(45);

/// The pause of the browser before it asks for the next stream.
const RETRY: Duration = Duration::from_millis(500);

/// The longest pause without a message, so that a closed browser is noticed.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

#[derive(Debug, Deserialize)]
pub(super) struct After {
    /// The number of the call that the page shows first.
    after: Option<u64>,
}

pub(super) async fn stream(
    State(page): State<Page>,
    Query(filter): Query<Filter>,
    Query(asked): Query<After>,
    headers: HeaderMap,
) -> Response {
    let Ok(permit) = page.streams.clone().try_acquire_owned() else {
        return (StatusCode::SERVICE_UNAVAILABLE, "too many pages are open\n").into_response();
    };
    // The header of a browser that comes back is newer than its address.
    let seen = headers
        .get("last-event-id")
        .and_then(|id| id.to_str().ok()?.parse().ok())
        .or(asked.after);
    let following = Following::new(
        &page.data.calls,
        page.destination.clone(),
        filter,
        seen,
        permit,
    );
    let stopping = Box::pin(Shutdown::wanted(page.data.shutdown.clone()));
    let events = stream::unfold(
        (following, stopping),
        |(mut following, mut stopping)| async move {
            let event = tokio::select! {
                event = following.next() => event?,
                () = &mut stopping => return None,
            };
            Some((Ok::<_, Infallible>(event), (following, stopping)))
        },
    );
    Sse::new(events)
        .keep_alive(KeepAlive::new().interval(KEEP_ALIVE))
        .into_response()
}

/// The state of one reader: calls sent, and calls to send.
struct Following {
    calls: Calls,
    place: Arc<Destination>,
    later: Receiver<Call>,
    filter: Filter,
    /// The number of the last call that was sent or left out by the filter.
    last: u64,
    ready: VecDeque<Event>,
    until: Instant,
    ended: bool,
    _permit: OwnedSemaphorePermit,
}

impl Following {
    /// The calls after the one of the number `seen`, or from now on.
    fn new(
        calls: &Calls,
        place: Arc<Destination>,
        filter: Filter,
        seen: Option<u64>,
        permit: OwnedSemaphorePermit,
    ) -> Self {
        // Before the newest are read, so that none is between.
        let later = calls.subscribe();
        let newest = calls.newest().first().map_or(0, |call| call.number);
        // A larger number is from another run of the program, and all calls of this one came after
        // it.
        let last = seen.map_or(newest, |seen| if seen > newest { 0 } else { seen });
        let ready = VecDeque::from([Event::default().retry(RETRY).comment("calls as they come")]);
        let until = Instant::now() + LONGEST;
        let calls = calls.clone();
        let mut following = Self {
            calls,
            place,
            later,
            filter,
            last,
            ready,
            until,
            ended: false,
            _permit: permit,
        };
        following.catch_up();
        following
    }

    /// The next event; `None` at the end of the stream.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            if self.ended {
                return None;
            }
            let received = tokio::select! {
                received = self.later.recv() => received,
                // The calls that the filter left out were seen too: the browser comes back after
                // them.
                () = sleep_until(self.until) => {
                    self.ended = true;
                    return Some(Event::default().id(self.last.to_string()));
                }
            };
            match received {
                Ok(call) if call.number <= self.last => {}
                Ok(call) if call.number == self.last + 1 => self.add(&call),
                // The reader was too slow. Most of what it missed is still kept.
                Ok(_) | Err(RecvError::Lagged(_)) => self.catch_up(),
                Err(RecvError::Closed) => return None,
            }
        }
    }

    /// Adds the kept calls after the last one, and counts the calls that are no longer kept.
    fn catch_up(&mut self) {
        let mut later = self.calls.newest();
        later.retain(|call| call.number > self.last);
        let Some(oldest) = later.last().map(|call| call.number) else {
            return;
        };
        let lost = oldest - self.last - 1;
        if lost > 0 {
            self.ready.push_back(
                Event::default()
                    .event("lost")
                    .id((oldest - 1).to_string())
                    .data(lost.to_string()),
            );
        }
        for call in later.iter().rev() {
            self.add(call);
        }
    }

    fn add(&mut self, call: &Call) {
        self.last = call.number;
        if !self.filter.matches(call) {
            return;
        }
        match (OneCall {
            call,
            place: &self.place,
        })
        .render()
        {
            Ok(item) => self.ready.push_back(
                Event::default()
                    .event("call")
                    .id(call.number.to_string())
                    .data(item),
            ),
            Err(error) => tracing::error!(%error, "a call of the page could not be made"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::Semaphore;

    #[tokio::test]
    async fn a_stream_ends_by_itself_and_makes_room_for_another() {
        let streams = Arc::new(Semaphore::new(1));
        let permit = streams.clone().try_acquire_owned().unwrap();
        let place = Arc::new(Destination {
            issuer: String::new(),
            ca: None,
        });
        let mut following =
            Following::new(&Calls::new(500), place, Filter::default(), None, permit);
        assert!(following.until > Instant::now() + LONGEST / 2);
        assert!(
            following.next().await.is_some(),
            "how long the browser waits"
        );
        following.until = Instant::now();
        assert!(following.next().await.is_some(), "the place to go on from");
        assert!(following.next().await.is_none());
        drop(following);
        assert_eq!(streams.available_permits(), 1);
    }
}
