//! Takes values. Every query that can be built is written and read again equal.

use crate::messages::{Plan, to_json_and_back};

fuzz_target!(|plan: Plan<'_>| to_json_and_back(plan.query()));
