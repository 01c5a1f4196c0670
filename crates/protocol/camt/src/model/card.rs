//! Card entries and card transactions.

use crate::*;

/// The card, terminal and prepaid account behind an entry.
///
/// `CardEntry2` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "CardEntry2")]
#[non_exhaustive]
pub struct CardEntry {
    /// The element `Card`.
    #[element("Card")]
    pub card: Option<Box<PaymentCard>>,
    /// The element `POI`.
    #[element("POI")]
    pub point_of_interaction: Option<Box<PointOfInteraction>>,
    /// The element `AggtdNtry`.
    #[element("AggtdNtry")]
    pub aggregated: Option<Box<AggregatedCardEntry>>,
    /// The element `PrePdAcct`.
    #[element("PrePdAcct", since = 5)]
    pub prepaid_account: Option<Box<CounterpartyAccount>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// Card transactions gathered in one entry.
///
/// `CardAggregated1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "CardAggregated1")]
#[non_exhaustive]
pub struct AggregatedCardEntry {
    /// The element `AddtlSvc`.
    #[element("AddtlSvc")]
    pub service: Option<CardService>,
    /// The element `TxCtgy`.
    #[element("TxCtgy")]
    pub category: Option<Text<4>>,
    /// The element `SaleRcncltnId`.
    #[element("SaleRcncltnId")]
    pub reconciliation_id: Option<Text<35>>,
    /// The element `SeqNbRg`.
    #[element("SeqNbRg")]
    pub sequence_range: Option<CardSequenceRange>,
    /// The element `TxDtRg`.
    #[element("TxDtRg")]
    pub dates: Option<DateOrDateTimePeriod>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// One card transaction.
///
/// `CardIndividualTransaction2` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "CardIndividualTransaction2")]
#[non_exhaustive]
pub struct IndividualCardTransaction {
    /// The element `ICCRltdData`.
    #[element("ICCRltdData", since = 5)]
    pub icc_data: Option<Text<1025>>,
    /// The element `PmtCntxt`.
    #[element("PmtCntxt", since = 5)]
    pub context: Option<Box<PaymentContext>>,
    /// The element `AddtlSvc`.
    #[element("AddtlSvc")]
    pub service: Option<CardService>,
    /// The element `TxCtgy`.
    #[element("TxCtgy")]
    pub category: Option<Text<4>>,
    /// The element `SaleRcncltnId`.
    #[element("SaleRcncltnId")]
    pub reconciliation_id: Option<Text<35>>,
    /// The element `SaleRefNb`.
    #[element("SaleRefNb")]
    pub sale_reference: Option<Text<35>>,
    /// The element `RePresntmntRsn`.
    #[element("RePresntmntRsn", since = 5)]
    pub representment_reason: Option<Text<4>>,
    /// The element `SeqNb`.
    #[element("SeqNb")]
    pub sequence_number: Option<Text<35>>,
    /// The element `TxId`.
    #[element("TxId")]
    pub transaction_id: Option<CardTransactionId>,
    /// The element `Pdct`.
    #[element("Pdct")]
    pub product: Option<Box<Product>>,
    /// The element `VldtnDt`.
    #[element("VldtnDt")]
    pub validated: Option<IsoDate>,
    /// The element `VldtnSeqNb`.
    #[element("VldtnSeqNb")]
    pub validation_sequence_number: Option<Text<35>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The handling of a card's security code.
///
/// `CardSecurityInformation1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "CardSecurityInformation1")]
#[non_exhaustive]
pub struct CardSecurity {
    /// The element `CSCMgmt`.
    #[element("CSCMgmt")]
    pub management: CscManagement,
    /// The element `CSCVal`.
    #[element("CSCVal")]
    pub value: Option<Digits<3, 4>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The first and last of a range of card transactions.
///
/// `CardSequenceNumberRange1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "CardSequenceNumberRange1")]
#[non_exhaustive]
pub struct CardSequenceRange {
    /// The element `FrstTx`.
    #[element("FrstTx")]
    pub first: Option<Text<35>>,
    /// The element `LastTx`.
    #[element("LastTx")]
    pub last: Option<Text<35>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The card, terminal and details behind a transaction.
///
/// `CardTransaction2` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "CardTransaction2")]
#[non_exhaustive]
pub struct CardTransaction {
    /// The element `Card`.
    #[element("Card")]
    pub card: Option<Box<PaymentCard>>,
    /// The element `POI`.
    #[element("POI")]
    pub point_of_interaction: Option<Box<PointOfInteraction>>,
    /// The element `Tx`.
    #[element("Tx")]
    pub details: Option<CardTransactionDetails>,
    /// The element `PrePdAcct`.
    #[element("PrePdAcct", since = 5)]
    pub prepaid_account: Option<Box<CounterpartyAccount>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The authentication of a cardholder: its method and the authenticating entity.
///
/// `CardholderAuthentication2` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "CardholderAuthentication2")]
#[non_exhaustive]
pub struct CardholderAuthentication {
    /// The element `AuthntcnMtd`.
    #[element("AuthntcnMtd")]
    pub method: AuthenticationMethod,
    /// The element `AuthntcnNtty`.
    #[element("AuthntcnNtty")]
    pub entity: AuthenticationEntity,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// A payment card.
///
/// `PaymentCard4` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "PaymentCard4")]
#[non_exhaustive]
pub struct PaymentCard {
    /// The element `PlainCardData`.
    #[element("PlainCardData")]
    pub plain_data: Option<Box<PlainCardData>>,
    /// The element `CardCtryCd`.
    #[element("CardCtryCd")]
    pub country: Option<Digits<3, 3>>,
    /// The element `CardBrnd`.
    #[element("CardBrnd")]
    pub brand: Option<GenericId>,
    /// The element `AddtlCardData`.
    #[element("AddtlCardData")]
    pub additional_data: Option<Text<70>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The data of a card in the clear.
///
/// `PlainCardData1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "PlainCardData1")]
#[non_exhaustive]
pub struct PlainCardData {
    /// The element `PAN`.
    #[element("PAN")]
    pub number: Digits<8, 28>,
    /// The element `CardSeqNb`.
    #[element("CardSeqNb")]
    pub sequence_number: Option<Digits<2, 3>>,
    /// The element `FctvDt`.
    #[element("FctvDt")]
    pub effective: Option<IsoYearMonth>,
    /// The element `XpryDt`.
    #[element("XpryDt")]
    pub expiry: IsoYearMonth,
    /// The element `SvcCd`.
    #[element("SvcCd")]
    pub service_code: Option<Digits<3, 3>>,
    /// The element `TrckData`.
    #[element("TrckData")]
    pub tracks: Vec<Track>,
    /// The element `CardSctyCd`.
    #[element("CardSctyCd")]
    pub security: Option<CardSecurity>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// A track of a card's magnetic stripe.
///
/// `TrackData1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "TrackData1")]
#[non_exhaustive]
pub struct Track {
    /// The element `TrckNb`.
    #[element("TrckNb")]
    pub number: Option<Digits<1, 1>>,
    /// The element `TrckVal`.
    #[element("TrckVal")]
    pub value: Text<140>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// A card transaction by its time and reference.
///
/// `TransactionIdentifier1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "TransactionIdentifier1")]
#[non_exhaustive]
pub struct CardTransactionId {
    /// The element `TxDtTm`.
    #[element("TxDtTm")]
    pub at: IsoDateTime,
    /// The element `TxRef`.
    #[element("TxRef")]
    pub reference: Text<35>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The circumstances of a card payment.
///
/// `PaymentContext3` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "PaymentContext3")]
#[non_exhaustive]
pub struct PaymentContext {
    /// The element `CardPres`.
    #[element("CardPres")]
    pub card_present: Option<bool>,
    /// The element `CrdhldrPres`.
    #[element("CrdhldrPres")]
    pub cardholder_present: Option<bool>,
    /// The element `OnLineCntxt`.
    #[element("OnLineCntxt")]
    pub online: Option<bool>,
    /// The element `AttndncCntxt`.
    #[element("AttndncCntxt")]
    pub attendance: Option<Attendance>,
    /// The element `TxEnvt`.
    #[element("TxEnvt")]
    pub environment: Option<TransactionEnvironment>,
    /// The element `TxChanl`.
    #[element("TxChanl")]
    pub channel: Option<TransactionChannel>,
    /// The element `AttndntMsgCpbl`.
    #[element("AttndntMsgCpbl")]
    pub attendant_message_capable: Option<bool>,
    /// The element `AttndntLang`.
    #[element("AttndntLang")]
    pub attendant_language: Option<LanguageCode>,
    /// The element `CardDataNtryMd`.
    #[element("CardDataNtryMd")]
    pub entry_mode: CardReading,
    /// The element `FllbckInd`.
    #[element("FllbckInd")]
    pub fallback: Option<bool>,
    /// The element `AuthntcnMtd`.
    #[element("AuthntcnMtd")]
    pub authentication: Option<CardholderAuthentication>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// A product bought with a card.
///
/// `Product2` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "Product2")]
#[non_exhaustive]
pub struct Product {
    /// The element `PdctCd`.
    #[element("PdctCd")]
    pub code: Text<70>,
    /// The element `UnitOfMeasr`.
    #[element("UnitOfMeasr")]
    pub unit: Option<UnitOfMeasure>,
    /// The element `PdctQty`.
    #[element("PdctQty")]
    pub quantity: Option<PlainDecimal>,
    /// The element `UnitPric`.
    #[element("UnitPric")]
    pub unit_price: Option<ImpliedAmount>,
    /// The element `PdctAmt`.
    #[element("PdctAmt")]
    pub amount: Option<ImpliedAmount>,
    /// The element `TaxTp`.
    #[element("TaxTp")]
    pub tax_kind: Option<Text<35>>,
    /// The element `AddtlPdctInf`.
    #[element("AddtlPdctInf")]
    pub additional_information: Option<Text<35>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// Card transactions gathered, or one.
///
/// `CardTransaction2Choice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(type = "CardTransaction2Choice")]
#[non_exhaustive]
pub enum CardTransactionDetails {
    /// The element `Aggtd`.
    #[element("Aggtd")]
    Aggregated(Box<AggregatedCardEntry>),
    /// The element `Indv`.
    #[element("Indv")]
    Individual(Box<IndividualCardTransaction>),
    /// A document without any of the alternatives; the extras of the parent hold what it has
    /// instead.
    #[element(unknown)]
    Unknown,
}

/// The attendance of staff at a card payment.
///
/// `AttendanceContext1Code` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Code)]
#[code(type = "AttendanceContext1Code")]
#[non_exhaustive]
pub enum Attendance {
    /// The code `ATTD`.
    #[code("ATTD")]
    Attended,
    /// The code `SATT`.
    #[code("SATT")]
    SemiAttended,
    /// The code `UATT`.
    #[code("UATT")]
    Unattended,
    /// A code that the schema does not have, kept as read.
    #[code(other)]
    Other(UnknownCode),
}

/// The entity that authenticated a cardholder.
///
/// `AuthenticationEntity1Code` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Code)]
#[code(type = "AuthenticationEntity1Code")]
#[non_exhaustive]
pub enum AuthenticationEntity {
    /// The code `ICCD`.
    #[code("ICCD")]
    Card,
    /// The code `AGNT`.
    #[code("AGNT")]
    Agent,
    /// The code `MERC`.
    #[code("MERC")]
    Merchant,
    /// A code that the schema does not have, kept as read.
    #[code(other)]
    Other(UnknownCode),
}

/// The method of authenticating a cardholder.
///
/// `AuthenticationMethod1Code` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Code)]
#[code(type = "AuthenticationMethod1Code")]
#[non_exhaustive]
pub enum AuthenticationMethod {
    /// The code `UKNW`.
    #[code("UKNW")]
    Unknown,
    /// The code `BYPS`.
    #[code("BYPS")]
    Bypassed,
    /// The code `NPIN`.
    #[code("NPIN")]
    OnlinePin,
    /// The code `FPIN`.
    #[code("FPIN")]
    OfflinePin,
    /// The code `CPSG`.
    #[code("CPSG")]
    SignatureCapture,
    /// The code `PPSG`.
    #[code("PPSG")]
    PaperSignature,
    /// The code `MANU`.
    #[code("MANU")]
    Manual,
    /// The code `MERC`.
    #[code("MERC")]
    Merchant,
    /// The code `SCRT`.
    #[code("SCRT")]
    SecureCertificate,
    /// The code `SNCT`.
    #[code("SNCT")]
    SecureNoCertificate,
    /// The code `SCNL`.
    #[code("SCNL")]
    SecureChannel,
    /// A code that the schema does not have, kept as read.
    #[code(other)]
    Other(UnknownCode),
}

/// The handling of a card security code.
///
/// `CSCManagement1Code` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Code)]
#[code(type = "CSCManagement1Code")]
#[non_exhaustive]
pub enum CscManagement {
    /// The code `PRST`.
    #[code("PRST")]
    Present,
    /// The code `BYPS`.
    #[code("BYPS")]
    Bypassed,
    /// The code `UNRD`.
    #[code("UNRD")]
    Unread,
    /// The code `NCSC`.
    #[code("NCSC")]
    None,
    /// A code that the schema does not have, kept as read.
    #[code(other)]
    Other(UnknownCode),
}

/// A service in addition to a card payment.
///
/// `CardPaymentServiceType2Code` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Code)]
#[code(type = "CardPaymentServiceType2Code")]
#[non_exhaustive]
pub enum CardService {
    /// The code `AGGR`.
    #[code("AGGR")]
    Aggregation,
    /// The code `DCCV`.
    #[code("DCCV")]
    CurrencyConversion,
    /// The code `GRTT`.
    #[code("GRTT")]
    Gratuity,
    /// The code `INSP`.
    #[code("INSP")]
    Instalment,
    /// The code `LOYT`.
    #[code("LOYT")]
    Loyalty,
    /// The code `NRES`.
    #[code("NRES")]
    NoShow,
    /// The code `PUCO`.
    #[code("PUCO")]
    PurchaseCorporate,
    /// The code `RECP`.
    #[code("RECP")]
    Recurring,
    /// The code `SOAF`.
    #[code("SOAF")]
    SolicitedAvailableFunds,
    /// The code `UNAF`.
    #[code("UNAF")]
    UnsolicitedAvailableFunds,
    /// The code `VCAU`.
    #[code("VCAU")]
    VoiceAuthorisation,
    /// A code that the schema does not have, kept as read.
    #[code(other)]
    Other(UnknownCode),
}

/// The channel of a card payment.
///
/// `TransactionChannel1Code` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Code)]
#[code(type = "TransactionChannel1Code")]
#[non_exhaustive]
pub enum TransactionChannel {
    /// The code `MAIL`.
    #[code("MAIL")]
    Mail,
    /// The code `TLPH`.
    #[code("TLPH")]
    Telephone,
    /// The code `ECOM`.
    #[code("ECOM")]
    ElectronicCommerce,
    /// The code `TVPY`.
    #[code("TVPY")]
    Television,
    /// A code that the schema does not have, kept as read.
    #[code(other)]
    Other(UnknownCode),
}

/// The environment of a card payment.
///
/// `TransactionEnvironment1Code` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Code)]
#[code(type = "TransactionEnvironment1Code")]
#[non_exhaustive]
pub enum TransactionEnvironment {
    /// The code `MERC`.
    #[code("MERC")]
    Merchant,
    /// The code `PRIV`.
    #[code("PRIV")]
    Private,
    /// The code `PUBL`.
    #[code("PUBL")]
    Public,
    /// A code that the schema does not have, kept as read.
    #[code(other)]
    Other(UnknownCode),
}

/// A unit of measure.
///
/// `UnitOfMeasure1Code` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Code)]
#[code(type = "UnitOfMeasure1Code")]
#[non_exhaustive]
pub enum UnitOfMeasure {
    /// The code `PIEC`.
    #[code("PIEC")]
    Piece,
    /// The code `TONS`.
    #[code("TONS")]
    Ton,
    /// The code `FOOT`.
    #[code("FOOT")]
    Foot,
    /// The code `GBGA`.
    #[code("GBGA")]
    ImperialGallon,
    /// The code `USGA`.
    #[code("USGA")]
    UsGallon,
    /// The code `GRAM`.
    #[code("GRAM")]
    Gram,
    /// The code `INCH`.
    #[code("INCH")]
    Inch,
    /// The code `KILO`.
    #[code("KILO")]
    Kilogram,
    /// The code `PUND`.
    #[code("PUND")]
    Pound,
    /// The code `METR`.
    #[code("METR")]
    Metre,
    /// The code `CMET`.
    #[code("CMET")]
    Centimetre,
    /// The code `MMET`.
    #[code("MMET")]
    Millimetre,
    /// The code `LITR`.
    #[code("LITR")]
    Litre,
    /// The code `CELI`.
    #[code("CELI")]
    Centilitre,
    /// The code `MILI`.
    #[code("MILI")]
    Millilitre,
    /// The code `GBOU`.
    #[code("GBOU")]
    ImperialOunce,
    /// The code `USOU`.
    #[code("USOU")]
    UsOunce,
    /// The code `GBQA`.
    #[code("GBQA")]
    ImperialQuart,
    /// The code `USQA`.
    #[code("USQA")]
    UsQuart,
    /// The code `GBPI`.
    #[code("GBPI")]
    ImperialPint,
    /// The code `USPI`.
    #[code("USPI")]
    UsPint,
    /// The code `MILE`.
    #[code("MILE")]
    Mile,
    /// The code `KMET`.
    #[code("KMET")]
    Kilometre,
    /// The code `YARD`.
    #[code("YARD")]
    Yard,
    /// The code `SQKI`.
    #[code("SQKI")]
    SquareKilometre,
    /// The code `HECT`.
    #[code("HECT")]
    Hectare,
    /// The code `ARES`.
    #[code("ARES")]
    Are,
    /// The code `SMET`.
    #[code("SMET")]
    SquareMetre,
    /// The code `SCMT`.
    #[code("SCMT")]
    SquareCentimetre,
    /// The code `SMIL`.
    #[code("SMIL")]
    SquareMillimetre,
    /// The code `SQMI`.
    #[code("SQMI")]
    SquareMile,
    /// The code `SQYA`.
    #[code("SQYA")]
    SquareYard,
    /// The code `SQFO`.
    #[code("SQFO")]
    SquareFoot,
    /// The code `SQIN`.
    #[code("SQIN")]
    SquareInch,
    /// The code `ACRE`.
    #[code("ACRE")]
    Acre,
    /// A code that the schema does not have, kept as read.
    #[code(other)]
    Other(UnknownCode),
}
