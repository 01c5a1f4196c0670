//! Kinds of bookings, and the codes that a statement has for them.

use bankrail_camt052::Direction;
use bankrail_statement::EntryChannel;
use bankrail_values::excerpt;
use std::str::FromStr;
use strum::VariantArray;

/// The kind of a booking, which decides on the entry's direction, channel and bank transaction code
/// (`BkTxCd`), from ISO 20022's external code list.
///
/// - Specification: "Statement payload" shows `PMNT`, `RCDT`, `DMCT`, a domestic credit transfer
///   received. Fast payments and credits to virtual accounts have it.
/// - Default: the other codes.
///
/// The name of a kind in files is that of the variant in lower case, such as `fast_payment_in`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum BookingKind {
    /// A fast payment received.
    FastPaymentIn,
    /// A fast payment sent.
    FastPaymentOut,
    /// A fast payment to one of the account's virtual accounts.
    VirtualAccountCredit,
    /// A domestic credit transfer received through another channel.
    TransferIn,
    /// A domestic credit transfer sent through another channel.
    TransferOut,
    /// A credit transfer received from another country.
    InternationalTransferIn,
    /// A credit transfer sent to another country.
    InternationalTransferOut,
    /// A transfer from another account at the same bank, such as a sweep.
    InternalTransferIn,
    /// A transfer to another account at the same bank, such as a sweep.
    InternalTransferOut,
    /// A direct debit that the account holder pays.
    DirectDebitPaid,
    /// A direct debit that the account holder collects.
    DirectDebitCollected,
    /// A cheque of the account holder that was presented.
    ChequePaid,
    /// A cheque that the account holder deposited.
    ChequeDeposited,
    /// A deposit of cash at the counter.
    CashDeposit,
    /// A withdrawal of cash at the counter.
    CashWithdrawal,
    /// A purchase with a card of the account holder.
    CardPurchase,
    /// Card payments that the account holder accepted as a merchant.
    CardSettlement,
    /// A fee of the bank.
    Fee,
    /// Interest that the bank charges.
    InterestCharged,
    /// Interest that the bank pays.
    InterestPaid,
}

impl BookingKind {
    /// All kinds.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// Returns the name of the kind in files, such as `fast_payment_in`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Returns credit if the account's balance grows, debit if it falls; for a reversal it is the
    /// other way round.
    #[must_use]
    pub fn direction(self) -> Direction {
        match self {
            Self::FastPaymentIn
            | Self::VirtualAccountCredit
            | Self::TransferIn
            | Self::InternationalTransferIn
            | Self::InternalTransferIn
            | Self::DirectDebitCollected
            | Self::ChequeDeposited
            | Self::CashDeposit
            | Self::CardSettlement
            | Self::InterestPaid => Direction::Credit,
            Self::FastPaymentOut
            | Self::TransferOut
            | Self::InternationalTransferOut
            | Self::InternalTransferOut
            | Self::DirectDebitPaid
            | Self::ChequePaid
            | Self::CashWithdrawal
            | Self::CardPurchase
            | Self::Fee
            | Self::InterestCharged => Direction::Debit,
        }
    }

    /// Returns the channel, on which `includeNarrative` depends.
    #[must_use]
    pub fn channel(self) -> EntryChannel {
        match self {
            Self::FastPaymentIn | Self::FastPaymentOut | Self::VirtualAccountCredit => {
                EntryChannel::FastPayment
            }
            _ => EntryChannel::Ordinary,
        }
    }

    /// Returns domain, family and sub-family of the bank transaction code.
    #[must_use]
    pub fn bank_transaction_code(self) -> [&'static str; 3] {
        match self {
            Self::FastPaymentIn | Self::VirtualAccountCredit | Self::TransferIn => {
                ["PMNT", "RCDT", "DMCT"]
            }
            Self::FastPaymentOut | Self::TransferOut => ["PMNT", "ICDT", "DMCT"],
            Self::InternationalTransferIn => ["PMNT", "RCDT", "XBCT"],
            Self::InternationalTransferOut => ["PMNT", "ICDT", "XBCT"],
            Self::InternalTransferIn => ["PMNT", "RCDT", "BOOK"],
            Self::InternalTransferOut => ["PMNT", "ICDT", "BOOK"],
            Self::DirectDebitPaid => ["PMNT", "RDDT", "PMDD"],
            Self::DirectDebitCollected => ["PMNT", "IDDT", "PMDD"],
            Self::ChequePaid => ["PMNT", "ICHQ", "CCHQ"],
            Self::ChequeDeposited => ["PMNT", "RCHQ", "CCHQ"],
            Self::CashDeposit => ["PMNT", "CNTR", "CDPT"],
            Self::CashWithdrawal => ["PMNT", "CNTR", "CWDL"],
            Self::CardPurchase => ["PMNT", "CCRD", "POSD"],
            Self::CardSettlement => ["PMNT", "MCRD", "POSP"],
            Self::Fee => ["ACMT", "MDOP", "CHRG"],
            Self::InterestCharged => ["ACMT", "MDOP", "INTR"],
            Self::InterestPaid => ["ACMT", "MCOP", "INTR"],
        }
    }
}

bankrail_values::impl_display!(BookingKind);

impl FromStr for BookingKind {
    type Err = BookingKindError;

    fn from_str(name: &str) -> Result<Self, BookingKindError> {
        let known = Self::ALL.iter().find(|kind| kind.as_str() == name);
        known.copied().ok_or_else(|| BookingKindError {
            found: excerpt(name),
        })
    }
}

/// The error of a text that is not the name of a [`BookingKind`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected one of {}, found {found}", names())]
#[non_exhaustive]
pub struct BookingKindError {
    /// The text, cut and escaped.
    pub found: String,
}

fn names() -> String {
    BookingKind::ALL
        .iter()
        .map(|kind| kind.as_str())
        .collect::<Vec<_>>()
        .join(" ")
}
