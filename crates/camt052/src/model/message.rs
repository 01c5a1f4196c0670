//! The message: group header, reports, pages, supplementary data.

use crate::model::account::{Account, CounterpartyAccount};
use crate::model::balance::Balance;
use crate::model::entry::Entry;
use crate::model::envelope::Envelope;
use crate::model::interest::AccountInterest;
use crate::model::party::Party;
use crate::model::period::DateTimePeriod;
use crate::model::summary::Summary;
use crate::schema::{choice, codes, record};
use crate::value::date::DateTime;
use crate::value::number::WholeNumber;
use crate::value::text::{Digits, Text};

record! {
    /// A whole message: a group header and one or more reports.
    Document = "BankToCustomerAccountReportV06" {
        /// Identifies the message; common to all its reports.
        group_header: 1..1 ~GroupHeader = "GrpHdr",
        /// Each on one account.
        reports: 1..* Report = "Rpt",
        /// What sender and receiver agreed on beyond the message.
        supplementary_data: 0..* SupplementaryData = "SplmtryData",
    }
}

record! {
    /// What concerns all reports of the message.
    GroupHeader = "GroupHeader58" {
        /// The sender's identification of this message, up to 35 characters; not that of a report.
        message_id: 1..1 Text<35> = "MsgId",
        /// When the message was made, with the offset it was written with, if any.
        created_at: 1..1 ~DateTime = "CreDtTm",
        /// Who the message is for, if that is not the account owner.
        recipient: 0..1 Box<Party> = "MsgRcpt",
        /// The page of a message that is sent in several.
        pagination: 0..1 Pagination = "MsgPgntn",
        /// The query that the message answers.
        original_query: 0..1 Box<OriginalQuery> = "OrgnlBizQry",
        /// Free text on the message, up to 500 characters.
        additional_information: 0..1 Text<500> = "AddtlInf",
    }
}

record! {
    /// A report on one account.
    Report = "AccountReport19" {
        /// The servicer's identification of this report, up to 35 characters.
        id: 1..1 Text<35> = "Id",
        /// The page of a report that is sent in several.
        pagination: 0..1 Pagination = "RptPgntn",
        /// Counts the reports sent electronically for the account.
        electronic_sequence: 0..1 WholeNumber = "ElctrncSeqNb",
        /// Counts the reports that have legal standing, on paper or not.
        legal_sequence: 0..1 WholeNumber = "LglSeqNb",
        /// When the report was made, with the offset it was written with, if any.
        created_at: 1..1 ~DateTime = "CreDtTm",
        /// What the report covers, from and to.
        period: 0..1 DateTimePeriod = "FrToDt",
        /// Set when the report repeats or copies another.
        copy_duplicate: 0..1 CopyDuplicate = "CpyDplctInd",
        /// The system that the figures come from.
        source: 0..1 ReportingSource = "RptgSrc",
        /// Whose balances and entries these are.
        account: 1..1 Account = "Acct",
        /// An account that belongs to it, such as the one that it is pooled in.
        related_account: 0..1 Box<CounterpartyAccount> = "RltdAcct",
        /// Interest that holds for the account as a whole; what was booked is an entry.
        interest: 0..* AccountInterest = "Intrst",
        /// As of the times that they state.
        balances: 0..* Balance = "Bal",
        /// Counts and sums over the entries, as the sender states them; reading compares.
        summary: 0..1 Box<Summary> = "TxsSummry",
        /// What was booked or is expected, in the order of the message.
        entries: 0..* Entry = "Ntry",
        /// Free text on the report, up to 500 characters.
        additional_information: 0..1 Text<500> = "AddtlRptInf",
    } then crate::beyond::report
}

record! {
    /// The query that the message answers.
    OriginalQuery = "OriginalBusinessQuery1" {
        /// The query's identification of itself.
        message_id: 1..1 Text<35> = "MsgId",
        /// The query's kind of message.
        message_name: 0..1 Text<35> = "MsgNmId",
        /// When the query was made.
        created_at: 0..1 DateTime = "CreDtTm",
    }
}

record! {
    /// The number of a page, and whether it is the last.
    Pagination = "Pagination" {
        /// Counts from 1, in up to 5 digits.
        page: 1..1 Digits<1, 5> = "PgNb",
        /// Whether no page follows.
        last_page: 1..1 bool = "LastPgInd",
    }
}

choice! {
    /// The system that the report comes from.
    ReportingSource = "ReportingSource1Choice" {
        Code(Text<4>) = "Cd",
        Proprietary(Text<35>) = "Prtry",
    }
}

record! {
    /// Data beyond the message, and where in it they belong.
    SupplementaryData = "SupplementaryData1" {
        /// Where in the message the data belong, and what they are called.
        place_and_name: 0..1 Text<350> = "PlcAndNm",
        /// The data themselves, one element of any kind.
        envelope: 1..1 Envelope = "Envlp",
    }
}

record! {
    /// Another message by its name and identification.
    MessageId = "MessageIdentification2" {
        /// The kind of message.
        message_name: 0..1 Text<35> = "MsgNmId",
        /// The message's identification of itself.
        message_id: 0..1 Text<35> = "MsgId",
    }
}

codes! {
    /// Whether a report is a copy, a duplicate, or both.
    CopyDuplicate = "CopyDuplicate1Code" {
        CopyDuplicate = "CODU", Copy = "COPY", Duplicate = "DUPL",
    }
}
