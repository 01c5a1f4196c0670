//! The suite of archives over the model.

use bankrail_mailbox::testing::{ModelArchive, archive_suite, run_ready};

#[test]
fn the_model_keeps_the_rules() {
    run_ready(archive_suite(async || ModelArchive::new()));
}
