//! A test against a fake bank, which `full` does not have.
//! says: the item is gated behind the `emulator` feature
use bankrail::emulator::FakeBank;

fn main() {
    let _: Option<FakeBank> = None;
}
