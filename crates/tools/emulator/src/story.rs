//! Stories in messages: the life of a mandate and of a payment, whose identifiers, times and states
//! follow each other.

mod mandate;
mod payment;
mod shop;

pub use mandate::MandateStory;
pub use payment::PaymentStory;
pub use shop::ShopStory;

use crate::ids::Ids;
use crate::webhook::Webhook;
use bankrail_values::{Clock, Timestamp};
use bankrail_webhook::message::MpsUserId;
use bankrail_webhook::sender::OriginalRequest;
use bankrail_webhook::{DeliveryHeaders, Priority};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Makes the messages of a bad week: payments that are rejected and delayed, mandates that are
/// declined and expire, and a case that is opened again.
pub(crate) fn bad_week(seed: u64, start: Timestamp) -> Vec<Webhook> {
    let lives: [fn(u64, Timestamp) -> Vec<Webhook>; 6] = [
        PaymentStory::rejected_life,
        MandateStory::declined_life,
        PaymentStory::rejected_life,
        MandateStory::queried_life,
        PaymentStory::delayed_life,
        MandateStory::expired_life,
    ];
    let told = lives
        .iter()
        .zip(0..)
        .flat_map(|(life, other)| life(seed.wrapping_add(other), start));
    let mut told: Vec<Webhook> = told.collect();
    told.sort_by_key(|webhook| webhook.message.creation_date_time());
    told
}

/// Identifiers and rising times, for both stories.
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

    /// The clock's time, or a millisecond after the last message if the clock has not moved since.
    fn now(&self) -> Timestamp {
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

/// The times between the messages of a whole life.
const BETWEEN: Duration = Duration::from_secs(24 * 3600);
