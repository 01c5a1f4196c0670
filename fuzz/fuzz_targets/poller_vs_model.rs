//! Takes the choices of a bank that inserts, moves, repeats, corrects and completes entries between
//! two polls, of processes that end and of clocks. The entries that the poll hands over make a
//! ledger that equals the statement: nothing twice, nothing lost, and completed entries replaced.
//! The banks are those of the crate's own tests.

#[allow(dead_code, unused_imports)]
#[path = "../../crates/protocol/statement/tests/it/polling.rs"]
mod polling;

#[allow(dead_code)]
#[path = "../../crates/protocol/statement/tests/it/relations/bank.rs"]
mod bank;
#[allow(dead_code)]
#[path = "../../crates/protocol/statement/tests/it/relations/invented_days.rs"]
mod invented_days;
#[allow(dead_code, unused_imports)]
#[path = "../../crates/protocol/statement/tests/it/relations/unread.rs"]
mod unread;

use crate::support::Random;

fuzz_target!(|input: (u8, &[u8])| {
    let (which, choices) = input;
    let random = Random::of(choices.to_vec());
    match which % 3 {
        0 => polling::live(random, "these choices"),
        1 => _ = invented_days::live(random, "these choices"),
        _ => _ = unread::live(random, "these choices"),
    }
});
