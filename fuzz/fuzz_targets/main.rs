//! Every fuzz target in one program, so that the crates are compiled and linked once. A copy of it
//! or a link to it that is named after a target runs that one. Otherwise the environment variable
//! `FUZZ_TARGET` names it; with the value `list` the program prints the names of all of them.
#![no_main]

use libfuzzer_sys::Corpus;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::LazyLock;

/// Defines the function that a target's file holds: it makes the input out of bytes and gives it to
/// the body.
macro_rules! fuzz_target {
    (|$input:ident: $type:ty| $body:expr) => {
        pub fn run(bytes: &[u8]) -> libfuzzer_sys::Corpus {
            use arbitrary::{Arbitrary, Unstructured};

            #[inline(never)]
            fn target($input: $type) {
                $body
            }

            if bytes.len() < <$type as Arbitrary>::size_hint(0).0 {
                return libfuzzer_sys::Corpus::Reject;
            }
            match <$type as Arbitrary>::arbitrary_take_rest(Unstructured::new(bytes)) {
                Ok(input) => target(input),
                Err(_) => return libfuzzer_sys::Corpus::Reject,
            }
            libfuzzer_sys::Corpus::Keep
        }
    };
}

/// Declares the module of each target and the table of all.
macro_rules! targets {
    ($($name:ident)*) => {
        $(mod $name;)*

        const TARGETS: &[(&str, fn(&[u8]) -> Corpus)] = &[$((stringify!($name), $name::run)),*];
    };
}

mod invented;
mod markup;
mod messages;
mod stores;
#[allow(dead_code, unused_imports)]
#[path = "../../crates/protocol/statement/tests/it/support.rs"]
mod support;

targets! {
    alias_parse
    assertion_verify
    back_ends_agree
    claims_to_token_and_back
    entry_stream
    family_parse
    inbox_vs_model
    jwk_parse
    jwks_select
    json_parse
    jws_parse
    limiter_vs_model
    mandate_notification_parse
    mandate_notification_to_json_and_back
    mandate_outcome_parse
    mandate_outcome_to_json_and_back
    message_seal_and_open
    outbox_vs_model
    payload_open
    payment_outcome_parse
    payment_outcome_to_json_and_back
    pem_parse
    poller_vs_model
    query_notification_parse
    query_notification_to_json_and_back
    readers_agree
    report_parse
    report_to_xml_and_back
    statement_reply_parse
    strict_vs_libxml2
    token_form_parse
    window_vs_model
}

fn find(wanted: &str) -> Option<fn(&[u8]) -> Corpus> {
    TARGETS
        .iter()
        .find(|(name, _)| *name == wanted)
        .map(|(_, run)| *run)
}

static RUN: LazyLock<fn(&[u8]) -> Corpus> = LazyLock::new(|| {
    let called = PathBuf::from(std::env::args_os().next().unwrap_or_default());
    if let Some(run) = called.file_name().and_then(OsStr::to_str).and_then(find) {
        return run;
    }
    let wanted = std::env::var("FUZZ_TARGET").unwrap_or_default();
    if wanted == "list" {
        TARGETS.iter().for_each(|(name, _)| println!("{name}"));
        std::process::exit(0);
    }
    find(&wanted).unwrap_or_else(|| {
        eprintln!("FUZZ_TARGET={wanted:?} is no target; FUZZ_TARGET=list prints their names");
        std::process::exit(2);
    })
});

libfuzzer_sys::fuzz_target!(init: { LazyLock::force(&RUN); }, |bytes: &[u8]| -> Corpus { RUN(bytes) });
