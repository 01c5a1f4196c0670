//! Card entries and card transactions.

use crate::*;

record! {
    /// The card, terminal and prepaid account behind an entry.
    CardEntry = "CardEntry2" {
        card: 0..1 Box<PaymentCard> = "Card",
        point_of_interaction: 0..1 Box<PointOfInteraction> = "POI",
        aggregated: 0..1 Box<AggregatedCardEntry> = "AggtdNtry",
        prepaid_account: 0..1 Box<CounterpartyAccount> = "PrePdAcct",
    }

    /// Card transactions gathered in one entry.
    AggregatedCardEntry = "CardAggregated1" {
        service: 0..1 CardService = "AddtlSvc",
        category: 0..1 Text<4> = "TxCtgy" as "ExternalCardTransactionCategory1Code",
        reconciliation_id: 0..1 Text<35> = "SaleRcncltnId",
        sequence_range: 0..1 CardSequenceRange = "SeqNbRg",
        dates: 0..1 DateOrDateTimePeriod = "TxDtRg",
    }

    /// One card transaction.
    IndividualCardTransaction = "CardIndividualTransaction2" {
        icc_data: 0..1 Text<1025> = "ICCRltdData",
        context: 0..1 Box<PaymentContext> = "PmtCntxt",
        service: 0..1 CardService = "AddtlSvc",
        category: 0..1 Text<4> = "TxCtgy" as "ExternalCardTransactionCategory1Code",
        reconciliation_id: 0..1 Text<35> = "SaleRcncltnId",
        sale_reference: 0..1 Text<35> = "SaleRefNb",
        representment_reason: 0..1 Text<4> = "RePresntmntRsn" as "ExternalRePresentmentReason1Code",
        sequence_number: 0..1 Text<35> = "SeqNb",
        transaction_id: 0..1 CardTransactionId = "TxId",
        product: 0..1 Box<Product> = "Pdct",
        validated: 0..1 Date = "VldtnDt",
        validation_sequence_number: 0..1 Text<35> = "VldtnSeqNb",
    }

    /// How the security code of a card was handled.
    CardSecurity = "CardSecurityInformation1" {
        management: 1..1 CscManagement = "CSCMgmt",
        value: 0..1 Digits<3, 4> = "CSCVal",
    }

    /// The first and last of a range of card transactions.
    CardSequenceRange = "CardSequenceNumberRange1" {
        first: 0..1 Text<35> = "FrstTx",
        last: 0..1 Text<35> = "LastTx",
    }

    /// The card, terminal and details behind a transaction.
    CardTransaction = "CardTransaction2" {
        card: 0..1 Box<PaymentCard> = "Card",
        point_of_interaction: 0..1 Box<PointOfInteraction> = "POI",
        details: 0..1 CardTransactionDetails = "Tx",
        prepaid_account: 0..1 Box<CounterpartyAccount> = "PrePdAcct",
    }

    /// How a cardholder was authenticated, and by whom.
    CardholderAuthentication = "CardholderAuthentication2" {
        method: 1..1 AuthenticationMethod = "AuthntcnMtd",
        entity: 1..1 AuthenticationEntity = "AuthntcnNtty",
    }

    /// A payment card.
    PaymentCard = "PaymentCard4" {
        plain_data: 0..1 Box<PlainCardData> = "PlainCardData",
        country: 0..1 Digits<3, 3> = "CardCtryCd",
        brand: 0..1 GenericId = "CardBrnd",
        additional_data: 0..1 Text<70> = "AddtlCardData",
    }

    /// The data of a card in the clear.
    PlainCardData = "PlainCardData1" {
        number: 1..1 Digits<8, 28> = "PAN",
        sequence_number: 0..1 Digits<2, 3> = "CardSeqNb",
        effective: 0..1 YearMonth = "FctvDt",
        expiry: 1..1 YearMonth = "XpryDt",
        service_code: 0..1 Digits<3, 3> = "SvcCd",
        tracks: 0..* Track = "TrckData",
        security: 0..1 CardSecurity = "CardSctyCd",
    }

    /// A track of a card's magnetic stripe.
    Track = "TrackData1" {
        number: 0..1 Digits<1, 1> = "TrckNb",
        value: 1..1 Text<140> = "TrckVal",
    }

    /// A card transaction by its time and reference.
    CardTransactionId = "TransactionIdentifier1" {
        at: 1..1 DateTime = "TxDtTm",
        reference: 1..1 Text<35> = "TxRef",
    }

