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
        group_header: 1..1 ~GroupHeader = "GrpHdr",
        reports: 1..* Report = "Rpt",
        supplementary_data: 0..* SupplementaryData = "SplmtryData",
    }
}

record! {
    /// What concerns all reports of the message.
    GroupHeader = "GroupHeader58" {
        message_id: 1..1 Text<35> = "MsgId",
        created_at: 1..1 ~DateTime = "CreDtTm",
        recipient: 0..1 Box<Party> = "MsgRcpt",
        pagination: 0..1 Pagination = "MsgPgntn",
        original_query: 0..1 Box<OriginalQuery> = "OrgnlBizQry",
        additional_information: 0..1 Text<500> = "AddtlInf",
    }
}

record! {
    /// A report on one account.
    Report = "AccountReport19" {
        id: 1..1 Text<35> = "Id",
        pagination: 0..1 Pagination = "RptPgntn",
        electronic_sequence: 0..1 WholeNumber = "ElctrncSeqNb",
        legal_sequence: 0..1 WholeNumber = "LglSeqNb",
        created_at: 1..1 ~DateTime = "CreDtTm",
        period: 0..1 DateTimePeriod = "FrToDt",
        copy_duplicate: 0..1 CopyDuplicate = "CpyDplctInd",
        source: 0..1 ReportingSource = "RptgSrc",
        account: 1..1 Account = "Acct",
        related_account: 0..1 Box<CounterpartyAccount> = "RltdAcct",
        interest: 0..* AccountInterest = "Intrst",
        balances: 0..* Balance = "Bal",
        summary: 0..1 Box<Summary> = "TxsSummry",
        entries: 0..* Entry = "Ntry",
        additional_information: 0..1 Text<500> = "AddtlRptInf",
    } then crate::beyond::report
}

record! {
    /// The query that the message answers.
    OriginalQuery = "OriginalBusinessQuery1" {
        message_id: 1..1 Text<35> = "MsgId",
        message_name: 0..1 Text<35> = "MsgNmId",
        created_at: 0..1 DateTime = "CreDtTm",
    }
}

record! {
    /// The number of a page, and whether it is the last.
    Pagination = "Pagination" {
        page: 1..1 Digits<1, 5> = "PgNb",
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
        place_and_name: 0..1 Text<350> = "PlcAndNm",
        envelope: 1..1 Envelope = "Envlp",
    }
}

record! {
    /// Another message by its name and identification.
    MessageId = "MessageIdentification2" {
        message_name: 0..1 Text<35> = "MsgNmId",
        message_id: 0..1 Text<35> = "MsgId",
    }
}

codes! {
    /// Whether a report is a copy, a duplicate, or both.
    CopyDuplicate = "CopyDuplicate1Code" {
        CopyDuplicate = "CODU", Copy = "COPY", Duplicate = "DUPL",
    }
}
