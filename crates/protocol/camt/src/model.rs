//! The types that several messages share, with one module for each area.

mod account;
mod agent;
mod amount;
mod balance;
mod bank_transaction_code;
mod card;
mod charges;
mod document_line;
mod entry;
mod garnishment;
mod header;
mod instrument;
mod interest;
mod party;
mod period;
mod point_of_interaction;
mod remittance;
mod summary;
mod tax;
mod transaction;

pub use self::{
    account::*, agent::*, amount::*, balance::*, bank_transaction_code::*, card::*, charges::*,
    document_line::*, entry::*, garnishment::*, header::*, instrument::*, interest::*, party::*,
    period::*, point_of_interaction::*, remittance::*, summary::*, tax::*, transaction::*,
};
