//! Common traits of public types: an omission does not compile.

use bankrail_webhook::*;

#[derive(Clone, Debug, PartialEq, Eq)]
struct Values {
    outcome: MandateActionOutcome,
    notification: MandateNotification,
    payment: PaymentOutcome,
    query: QueryNotification,
    message: Message,
    parsed: ParsedMessage<Message>,
    acknowledgement: Acknowledgement,
    headers: DeliveryHeaders,
    finding: MessageFinding,
    payments: history::PaymentHistory,
    mandates: history::MandateHistory,
}

fn is_shared<T: Send + Sync + 'static>() {}

#[test]
fn values_and_errors_go_between_threads() {
    is_shared::<Values>();
    is_shared::<MessageError>();
    is_shared::<DeliveryHeaderError>();
    is_shared::<OutgoingError>();
    assert!(size_of::<Option<Values>>() > 0);
}

#[test]
fn errors_stay_small() {
    assert!(
        size_of::<MessageError>() <= 80,
        "{}",
        size_of::<MessageError>()
    );
    assert!(
        size_of::<DeliveryHeaderError>() <= 64,
        "{}",
        size_of::<DeliveryHeaderError>()
    );
}
