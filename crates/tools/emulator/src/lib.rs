#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod bank;
mod body;
mod booking;
mod call;
mod calls;
mod certificate;
mod clock;
mod control;
mod directory;
mod emulator;
mod fault;
mod front;
mod ids;
mod journal;
mod keys;
mod ledger;
mod listener;
mod narrative;
mod options;
mod plan;
mod story;
mod test_account;
mod webhook;
mod webhook_faults;

/// The crate of the routers, with the headers and statuses of `http` and the bytes of `bytes`.
pub use axum;
/// The crate of the values that the operations of a [`Control`] return.
pub use serde_json;

pub use bank::FakeBank;
pub use booking::{FakeBooking, FakeEntryId};
pub use call::{Call, Endpoint};
pub use calls::Calls;
pub use certificate::{Certificate, CertificateAuthority, CertificateAuthorityError};
pub use clock::BankClock;
pub use control::{
    Arguments, BankData, Control, ControlError, ControlOptions, DataFuture, Member, MemberKind,
    Operation,
};
pub use directory::FakeDirectory;
pub use emulator::{Emulator, EmulatorError, EmulatorOptions, Engines};
pub use fault::Fault;
pub use ledger::FakeLedger;
pub use options::FakeBankOptions;
pub use plan::FaultOrder;
pub use story::{MandateStory, PaymentStory, ShopStory, story};
pub use test_account::TestAccount;
pub use webhook::{Delivered, Webhook};
