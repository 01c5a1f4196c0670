//! `account_message!`: a message about accounts, such as camt.052, camt.053 and camt.054 of one
//! version.

/// States a message of a group header and of groups, such as reports, each with the entries of one
/// account.
///
/// ```text
/// account_message! {
///     /// What the message is.
///     Document = "BankToCustomerAccountReportV06" in "BkToCstmrAcctRpt" of crate::NAMESPACE {
///         /// What the groups are.
///         reports: Report = "Rpt",
///     }
///     /// What a group is.
///     Report = "AccountReport19", a "report" {
///         pagination: "RptPgntn",
///         balances: {
///             /// What the balances are.
///             balances: 0..* Balance = "Bal",
///         }
///         additional_information: "AddtlRptInf",
///     }
///     /// Examples.
///     stream: EntryReader of StreamItem { ReportStart, ReportEnd }
/// }
/// ```
///
/// - `balances` is left out for a message without them.
/// - The group has the elements that the messages of one version share, and methods for its entries
///   and balances. Its summary is compared with its entries.
#[doc(hidden)]
#[macro_export]
macro_rules! account_message {
    (
        $(#[$document_meta:meta])*
        $Document:ident = $document:literal in $root:literal of $namespace:path {
            $(#[$groups_meta:meta])* $groups:ident: $_Group:ident = $wire:literal,
        }
        $(#[$meta:meta])*
        $Group:ident = $schema:literal, a $word:literal {
            pagination: $pagination:literal,
            $(balances: { $($balances:tt)+ })?
            additional_information: $words:literal,
        }
        $(#[$stream_meta:meta])*
        stream: $Reader:ident of $Item:ident { $Start:ident, $End:ident }
    ) => {
        $crate::message! {
            $(#[$document_meta])*
            $Document = $document {
                /// Identifies the message.
                group_header: 1..1 ~$crate::GroupHeader = "GrpHdr",
                $(#[$groups_meta])*
                $groups: 1..* $Group = $wire,
                /// Data that sender and receiver agreed on beyond the message.
                supplementary_data: 0..* $crate::SupplementaryData = "SplmtryData",
            }
            namespace: $namespace,
            root: $root,
            depth: 16,
            header: group_header $crate::GroupHeader,
            groups: $Group = $wire,
            units: $crate::Entry = "Ntry",
            #[doc = concat!("Reads a document of any size entry by entry: for each ", $word, " its start, its entries")]
            /// and its end, then the end of the message.
            ///
            #[doc = concat!("- What stands before the first entry of a ", $word, " comes with its start. The parts that")]
            ///   cannot be missing must be there; without them the first entry is an error that
            ///   names them. Reading a whole document accepts them later, too.
            /// - What stands after the entries, and what the summary contradicts, comes with the
            ///   end.
            /// - Under [`Mode::Strict`](crate::Mode::Strict) the first finding of the schema ends
            ///   the stream.
            ///
            $(#[$stream_meta])*
            stream: $Reader of $Item { $Start, Entry, $End },
        }

        $crate::record! {
            $(#[$meta])*
            $Group = $schema {
                #[doc = concat!("The servicer's identification of this ", $word, ", up to 35 characters.")]
                id: 1..1 $crate::Text<35> = "Id",
                #[doc = concat!("The page of a ", $word, " that is sent in several.")]
                pagination: 0..1 $crate::Pagination = $pagination,
                #[doc = concat!("Counts the ", $word, "s sent electronically for the account.")]
                electronic_sequence: 0..1 $crate::WholeNumber = "ElctrncSeqNb",
                #[doc = concat!("Counts the ", $word, "s that have legal standing, on paper or not.")]
                legal_sequence: 0..1 $crate::WholeNumber = "LglSeqNb",
                #[doc = concat!("When the ", $word, " was made, with the offset it was written with, if any.")]
                created_at: 1..1 ~$crate::DateTime = "CreDtTm",
                #[doc = concat!("What the ", $word, " covers, from and to.")]
                period: 0..1 $crate::DateTimePeriod = "FrToDt",
                #[doc = concat!("Set when the ", $word, " repeats or copies another.")]
                copy_duplicate: 0..1 $crate::CopyDuplicate = "CpyDplctInd",
                /// The system that the figures come from.
                source: 0..1 $crate::ReportingSource = "RptgSrc",
                /// The account of these entries.
                account: 1..1 $crate::Account = "Acct",
                /// An account that belongs to it, such as the one that it is pooled in.
                related_account: 0..1 Box<$crate::CounterpartyAccount> = "RltdAcct",
                /// Interest that holds for the account as a whole; what was booked is an entry.
                interest: 0..* $crate::AccountInterest = "Intrst",
                $($($balances)+)?
                /// Counts and sums over the entries, as the sender states them; reading compares.
                summary: 0..1 Box<$crate::Summary> = "TxsSummry",
                /// The entries, in the order of the message.
                entries: 0..* $crate::Entry = "Ntry",
                #[doc = concat!("Free text on the ", $word, ", up to 500 characters.")]
                additional_information: 0..1 $crate::Text<500> = $words,
            } => compare
        }

        /// Compares the summary with the entries, once all have been read.
        fn compare(group: &$Group, by: &mut impl $crate::__private::Watch) {
            $crate::__private::compare_summary(group.summary.as_deref(), by);
        }

        impl $Group {
            /// One line per transaction, or per entry where no transactions are detailed.
            pub fn lines(&self) -> impl Iterator<Item = $crate::EntryLine<'_>> {
                self.entries.iter().flat_map($crate::Entry::lines)
            }
        }

        $($crate::__account_balances! { $Group $($balances)+ })?
    };
}

/// What a group with balances answers about them.
#[doc(hidden)]
#[macro_export]
macro_rules! __account_balances {
    ($Group:ident $($balances:tt)+) => {
        impl $Group {
            /// The first balance of a kind.
            #[must_use]
            pub fn balance(&self, kind: &$crate::BalanceCode) -> Option<&$crate::Balance> {
                $crate::__private::balance(&self.balances, kind)
            }

            /// The opening balance: the first `OPBD`, otherwise the first `PRCD`, the closing
            /// balance before.
            #[must_use]
            pub fn opening_balance(&self) -> Option<&$crate::Balance> {
                $crate::__private::opening(&self.balances)
            }

            /// The closing balance: the last `CLBD`, otherwise the last `ITBD`, the booked balance
            /// so far.
            #[must_use]
            pub fn closing_balance(&self) -> Option<&$crate::Balance> {
                $crate::__private::closing(&self.balances)
            }

            /// Each entry, in the order of the document, with the booked balance after it: the
            /// opening balance and the booked entries up to and with it, below zero when the
            /// account is overdrawn.
            ///
            /// `None` without an opening balance, and from an entry on that is booked in another
            /// currency or has an unknown direction. Entries that are not booked leave the balance
            /// as it is.
            pub fn running_balances(
                &self,
            ) -> impl Iterator<Item = (&$crate::Entry, Option<$crate::__private::Decimal>)> {
                $crate::__private::running(self.opening_balance(), &self.entries)
            }
        }
    };
}
