//! Stories in messages: the life of a mandate and of a payment, with consistent identifiers, times
//! and states.

mod mandate;
mod payment;
mod shop;

pub use mandate::MandateStory;
pub use payment::PaymentStory;
pub use shop::ShopStory;

use crate::ids::Ids;
use crate::webhook::Webhook;
use bankrail_values::{Clock, ManualClock, Timestamp};
use bankrail_webhook::message::MpsUserId;
use bankrail_webhook::sender::OriginalRequest;
use bankrail_webhook::{DeliveryHeaders, Priority};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The name of a story, and its steps, each of which is a message on the next day.
type NamedSteps<Story> = (&'static str, &'static [fn(&mut Story) -> Webhook]);

/// Returns the names of all stories. The last one, the bad week, joins others: payments that are
/// rejected and delayed, mandates that are declined and expire, and a case that is opened again.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    let mandates = mandate::STORIES.into_iter().map(|(name, _)| name);
    let payments = payment::STORIES.into_iter().map(|(name, _)| name);
    mandates.chain(payments).chain(["bad-week"])
}

/// Returns the messages of the story with this name, as
/// [`Operation::Send`](crate::Operation::Send) sends them: the first at `start`, then one a day.
/// The same seed gives the same messages.
///
/// Returns `None` for a name other than `mandate`, `mandate-declined`, `mandate-expired`,
/// `mandate-amended`, `mandate-ported`, `mandate-queried`, `payment`, `payment-same-day`,
/// `payment-delayed`, `payment-rejected` and `bad-week`.
#[must_use]
pub fn story(name: &str, seed: u64, start: Timestamp) -> Option<Vec<Webhook>> {
    if name == "bad-week" {
        let names = [
            "payment-rejected",
            "mandate-declined",
            "payment-rejected",
            "mandate-queried",
            "payment-delayed",
            "mandate-expired",
        ];
        let told = names.iter().zip(0..);
        let told = told.filter_map(|(name, other)| story(name, seed.wrapping_add(other), start));
        let mut told: Vec<_> = told.flatten().collect();
        told.sort_by_key(|webhook| webhook.message.creation_date_time());
        return Some(told);
    }
    let clock = Arc::new(ManualClock::new(start));
    if let Some((_, steps)) = mandate::STORIES.iter().find(|(known, _)| *known == name) {
        return Some(tell(MandateStory::new(seed, clock.clone()), &clock, steps));
    }
    let (_, steps) = payment::STORIES.iter().find(|(known, _)| *known == name)?;
    Some(tell(PaymentStory::new(seed, clock.clone()), &clock, steps))
}

fn tell<Story>(
    mut story: Story,
    clock: &ManualClock,
    steps: &[fn(&mut Story) -> Webhook],
) -> Vec<Webhook> {
    let mut told = Vec::with_capacity(steps.len());
    for step in steps {
        told.push(step(&mut story));
        clock.advance(STEP_INTERVAL);
    }
    told
}

/// The source of identifiers and of rising times for a story.
#[derive(Debug)]
struct Teller {
    ids: Ids,
    clock: Arc<dyn Clock>,
    last: Mutex<Option<Timestamp>>,
}

impl Teller {
    fn new(seed: u64, clock: Arc<dyn Clock>) -> Self {
        Self {
            ids: Ids::new(seed),
            clock,
            last: Mutex::default(),
        }
    }

    /// Returns the clock's time, or a millisecond after the last message if the clock has not moved
    /// since.
    fn now(&self) -> Timestamp {
        // Held until the new time is the last one, so that no two messages have the same.
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let now = last.map_or(self.clock.now(), |last| {
            self.clock
                .now()
                .max(last.saturating_add(Duration::from_millis(1)))
        });
        *last = Some(now);
        now
    }

    fn request(&self) -> OriginalRequest {
        OriginalRequest::new(self.ids.uuid()).with_correlation_id(self.ids.uuid())
    }

    fn answering(&self, request: &OriginalRequest) -> DeliveryHeaders {
        DeliveryHeaders::answering(request, self.ids.uuid()).priority(Priority::Unattended)
    }

    fn notifying(&self) -> DeliveryHeaders {
        DeliveryHeaders::new(self.ids.uuid()).priority(Priority::Unattended)
    }
}

fn user() -> MpsUserId {
    "FAKEUSER1"
        .parse()
        .expect("a constant of at most 10 characters")
}

/// The time between two messages of a story.
const STEP_INTERVAL: Duration = Duration::from_secs(24 * 3600);
