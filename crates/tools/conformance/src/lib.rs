#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod client;
mod error;
mod hook;
mod invented;
mod judgement;
mod provider;
mod receiver;
mod row;
mod selection;
mod signature;

/// The crate of the name of the header with the API key.
pub use http;

pub use error::JudgeError;
pub use hook::Hook;
pub use judgement::Judgement;
pub use provider::{Budget, BudgetError, CallsLeft, Customer, ProviderJudge, ProviderJudgeOptions};
pub use receiver::{ReceiverAddresses, ReceiverJudge, ReceiverJudgeOptions};
pub use row::{Row, Verdict};
pub use selection::{RowSelection, RowSelectionError, UnrunRows, UnrunRowsError};
