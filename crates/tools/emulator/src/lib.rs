#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

/// The usual traits of a record whose `Display` is one line: `Debug` shows it, and a text can be
/// compared with it.
macro_rules! compared_as_text {
    ($type:ty) => {
        impl std::fmt::Debug for $type {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Debug::fmt(&self.to_string(), out)
            }
        }

        impl PartialEq<str> for $type {
            fn eq(&self, line: &str) -> bool {
                let own = self.to_string();
                own == line
            }
        }

        impl PartialEq<&str> for $type {
            fn eq(&self, line: &&str) -> bool {
                *self == **line
            }
        }
    };
}

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
mod transport;
mod webhook;
mod webhook_faults;
mod webhooks;

pub use bank::FakeBank;
pub use booking::{Booked, Booking};
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
pub use journal::CallFilter;
pub use ledger::FakeLedger;
pub use options::FakeBankOptions;
pub use plan::FaultOrder;
pub use story::{MandateStory, PaymentStory, ShopStory};
pub use test_account::TestAccount;
pub use webhook::{Delivered, Webhook};
