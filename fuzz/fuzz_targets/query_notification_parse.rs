//! Takes bytes as a query. Reading never panics, and what is read is written and read again equal.

use bankrail_webhook::{
    Message, MessageKind, MessageReadOptions, QueryNotification, Rule, RuleClass, WebhookMessage,
};

fuzz_target!(|json: &[u8]| {
    let parsed = match QueryNotification::from_json(json) {
        Ok(parsed) => parsed,
        Err(error) => return drop((error.to_string(), error.pointer().map(str::len))),
    };
    let strict =
        QueryNotification::from_json_with(json, &MessageReadOptions::new().deny_findings(true));
    assert!(
        strict.is_err()
            || parsed
                .findings
                .iter()
                .all(|f| f.rule.class() == RuleClass::Consistency)
    );
    let message = parsed.message;
    let written = message.to_json();
    let again = QueryNotification::from_json(written.as_bytes()).expect("what was written is read");
    assert_eq!(again.message, message);
    assert_eq!(again.message.to_json(), written);
    assert_eq!(again.message.fingerprint(), message.fingerprint());
    assert!(
        !again
            .findings
            .iter()
            .any(|f| matches!(f.rule, Rule::Null | Rule::FractionDigits))
    );
    let any = Message::from_json(MessageKind::Query, json).expect("the same by its kind");
    assert_eq!(any.message, Message::from(message));
});
