//! Takes bytes as a mandate notification, or changes of a sample. Reading never panics, and what is
//! read is written, read again equal and put in order.

use crate::messages::{are_one, parse};
use bankrail_webhook::history::{MandateHistory, Observation};
use bankrail_webhook::{MandateNotification, WebhookMessage};

fuzz_target!(|data: &[u8]| {
    let Some(message) = parse::<MandateNotification>(data) else {
        return;
    };
    assert!(are_one(&message, &message));
    assert!(message.other_spellings().is_empty() && !message.is_interim());
    let mut history = MandateHistory::new();
    let first = history.apply_notification(&message);
    let state = history.state();
    let second = history.apply_notification(&message);
    assert!(second == Observation::Repeated || first == Observation::NotApplicable);
    assert_eq!(history.state(), state);
});
