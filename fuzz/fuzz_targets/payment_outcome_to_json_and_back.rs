//! Structured values in: every payment outcome that can be built is written and read back equal.

use crate::messages::{Plan, to_json_and_back};

fuzz_target!(|plan: Plan<'_>| to_json_and_back(plan.payment()));
