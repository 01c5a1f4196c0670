use crate::{broken, explored};
use bankrail_model::inbox::{Fault, InboxModel};

const CALM: InboxModel = InboxModel {
    fault: None,
    transactional: true,
    crashes: 0,
    store_faults: 0,
    sends: 2,
};

#[test]
fn every_state_of_the_inbox_after_crashes_keeps_the_rules() {
    explored(InboxModel { crashes: 1, ..CALM }, 44_697);
    explored(
        InboxModel {
            crashes: 1,
            transactional: false,
            ..CALM
        },
        208_971,
    );
}

#[test]
fn every_state_of_the_inbox_after_failures_of_the_store_keeps_the_rules() {
    explored(
        InboxModel {
            store_faults: 1,
            ..CALM
        },
        220_872,
    );
}

#[test]
fn each_fault_planted_in_the_inbox_is_found() {
    for (fault, property, transactional) in Fault::ALL {
        broken(
            InboxModel {
                fault: Some(fault),
                transactional,
                crashes: 1,
                store_faults: 1,
                ..CALM
            },
            property,
        );
    }
}
