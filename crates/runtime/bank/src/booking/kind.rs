//! What happened on an account, and how a statement codes it.

use bankrail_camt052::Direction;
use bankrail_statement::EntryChannel;
use bankrail_values::excerpt;
use std::str::FromStr;

/// States each kind once: its name, direction, channel, and the domain, family and sub-family of
/// its code.
macro_rules! kinds {
    ($($(#[$doc:meta])* $Kind:ident = $name:literal: $Direction:ident $Channel:ident $codes:expr,)*) => {
        /// What happened on an account. It decides the direction of the entry, its channel and its
        /// bank transaction code (`BkTxCd`), from ISO 20022's external code list.
        ///
        /// - Specification: "Statement payload" shows `PMNT`, `RCDT`, `DMCT`, a domestic credit
        ///   transfer received. Fast payments and credits to virtual accounts have it.
        /// - Default: the other codes.
        ///
        /// | kind | name | direction | code |
        /// |---|---|---|---|
        $(#[doc = concat!("| `", stringify!($Kind), "` | `", $name, "` | ", stringify!($Direction), " | `",
            stringify!($codes), "` |")])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum BookingKind { $($(#[$doc])* $Kind,)* }

        impl BookingKind {
            /// All kinds.
            pub const ALL: &'static [Self] = &[$(Self::$Kind),*];

            /// The name of the kind in files, such as `fast_payment_in`.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$Kind => $name,)* }
            }

            /// Credit if the account's balance grows, debit if it falls; for a reversal it is the
            /// other way round.
            #[must_use]
            pub fn direction(self) -> Direction {
                match self { $(Self::$Kind => Direction::$Direction,)* }
            }

            /// The channel, on which `includeNarrative` depends.
            #[must_use]
            pub fn channel(self) -> EntryChannel {
                match self { $(Self::$Kind => EntryChannel::$Channel,)* }
            }

            /// Domain, family and sub-family of the bank transaction code.
            #[must_use]
            pub fn bank_transaction_code(self) -> [&'static str; 3] {
                match self { $(Self::$Kind => $codes,)* }
            }
        }
    };
}

kinds! {
    /// A fast payment received.
    FastPaymentIn = "fast_payment_in": Credit FastPayment ["PMNT", "RCDT", "DMCT"],
    /// A fast payment sent.
    FastPaymentOut = "fast_payment_out": Debit FastPayment ["PMNT", "ICDT", "DMCT"],
    /// A fast payment to one of the account's virtual accounts.
    VirtualAccountCredit = "virtual_account_credit": Credit FastPayment ["PMNT", "RCDT", "DMCT"],
    /// A domestic credit transfer received through another channel.
    TransferIn = "transfer_in": Credit Ordinary ["PMNT", "RCDT", "DMCT"],
    /// A domestic credit transfer sent through another channel.
    TransferOut = "transfer_out": Debit Ordinary ["PMNT", "ICDT", "DMCT"],
    /// A credit transfer received from another country.
    InternationalTransferIn = "international_transfer_in": Credit Ordinary ["PMNT", "RCDT", "XBCT"],
    /// A credit transfer sent to another country.
    InternationalTransferOut = "international_transfer_out": Debit Ordinary ["PMNT", "ICDT", "XBCT"],
    /// A transfer from another account at the same bank, such as a sweep.
    InternalTransferIn = "internal_transfer_in": Credit Ordinary ["PMNT", "RCDT", "BOOK"],
    /// A transfer to another account at the same bank, such as a sweep.
    InternalTransferOut = "internal_transfer_out": Debit Ordinary ["PMNT", "ICDT", "BOOK"],
    /// A direct debit that the account holder pays.
    DirectDebitPaid = "direct_debit_paid": Debit Ordinary ["PMNT", "RDDT", "PMDD"],
    /// A direct debit that the account holder collects.
    DirectDebitCollected = "direct_debit_collected": Credit Ordinary ["PMNT", "IDDT", "PMDD"],
    /// A cheque of the account holder that was presented.
    ChequePaid = "cheque_paid": Debit Ordinary ["PMNT", "ICHQ", "CCHQ"],
    /// A cheque that the account holder deposited.
    ChequeDeposited = "cheque_deposited": Credit Ordinary ["PMNT", "RCHQ", "CCHQ"],
    /// A deposit of cash at the counter.
    CashDeposit = "cash_deposit": Credit Ordinary ["PMNT", "CNTR", "CDPT"],
    /// A withdrawal of cash at the counter.
    CashWithdrawal = "cash_withdrawal": Debit Ordinary ["PMNT", "CNTR", "CWDL"],
    /// A purchase with a card of the account holder.
    CardPurchase = "card_purchase": Debit Ordinary ["PMNT", "CCRD", "POSD"],
    /// Card payments that the account holder accepted as a merchant.
    CardSettlement = "card_settlement": Credit Ordinary ["PMNT", "MCRD", "POSP"],
    /// A fee of the bank.
    Fee = "fee": Debit Ordinary ["ACMT", "MDOP", "CHRG"],
    /// Interest that the bank charges.
    InterestCharged = "interest_charged": Debit Ordinary ["ACMT", "MDOP", "INTR"],
    /// Interest that the bank pays.
    InterestPaid = "interest_paid": Credit Ordinary ["ACMT", "MCOP", "INTR"],
}

bankrail_values::impl_display!(BookingKind);

impl FromStr for BookingKind {
    type Err = BookingKindError;

    fn from_str(name: &str) -> Result<Self, BookingKindError> {
        let known = Self::ALL.iter().copied().find(|kind| kind.as_str() == name);
        known.ok_or_else(|| BookingKindError {
            found: excerpt(name),
        })
    }
}

/// Not the name of a [`BookingKind`].
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
