//! The header of a message, pages, supplementary data.

use crate::*;

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

    /// The query that the message answers.
    OriginalQuery = "OriginalBusinessQuery1" {
        /// The query's identification of itself.
        message_id: 1..1 Text<35> = "MsgId",
        /// The query's kind of message.
        message_name: 0..1 Text<35> = "MsgNmId",
        /// When the query was made.
        created_at: 0..1 DateTime = "CreDtTm",
    }

    /// The number of a page, and whether it is the last.
    Pagination = "Pagination" {
        /// Counts from 1, in up to 5 digits.
        page: 1..1 Digits<1, 5> = "PgNb",
        /// True for the last page.
        last_page: 1..1 bool = "LastPgInd" as "YesNoIndicator",
    }

    /// Supplementary data, and the element of the message that they belong to.
    SupplementaryData = "SupplementaryData1" {
        /// Where in the message the data belong, and what they are called.
        place_and_name: 0..1 Text<350> = "PlcAndNm",
        /// The data themselves, one element of any kind.
        envelope: 1..1 Envelope = "Envlp",
    }

    /// Another message by its name and identification.
    MessageId = "MessageIdentification2" {
        /// The kind of message.
        message_name: 0..1 Text<35> = "MsgNmId",
        /// The message's identification of itself.
        message_id: 0..1 Text<35> = "MsgId",
    }
}

code_or_proprietary! {
    /// The system that the report comes from.
    ReportingSource = "ReportingSource1Choice" { Text<4> as "ExternalReportingSource1Code", Text<35> }
}

codes! {
    /// Whether a report is a copy, a duplicate, or both.
    CopyDuplicate = "CopyDuplicate1Code" {
        CopyDuplicate = "CODU", Copy = "COPY", Duplicate = "DUPL",
    }
}
