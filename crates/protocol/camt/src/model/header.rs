//! The header of a message, pages, supplementary data.

use crate::*;

/// The part of a message that concerns all its reports.
///
/// `GroupHeader58` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "GroupHeader58")]
#[non_exhaustive]
pub struct GroupHeader {
    /// The sender's identification of this message, up to 35 characters; which is not that of a
    /// report. `MsgId`.
    #[element("MsgId")]
    pub message_id: Text<35>,
    /// The time at which the message was made, with the offset that it was written with, if any.
    /// `CreDtTm`, mandatory in the schema; optional in tolerant reading.
    #[element("CreDtTm", soft)]
    pub created_at: Option<IsoDateTime>,
    /// The recipient of the message, if that is not the account owner. `MsgRcpt`.
    #[element("MsgRcpt")]
    pub recipient: Option<Box<Party>>,
    /// The page of a message that is sent in several. `MsgPgntn`.
    #[element("MsgPgntn")]
    pub pagination: Option<Pagination>,
    /// The query that the message answers. `OrgnlBizQry`.
    #[element("OrgnlBizQry", since = 3)]
    pub original_query: Option<Box<OriginalQuery>>,
    /// Free text on the message, up to 500 characters. `AddtlInf`.
    #[element("AddtlInf")]
    pub additional_information: Option<Text<500>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The query that the message answers.
///
/// `OriginalBusinessQuery1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "OriginalBusinessQuery1")]
#[non_exhaustive]
pub struct OriginalQuery {
    /// The identification of the query message. `MsgId`.
    #[element("MsgId")]
    pub message_id: Text<35>,
    /// The message name of the query, which states its kind. `MsgNmId`.
    #[element("MsgNmId")]
    pub message_name: Option<Text<35>>,
    /// The time at which the query was made. `CreDtTm`.
    #[element("CreDtTm")]
    pub created_at: Option<IsoDateTime>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The number of a page, and a mark of the last page.
///
/// `Pagination` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "Pagination")]
#[non_exhaustive]
pub struct Pagination {
    /// The number of the page from 1, in up to 5 digits. `PgNb`.
    #[element("PgNb")]
    pub page: Digits<1, 5>,
    /// True for the last page. `LastPgInd`.
    #[element("LastPgInd")]
    pub last_page: bool,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// Supplementary data, and the element of the message that they belong to.
///
/// `SupplementaryData1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "SupplementaryData1")]
#[non_exhaustive]
pub struct SupplementaryData {
    /// The place of the data in the message, and their name. `PlcAndNm`.
    #[element("PlcAndNm")]
    pub place_and_name: Option<Text<350>>,
    /// The data themselves, one element of any kind. `Envlp`.
    #[element("Envlp")]
    pub envelope: Envelope,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// Another message by its name and identification.
///
/// `MessageIdentification2` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "MessageIdentification2")]
#[non_exhaustive]
pub struct MessageId {
    /// The kind of message. `MsgNmId`.
    #[element("MsgNmId")]
    pub message_name: Option<Text<35>>,
    /// The identification of the message. `MsgId`.
    #[element("MsgId")]
    pub message_id: Option<Text<35>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The system that the report comes from.
///
/// `ReportingSource1Choice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(type = "ReportingSource1Choice", code_or_proprietary)]
#[non_exhaustive]
pub enum ReportingSource {
    /// A code of the list. `Cd`.
    #[element("Cd")]
    Code(Text<4>),
    /// A code or name that the list does not have. `Prtry`.
    #[element("Prtry")]
    Proprietary(Text<35>),
    /// A document without any of the alternatives; the extras of the parent hold what it has
    /// instead.
    #[element(unknown)]
    Unknown,
}

/// The mark of a report that is a copy, a duplicate, or both.
///
/// `CopyDuplicate1Code` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Code)]
#[code(type = "CopyDuplicate1Code")]
#[non_exhaustive]
pub enum CopyDuplicate {
    /// The code `CODU`.
    #[code("CODU")]
    CopyDuplicate,
    /// The code `COPY`.
    #[code("COPY")]
    Copy,
    /// The code `DUPL`.
    #[code("DUPL")]
    Duplicate,
    /// A code that the schema does not have, kept as read.
    #[code(other)]
    Other(UnknownCode),
}

/// The numbers of the reports that a report repeats or continues.
///
/// `SequenceRange1Choice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(type = "SequenceRange1Choice")]
#[non_exhaustive]
pub enum SequenceRanges {
    /// All numbers from this one on. `FrSeq`.
    #[element("FrSeq")]
    From(Text<35>),
    /// All numbers up to this one. `ToSeq`.
    #[element("ToSeq")]
    To(Text<35>),
    /// The numbers in these ranges. `FrToSeq`.
    #[element("FrToSeq")]
    Ranges(Vec<SequenceRange>),
    /// The listed numbers. `EQSeq`.
    #[element("EQSeq")]
    Equal(Vec<Text<35>>),
    /// All numbers but the listed ones. `NEQSeq`.
    #[element("NEQSeq")]
    NotEqual(Vec<Text<35>>),
    /// An unknown alternative; the extras of the parent hold its content.
    #[element(unknown)]
    Unknown,
}

/// A range of numbers of reports.
///
/// `SequenceRange1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "SequenceRange1")]
#[non_exhaustive]
pub struct SequenceRange {
    /// The first number. `FrSeq`.
    #[element("FrSeq")]
    pub from: Text<35>,
    /// The last number. `ToSeq`.
    #[element("ToSeq")]
    pub to: Text<35>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}
