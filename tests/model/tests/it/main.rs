//! The models explored to exhaustion, each planted fault found, and the models' stores beside the
//! product's.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a case says what it expects"
)]

mod beside;
mod inbox;
mod limiter;
mod outbox;

use stateright::{Checker, Expectation, HasDiscoveries, Model};
use std::fmt::Debug;
use std::hash::Hash;
use std::time::Instant;

/// Explores all states of a model in which every property holds. There are as many as expected, so
/// that a model that shrinks is seen.
fn explored<M>(model: M, expected: usize)
where
    M: Model + Debug + Send + Sync + 'static,
    M::State: Clone + Debug + Hash + PartialEq + Send + Sync,
    M::Action: Clone + Debug + PartialEq,
{
    let (name, began) = (format!("{model:?}"), Instant::now());
    let properties = model.properties();
    let checker = model.checker().threads(2).spawn_bfs().join();
    let found = checker.discoveries();
    for property in properties {
        match (property.expectation, found.get(property.name)) {
            (Expectation::Sometimes, None) => {
                panic!("{name}: it is never so that {}", property.name)
            }
            (Expectation::Always, Some(path)) => {
                let steps = path.clone().into_actions();
                panic!(
                    "{name}: it is not always so that {}: {steps:#?}",
                    property.name
                )
            }
            _ => {}
        }
    }
    let states = checker.unique_state_count();
    println!(
        "{name}: {states} states, {} steps deep, {:?}",
        checker.max_depth(),
        began.elapsed()
    );
    assert_eq!(states, expected, "{name}");
}

/// Finds a run that breaks this property.
fn broken<M>(model: M, property: &'static str)
where
    M: Model + Debug + Send + Sync + 'static,
    M::State: Clone + Debug + Hash + PartialEq + Send + Sync,
    M::Action: Clone + Debug + PartialEq,
{
    let name = format!("{model:?}");
    let wanted = HasDiscoveries::AllOf([property].into());
    let checker = model
        .checker()
        .threads(2)
        .finish_when(wanted)
        .spawn_bfs()
        .join();
    let states = checker.unique_state_count();
    let path = checker.discovery(property);
    let path = path.unwrap_or_else(|| panic!("{name}: {property}: holds in all {states} states"));
    let actions = path.into_actions();
    println!("{name}: not {property:?} after {states} states: {actions:?}");
}
