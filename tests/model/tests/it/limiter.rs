use crate::{broken, explored};
use bankrail_model::limiter::{Fault, LimiterModel};
use bankrail_rate_limit::{Algorithm, Counting};

const SOUND: LimiterModel = LimiterModel {
    fault: None,
    algorithm: Algorithm::Sliding,
    counting: Counting::Admitted,
    skew: 0,
    faults: 0,
};

const FIXED: LimiterModel = LimiterModel {
    algorithm: Algorithm::Fixed,
    ..SOUND
};

#[test]
fn every_state_of_the_counters_keeps_the_rules() {
    explored(SOUND, 1_257);
    explored(FIXED, 2_968);
    explored(
        LimiterModel {
            counting: Counting::Attempts,
            ..SOUND
        },
        16_597,
    );
    explored(
        LimiterModel {
            counting: Counting::Attempts,
            ..FIXED
        },
        24_433,
    );
}

#[test]
fn every_state_of_counters_by_clocks_that_differ_keeps_the_rules() {
    explored(LimiterModel { skew: 1, ..SOUND }, 7_327);
    explored(LimiterModel { skew: 1, ..FIXED }, 31_721);
}

#[test]
fn every_state_of_counters_that_fail_or_whose_clock_is_set_back_keeps_the_rules() {
    explored(LimiterModel { faults: 1, ..SOUND }, 61_000);
    explored(LimiterModel { faults: 1, ..FIXED }, 160_105);
}

#[test]
fn each_fault_planted_in_the_limiter_is_found() {
    for (fault, property, skew) in Fault::ALL {
        broken(
            LimiterModel {
                fault: Some(fault),
                skew,
                faults: 1,
                ..SOUND
            },
            property,
        );
    }
}