    /// The circumstances of a card payment.
    PaymentContext = "PaymentContext3" {
        card_present: 0..1 bool = "CardPres" as "TrueFalseIndicator",
        cardholder_present: 0..1 bool = "CrdhldrPres" as "TrueFalseIndicator",
        online: 0..1 bool = "OnLineCntxt" as "TrueFalseIndicator",
        attendance: 0..1 Attendance = "AttndncCntxt",
        environment: 0..1 TransactionEnvironment = "TxEnvt",
        channel: 0..1 TransactionChannel = "TxChanl",
        attendant_message_capable: 0..1 bool = "AttndntMsgCpbl" as "TrueFalseIndicator",
        attendant_language: 0..1 LanguageCode = "AttndntLang",
        entry_mode: 1..1 CardReading = "CardDataNtryMd",
        fallback: 0..1 bool = "FllbckInd" as "TrueFalseIndicator",
        authentication: 0..1 CardholderAuthentication = "AuthntcnMtd",
    }

    /// A product bought with a card.
    Product = "Product2" {
        code: 1..1 Text<70> = "PdctCd",
        unit: 0..1 UnitOfMeasure = "UnitOfMeasr",
        quantity: 0..1 PlainDecimal = "PdctQty",
        unit_price: 0..1 ImpliedAmount = "UnitPric",
        amount: 0..1 ImpliedAmount = "PdctAmt",
        tax_kind: 0..1 Text<35> = "TaxTp",
        additional_information: 0..1 Text<35> = "AddtlPdctInf",
    }
}

choice! {
    /// Card transactions gathered, or one.
    CardTransactionDetails = "CardTransaction2Choice" {
        Aggregated(Box<AggregatedCardEntry>) = "Aggtd",
        Individual(Box<IndividualCardTransaction>) = "Indv",
    }
}

codes! {
    /// Whether staff attended a card payment.
    Attendance = "AttendanceContext1Code" {
        Attended = "ATTD", SemiAttended = "SATT", Unattended = "UATT",
    }

    /// Who authenticated a cardholder.
    AuthenticationEntity = "AuthenticationEntity1Code" {
        Card = "ICCD", Agent = "AGNT", Merchant = "MERC",
    }

    /// How a cardholder was authenticated.
    AuthenticationMethod = "AuthenticationMethod1Code" {
        Unknown = "UKNW", Bypassed = "BYPS", OnlinePin = "NPIN", OfflinePin = "FPIN", SignatureCapture = "CPSG",
        PaperSignature = "PPSG", Manual = "MANU", Merchant = "MERC", SecureCertificate = "SCRT",
        SecureNoCertificate = "SNCT", SecureChannel = "SCNL",
    }

    /// How a card security code was handled.
    CscManagement = "CSCManagement1Code" {
        Present = "PRST", Bypassed = "BYPS", Unread = "UNRD", None = "NCSC",
    }

    /// A service in addition to a card payment.
    CardService = "CardPaymentServiceType2Code" {
        Aggregation = "AGGR", CurrencyConversion = "DCCV", Gratuity = "GRTT", Instalment = "INSP", Loyalty = "LOYT",
        NoShow = "NRES", PurchaseCorporate = "PUCO", Recurring = "RECP", SolicitedAvailableFunds = "SOAF",
        UnsolicitedAvailableFunds = "UNAF", VoiceAuthorisation = "VCAU",
    }

    /// The channel of a card payment.
    TransactionChannel = "TransactionChannel1Code" {
        Mail = "MAIL", Telephone = "TLPH", ElectronicCommerce = "ECOM", Television = "TVPY",
    }

    /// The environment of a card payment.
    TransactionEnvironment = "TransactionEnvironment1Code" {
        Merchant = "MERC", Private = "PRIV", Public = "PUBL",
    }

    /// A unit of measure.
    UnitOfMeasure = "UnitOfMeasure1Code" {
        Piece = "PIEC", Ton = "TONS", Foot = "FOOT", ImperialGallon = "GBGA", UsGallon = "USGA", Gram = "GRAM",
        Inch = "INCH", Kilogram = "KILO", Pound = "PUND", Metre = "METR", Centimetre = "CMET", Millimetre = "MMET",
        Litre = "LITR", Centilitre = "CELI", Millilitre = "MILI", ImperialOunce = "GBOU", UsOunce = "USOU",
        ImperialQuart = "GBQA", UsQuart = "USQA", ImperialPint = "GBPI", UsPint = "USPI", Mile = "MILE",
        Kilometre = "KMET", Yard = "YARD", SquareKilometre = "SQKI", Hectare = "HECT", Are = "ARES",
        SquareMetre = "SMET", SquareCentimetre = "SCMT", SquareMillimetre = "SMIL", SquareMile = "SQMI",
        SquareYard = "SQYA", SquareFoot = "SQFO", SquareInch = "SQIN", Acre = "ACRE",
    }
}
