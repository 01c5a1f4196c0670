//! Stories are consistent: each message is allowed by the sender's rules and has no finding, and
//! the histories of a receiver follow the stories without a gap.

use bankrail_emulator::{MandateStory, PaymentStory, Webhook, story};
use bankrail_mailbox::DuplicateKey;
use bankrail_values::{HyphenatedUuid, ManualClock, Timestamp};
use bankrail_webhook::history::{
    MandateHistory, MandateState, Observation, PaymentHistory, PaymentState,
};
use bankrail_webhook::{Message, MessageKind};
use std::collections::BTreeSet;
use std::sync::Arc;

fn start() -> Timestamp {
    "2026-03-02T00:00:00.000Z".parse().unwrap()
}

fn life(name: &str) -> Vec<Webhook> {
    story(name, 7, start()).unwrap()
}

const MANDATE_STORIES: [(&str, MandateState); 6] = [
    ("mandate", MandateState::Cancelled),
    ("mandate-declined", MandateState::Cancelled),
    ("mandate-expired", MandateState::Cancelled),
    ("mandate-amended", MandateState::Active),
    ("mandate-ported", MandateState::Cancelled),
    ("mandate-queried", MandateState::Active),
];

const PAYMENT_STORIES: [(&str, usize, PaymentState); 4] = [
    ("payment", 3, PaymentState::Settled),
    ("payment-rejected", 3, PaymentState::Rejected),
    ("payment-same-day", 1, PaymentState::Settled),
    ("payment-delayed", 2, PaymentState::Settled),
];

fn apply(history: &mut MandateHistory, webhook: &Webhook) -> Observation {
    match &webhook.message {
        Message::MandateOutcome(outcome) => history.apply_outcome(outcome),
        Message::MandateNotification(notification) => history.apply_notification(notification),
        Message::Query(_) => Observation::NotApplicable,
        Message::PaymentOutcome(_) => panic!("a payment in a mandate's life"),
    }
}

#[test]
fn a_mandates_history_is_complete_at_each_step() {
    for (name, end) in MANDATE_STORIES {
        let life = life(name);
        let mut history = MandateHistory::new();
        for webhook in &life {
            let observed = apply(&mut history, webhook);
            assert!(history.is_complete(), "{webhook:?}");
            let gap = [
                Observation::OutOfSequence,
                Observation::Contradictory,
                Observation::Repeated,
            ];
            assert!(!gap.contains(&observed), "{observed:?}: {webhook:?}");
        }
        assert_eq!(history.state(), end);
        // In any order, the end is the same.
        let mut backward = MandateHistory::new();
        for webhook in life.iter().rev() {
            apply(&mut backward, webhook);
        }
        assert_eq!((backward.state(), backward.is_complete()), (end, true));
    }
}

#[test]
fn the_state_of_a_story_is_that_of_the_history() {
    let mut story = MandateStory::new(3, Arc::new(ManualClock::new(start())));
    let mut history = MandateHistory::new();
    let steps: [fn(&mut MandateStory) -> Webhook; 7] = [
        MandateStory::created,
        MandateStory::confirmed_by_payer,
        MandateStory::suspended,
        MandateStory::amended_by_payer,
        MandateStory::released_by_payer,
        MandateStory::suspended_by_payer,
        MandateStory::cancelled,
    ];
    for step in steps {
        apply(&mut history, &step(&mut story));
        assert_eq!(history.state(), story.state());
    }
}

#[test]
fn a_payments_history_reaches_its_end() {
    for (name, count, end) in PAYMENT_STORIES {
        let life = life(name);
        let mut history = PaymentHistory::new();
        for webhook in &life {
            let Message::PaymentOutcome(outcome) = &webhook.message else {
                panic!("{webhook:?}")
            };
            assert_eq!(history.apply(outcome), Observation::Advanced);
        }
        assert_eq!((life.len(), history.state()), (count, end));
    }
}

#[test]
fn each_message_can_be_sent_and_is_a_message_of_its_own() {
    let mandates = MANDATE_STORIES.map(|(name, _)| name).into_iter();
    let payments = PAYMENT_STORIES.map(|(name, ..)| name);
    for life in mandates.chain(payments).map(life) {
        let (mut ids, mut last) = (BTreeSet::<HyphenatedUuid>::new(), None);
        let mut keys: Vec<DuplicateKey> = Vec::new();
        for webhook in &life {
            let headers = webhook.headers.unwrap();
            assert_eq!(webhook.message.validate(), [], "{webhook:?}");
            webhook
                .message
                .outgoing("biller".parse().unwrap(), &headers)
                .unwrap();
            assert!(ids.insert(headers.message_id), "a message id of its own");
            let at = Some(webhook.message.creation_date_time());
            assert!(at > last, "{last:?} {at:?}");
            last = at;
            let key = webhook.message.duplicate_key("", headers.message_id);
            let is_outcome = webhook.message.kind() == MessageKind::MandateOutcome;
            assert!(
                is_outcome || !keys.iter().any(|known| known.overlaps(&key)),
                "no two are duplicates"
            );
            keys.push(key);
        }
    }
}

#[test]
fn the_same_seed_tells_the_same_story() {
    for name in ["mandate", "payment", "bad-week"] {
        assert_eq!(story(name, 7, start()), Some(life(name)));
        assert_ne!(story(name, 8, start()), Some(life(name)));
    }
    assert_eq!(story("another", 7, start()), None);
}

#[test]
#[should_panic(expected = "a mandate that is Created cannot be released")]
fn a_step_out_of_turn_is_a_mistake_of_the_test() {
    let mut story = MandateStory::new(1, Arc::new(ManualClock::new(start())));
    story.created();
    story.released_by_payer();
}

#[test]
#[should_panic(expected = "no such outcome of this payment")]
fn nothing_follows_a_settlement() {
    let mut story = PaymentStory::new(1, Arc::new(ManualClock::new(start())));
    story.settled();
    story.rejected("AM04");
}
