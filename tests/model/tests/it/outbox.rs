use crate::{broken, explored};
use bankrail_model::outbox::{Fault, OutboxModel};

const CALM: OutboxModel = OutboxModel {
    fault: None,
    skew: 0,
    crashes: 0,
    lost: 0,
    late: 0,
    refuses: false,
    drops: false,
    rests: false,
};

#[test]
fn every_state_of_the_outbox_after_crashes_keeps_the_rules() {
    explored(
        OutboxModel {
            crashes: 2,
            refuses: true,
            drops: true,
            ..CALM
        },
        136_007,
    );
}

#[test]
fn every_state_of_the_outbox_after_lost_answers_keeps_the_rules() {
    explored(
        OutboxModel {
            crashes: 1,
            lost: 1,
            ..CALM
        },
        39_252,
    );
}

#[test]
fn every_state_of_the_outbox_after_refusals_and_lost_answers_keeps_the_rules() {
    explored(
        OutboxModel {
            lost: 1,
            refuses: true,
            ..CALM
        },
        899_890,
    );
}

#[test]
fn every_state_of_the_outbox_of_an_endpoint_that_rests_keeps_the_rules() {
    explored(
        OutboxModel {
            crashes: 1,
            lost: 1,
            rests: true,
            ..CALM
        },
        435_402,
    );
}

#[test]
fn every_state_of_the_outbox_after_late_operations_keeps_the_rules() {
    explored(
        OutboxModel {
            crashes: 1,
            late: 1,
            ..CALM
        },
        81_426,
    );
}

#[test]
fn every_state_of_the_outbox_of_clocks_that_differ_keeps_the_rules() {
    explored(
        OutboxModel {
            skew: 1,
            crashes: 1,
            ..CALM
        },
        8_448,
    );
}

#[test]
fn each_fault_planted_in_the_outbox_is_found() {
    for (fault, property) in Fault::ALL {
        let all = OutboxModel {
            crashes: 1,
            lost: 1,
            late: 1,
            refuses: true,
            drops: true,
            rests: true,
            ..CALM
        };
        broken(
            OutboxModel {
                fault: Some(fault),
                ..all
            },
            property,
        );
    }
}
