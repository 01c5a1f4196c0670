//! A status of a payment that later versions of the messages may have is not thought of.
//! says: marked as non-exhaustive, so a wildcard `_` is necessary
use bankrail::webhook::TransactionStatus;

fn is_final(status: &TransactionStatus) -> bool {
    match status {
        TransactionStatus::SettlementCompleted | TransactionStatus::Rejected => true,
        TransactionStatus::SettlementPending | TransactionStatus::Warehoused => false,
        TransactionStatus::Unknown(_) => false,
    }
}

fn main() {}
