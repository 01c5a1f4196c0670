//! Takes bytes as a mandate notification. Reading never panics, and what is read is written, read
//! again equal and put in order.

use bankrail_webhook::history::{MandateHistory, Observation};
use bankrail_webhook::{MandateNotification, MessageReadOptions, Rule, WebhookMessage};

fuzz_target!(|json: &[u8]| {
    let parsed = match MandateNotification::from_json(json) {
        Ok(parsed) => parsed,
        Err(error) => return drop((error.to_string(), error.pointer().map(str::len))),
    };
    let strict =
        MandateNotification::from_json_with(json, &MessageReadOptions::new().deny_findings(true));
    assert!(
        strict.is_err()
            || parsed
                .findings
                .iter()
                .all(|f| f.rule.class() == bankrail_webhook::RuleClass::Consistency)
    );
    let message = parsed.message;
    let written = message.to_json();
    let again =
        MandateNotification::from_json(written.as_bytes()).expect("what was written is read");
    assert_eq!(again.message, message);
    assert_eq!(again.message.to_json(), written);
    assert_eq!(again.message.fingerprint(), message.fingerprint());
    assert!(
        !again
            .findings
            .iter()
            .any(|f| matches!(f.rule, Rule::Null | Rule::FractionDigits))
    );
    let mut history = MandateHistory::new();
    let first = history.apply_notification(&message);
    let state = history.state();
    let second = history.apply_notification(&message);
    assert!(second == Observation::Repeated || first == Observation::NotApplicable);
    assert_eq!(history.state(), state);
});
