#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod bank;
mod body;
mod booking;
mod call;
mod directory;
mod fault;
mod front;
mod ids;
mod keys;
mod ledger;
mod listener;
mod options;
mod story;
mod test_account;
mod transport;
mod webhook;
mod webhooks;

pub use bank::FakeBank;
pub use booking::{Booked, Booking};
pub use call::{Call, Endpoint};
pub use directory::FakeDirectory;
pub use fault::Fault;
pub use ledger::FakeLedger;
pub use options::FakeBankOptions;
pub use story::{MandateStory, PaymentStory};
pub use test_account::TestAccount;
pub use webhook::{Delivered, Webhook};
