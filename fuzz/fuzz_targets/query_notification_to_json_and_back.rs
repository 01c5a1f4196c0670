//! Structured values in: every query that can be built is written and read back equal.
#![no_main]

use bankrail_fuzz::messages::{Plan, to_json_and_back};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|plan: Plan<'_>| to_json_and_back(plan.query()));
