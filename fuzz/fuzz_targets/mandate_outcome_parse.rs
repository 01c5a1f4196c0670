//! Takes bytes as a mandate outcome, or changes of a sample. Reading never panics, and what is read
//! is written, read again equal and put in order.

use crate::messages::{are_one, parse};
use bankrail_webhook::history::{MandateHistory, Observation};
use bankrail_webhook::MandateActionOutcome;

fuzz_target!(|data: &[u8]| {
    let Some(message) = parse::<MandateActionOutcome>(data) else {
        return;
    };
    assert_eq!(are_one(&message, &message), message.request_id.is_some());
    let mut history = MandateHistory::new();
    let first = history.apply_outcome(&message);
    let state = history.state();
    let second = history.apply_outcome(&message);
    assert!(second == Observation::Repeated || first == Observation::NotApplicable);
    assert_eq!(history.state(), state);
});
