//! Takes bytes as a query, or changes of a sample. Reading never panics, and what is read is written
//! and read again equal.

use crate::messages::{are_one, parse};
use bankrail_values::Timestamp;
use bankrail_webhook::{QueryNotification, WebhookMessage};

fuzz_target!(|data: &[u8]| {
    let Some(message) = parse::<QueryNotification>(data) else {
        return;
    };
    let counted = |count: &str| {
        let mut other = message.clone();
        other.reminder_count = Some(count.parse().expect("one or two digits"));
        other
    };
    let count = message.reminder_count.as_ref().map_or("0", |count| count.as_str());
    let is_count = count.bytes().all(|b| b.is_ascii_digit());
    if is_count {
        let number: u8 = count.parse().expect("two digits");
        // One digit or two, and none for the first message.
        for same in [counted(&number.to_string()), counted(&format!("{number:02}"))] {
            assert!(are_one(&message, &same) && are_one(&same, &message));
            let written = same.reminder_count == message.reminder_count;
            assert_eq!(message.other_spellings().contains(&same), !written);
        }
        assert!(!are_one(&message, &counted(if number == 7 { "8" } else { "7" })));
    }
    assert!(are_one(&message, &message));
    match message.reminder(Timestamp::UNIX_EPOCH) {
        Ok(reminder) => assert!(is_count && !are_one(&message, &reminder)),
        Err(error) => {
            crate::invented::logged(&error);
            assert!(!is_count || count == "99");
        }
    }
});
