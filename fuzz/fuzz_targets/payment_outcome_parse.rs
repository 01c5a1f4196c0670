//! Takes bytes as a payment outcome, or changes of a sample. Reading never panics, and what is read
//! is written, read again equal and put in order.

use crate::messages::{are_one, parse};
use bankrail_webhook::history::{Observation, PaymentHistory};
use bankrail_webhook::PaymentOutcome;

fuzz_target!(|data: &[u8]| {
    let Some(message) = parse::<PaymentOutcome>(data) else {
        return;
    };
    // Either name of the instruction is enough.
    let (mut by_id, mut by_uetr) = (message.clone(), message.clone());
    (by_id.uetr, by_uetr.instruction_identification) = (None, None);
    let has_id = message.instruction_identification.is_some();
    assert_eq!(are_one(&message, &by_id), has_id);
    assert_eq!(are_one(&message, &by_uetr), message.uetr.is_some());
    let mut history = PaymentHistory::new();
    let first = history.apply(&message);
    let state = history.state();
    let second = history.apply(&message);
    assert!(second == Observation::Repeated || first == Observation::NotApplicable);
    assert_eq!(history.state(), state);
});
