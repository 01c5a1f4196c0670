//! The suites run on their own models: what they ask for can be had, and what they say of a broken engine is heard.

use bankrail_webhook::testing::{ModelInbox, ModelOutbox, inbox_suite, outbox_suite, run_ready};

#[test]
fn the_model_inbox_passes_its_suite() {
    run_ready(inbox_suite(async || ModelInbox::new()));
}

#[test]
fn the_model_outbox_passes_its_suite() {
    run_ready(outbox_suite(async || ModelOutbox::new()));
}
