//! The memory of the parts that every entry has.

use bankrail_camt::{CounterpartyAccount, Entry, PartyOrAgent, References, Transaction};

/// Each part is copied while it is read, and a list of entries while it grows. A rare part of a
/// later version has to be boxed where it would make them larger.
#[test]
#[cfg(target_pointer_width = "64")]
fn the_parts_of_an_entry_stay_small() {
    for (part, bytes, most) in [
        ("Entry", size_of::<Entry>(), 440),
        ("Transaction", size_of::<Transaction>(), 456),
        ("References", size_of::<References>(), 368),
        ("PartyOrAgent", size_of::<PartyOrAgent>(), 88),
        ("CounterpartyAccount", size_of::<CounterpartyAccount>(), 136),
    ] {
        assert!(bytes <= most, "{part} has {bytes} bytes, more than {most}");
    }
}
