//! The facets of each simple type of the schema, at their bounds: a value within, and values just
//! beyond.
//!
//! Each name of the schema leads to the Rust type that the model has for it.

use bankrail_camt052::*;
use bankrail_iso20022::__private::Simple;

/// Rows of types: their names, valid texts and invalid texts, each list separated by blanks or by
/// `|`.
const TYPES: &[(&str, &str, &str)] = &[
    (
        "ActiveCurrencyAndAmount_SimpleType ActiveOrHistoricCurrencyAndAmount_SimpleType ImpliedCurrencyAndAmount",
        "0|-0|1.23450|1234567890123.45678|123456789012345678|0.00001",
        "|-1|-0.00001|1.234567|12345678901234.56789|1234567890123456789|1e3",
    ),
    (
        "ActiveOrHistoricCurrencyAnd13DecimalAmount_SimpleType",
        "0.1234567890123|12345.1234567890123|123456789012345678",
        "0.12345678901234|123456.1234567890123|-1",
    ),
    (
        "ActiveCurrencyCode ActiveOrHistoricCurrencyCode",
        "AUD|ZZZ|AAA",
        "|AU|AUDX|aud|A1D|AUd|@UD|A[D",
    ),
    (
        "AnyBICIdentifier BICFIIdentifier",
        "DEUTDEFF|DEUTDE2A|DEUTDE9N500|DEUTDEFPZ9A|DEUTDEF0|DEUTDEF9",
        "|DEUTDEF|DEUTDEFF5|DEUTDEFF50|DEUTDEFF5000|DEUTDE1F|DEUTDE0F|DEUTDEFO|DEUTDeFF|DEUT1EFF|DEUTDEFF50a",
    ),
    (
        "BaseOneRate PercentageRate",
        "-1.0123456789|12345678901|0.1234567890|1|-0.5",
        "1.01234567891|123456789012|x|",
    ),
    (
        "ChargeIncludedIndicator TrueFalseIndicator YesNoIndicator",
        "true|false|1|0",
        "|yes|TRUE|2|truefalse",
    ),
    ("CountryCode", "AU|ZZ|AA", "|A|AUS|au|A1|A["),
    ("ISO2ALanguageCode", "en|zz|aa", "|e|eng|EN|e1|e{"),
    (
        "DecimalNumber",
        "-0.12345678901234567|123456789012345678|-1",
        "0.123456789012345678|1234567890123456789|",
    ),
    (
        "NonNegativeDecimalNumber",
        "0.12345678901234567|123456789012345678|0",
        "0.123456789012345678|-1|",
    ),
    (
        "Number",
        "-123456789012345678|7.0|0",
        "7.1|1234567890123456789|",
    ),
    ("Exact1NumericText", "0|9", "|10|a|:"),
    ("Exact3NumericText", "012|999", "|12|1234|12a"),
    (
        "Exact4AlphaNumericText",
        "aZ09|zzzz|AAAA",
        "|abc|abcde|ab-d|abc[|abc`|abc{|abc@|abc:",
    ),
    ("Max3NumericText", "1|123", "|1234|12a|+12"),
    ("Max5NumericText", "1|12345", "|123456|1234/"),
    (
        "Max15NumericText",
        "1|123456789012345",
        "|1234567890123456|-1",
    ),
    (
        "Max15PlusSignedNumericText",
        "1|123456789012345|+123456789012345|+1",
        "|+|-1|++1|1234567890123456|+1234567890123456",
    ),
    ("Min2Max3NumericText", "12|123", "|1|1234|1a"),
    ("Min3Max4NumericText", "123|1234", "|12|12345|12a"),
    (
        "Min8Max28NumericText",
        "12345678|1234567890123456789012345678",
        "|1234567|12345678901234567890123456789|1234567a",
    ),
    (
        "IBAN2007Identifier",
        "NO000|DE89370400440532013000|AA00aZ9AAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "|NO00|no000|N0000|NOx00|NO0x0|NO00-|DE89 370|AA00aZ9AAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    ),
    (
        "ISINOct2015Identifier",
        "US0378331005|AAZ9A1B2C3D0",
        "|US037833100|US03783310055|U10378331005|US037833100A|us0378331005|US037833a005",
    ),
    (
        "PhoneNumber",
        "+6-1|+612-()+-09|+61-123456789012345678901234567890",
        "|6-1|+-1|+6123-1|+61-|+61|+6a-1|+61-1234567890123456789012345678901|+61-1 2|+61-a",
    ),
    (
        "ISODate",
        "2021-02-28|2020-02-29|2021-12-31Z|-0001-01-01|12021-01-01+14:00|2000-02-29|1996-02-29-14:00",
        "|2021-02-29|1900-02-29|2021-04-31|2021-13-01|2021-00-01|2021-01-00|2021-01-32|0000-01-01|021-01-01|20210728\
      |2021-1-01|2021-01-01z|2021-01-01+14:01|2021-01-01-14:01|2021-01-01+13:60|2021-01-01+1000|012021-01-01|2021-01-01T",
    ),
    (
        "ISODateTime",
        "2021-07-29T00:00:00|2021-07-29T23:59:59.9|2021-07-29T24:00:00|2021-07-29T24:00:00.000Z\
      |2021-07-29T10:00:00.1234567890123+10:00|2021-07-29T10:00:00.123456789",
        "|2021-07-29|2021-07-29T24:00:01|2021-07-29T24:01:00|2021-07-29T24:00:00.1|2021-07-29T24:00:00.0000000001\
      |2021-07-29T25:00:00|2021-07-29T23:60:00|2021-07-29T23:59:60|2021-07-29T10:00|2021-07-29T10:00:00.\
      |2021-07-29t10:00:00|2021-07-29T1:00:00|2021-07-29T10:00:00+14:01|2021-07-29T10-00-00|2021-02-30T10:00:00",
    ),
    (
        "ISOYearMonth",
        "2021-01|2021-12Z|-0044-03|12021-07+10:00",
        "|2021|2021-13|2021-00|2021-1|2021-01-01|0000-01",
    ),
    (
        "AddressType2Code",
        "ADDR|PBOX|HOME|BIZZ|MLTO|DLVY",
        "|ADD|addr|ADDRX",
    ),
    (
        "BalanceType12Code",
        "XPCD|OPAV|ITAV|CLAV|FWAV|CLBD|ITBD|OPBD|PRCD|INFO",
        "|FUTR|clbd",
    ),
    ("CopyDuplicate1Code", "CODU|COPY|DUPL", "|COP"),
    ("CreditDebitCode", "CRDT|DBIT", "|crdt|CREDIT"),
    ("EntryStatus2Code", "BOOK|PDNG|INFO", "|FUTR|book"),
];

/// One code of each other closed list.
const CODES: &str = "AttendanceContext1Code ATTD AuthenticationEntity1Code ICCD AuthenticationMethod1Code UKNW \
    CSCManagement1Code PRST CardDataReading1Code TAGC CardPaymentServiceType2Code AGGR \
    CardholderVerificationCapability1Code MNSG ChargeBearerType1Code DEBT DocumentType3Code RADM DocumentType6Code MSIN \
    InterestType1Code INDY NamePrefix1Code DOCT OnLineCapability1Code OFLN POIComponentType1Code SOFT PartyType3Code \
    OPOI PartyType4Code MERC PriceValueType1Code DISC RemittanceLocationMethod2Code FAXI TaxRecordPeriod1Code MM01 \
    TransactionChannel1Code MAIL TransactionEnvironment1Code MERC UnitOfMeasure1Code PIEC UserInterface2Code MDSP";

/// Open lists of codes of up to four characters.
const OPEN: &str = "AccountIdentification BalanceSubType BankTransactionDomain BankTransactionFamily \
    BankTransactionSubFamily CardTransactionCategory CashAccountType ChargeType DiscountAmountType DocumentLineType \
    FinancialInstitutionIdentification FinancialInstrumentIdentificationType GarnishmentType \
    OrganisationIdentification PersonIdentification Purpose RePresentmentReason ReportingSource ReturnReason \
    TaxAmountType TechnicalInputChannel";

/// Returns true when the text is of the type.
fn is_of(name: &str, text: &str) -> bool {
    match name {
        "ActiveCurrencyAndAmount_SimpleType"
        | "ActiveOrHistoricCurrencyAndAmount_SimpleType"
        | "ImpliedCurrencyAndAmount" => accepts::<ImpliedAmount>(text),
        "ActiveOrHistoricCurrencyAnd13DecimalAmount_SimpleType" => {
            accepts::<Number<18, 13, true>>(text)
        }
        "ActiveCurrencyCode" | "ActiveOrHistoricCurrencyCode" => accepts::<CurrencyCode>(text),
        "AnyBICIdentifier" | "BICFIIdentifier" => accepts::<Bic>(text),
        "BaseOneRate" | "PercentageRate" => accepts::<Rate>(text),
        "ChargeIncludedIndicator" | "TrueFalseIndicator" | "YesNoIndicator" => {
            accepts::<bool>(text)
        }
        "CountryCode" => accepts::<CountryCode>(text),
        "ISO2ALanguageCode" => accepts::<LanguageCode>(text),
        "DecimalNumber" => accepts::<PlainDecimal>(text),
        "NonNegativeDecimalNumber" => accepts::<NonNegativeDecimal>(text),
        "Number" => accepts::<WholeNumber>(text),
        "Exact1NumericText" => accepts::<Digits<1, 1>>(text),
        "Exact3NumericText" => accepts::<Digits<3, 3>>(text),
        "Exact4AlphaNumericText" => accepts::<AlphaNumeric4>(text),
        "Max3NumericText" => accepts::<Digits<1, 3>>(text),
        "Max5NumericText" => accepts::<Digits<1, 5>>(text),
        "Max15NumericText" => accepts::<Digits<1, 15>>(text),
        "Max15PlusSignedNumericText" => accepts::<SignedDays>(text),
        "Min2Max3NumericText" => accepts::<Digits<2, 3>>(text),
        "Min3Max4NumericText" => accepts::<Digits<3, 4>>(text),
        "Min8Max28NumericText" => accepts::<Digits<8, 28>>(text),
        "IBAN2007Identifier" => accepts::<Iban>(text),
        "ISINOct2015Identifier" => accepts::<Isin>(text),
        "PhoneNumber" => accepts::<PhoneNumber>(text),
        "ISODate" => accepts::<IsoDate>(text),
        "ISODateTime" => accepts::<IsoDateTime>(text),
        "ISOYearMonth" => accepts::<IsoYearMonth>(text),
        "AddressType2Code" => accepts::<AddressCode>(text),
        "AttendanceContext1Code" => accepts::<Attendance>(text),
        "AuthenticationEntity1Code" => accepts::<AuthenticationEntity>(text),
        "AuthenticationMethod1Code" => accepts::<AuthenticationMethod>(text),
        "BalanceType12Code" => accepts::<BalanceCode>(text),
        "CSCManagement1Code" => accepts::<CscManagement>(text),
        "CardDataReading1Code" => accepts::<CardReading>(text),
        "CardPaymentServiceType2Code" => accepts::<CardService>(text),
        "CardholderVerificationCapability1Code" => accepts::<CardholderVerification>(text),
        "ChargeBearerType1Code" => accepts::<ChargeBearer>(text),
        "CopyDuplicate1Code" => accepts::<CopyDuplicate>(text),
        "CreditDebitCode" => accepts::<Direction>(text),
        "DocumentType3Code" => accepts::<ReferenceDocumentType>(text),
        "DocumentType6Code" => accepts::<ReferredDocumentKind>(text),
        "EntryStatus2Code" => accepts::<EntryStatusCode>(text),
        "InterestType1Code" => accepts::<InterestCode>(text),
        "NamePrefix1Code" => accepts::<NamePrefix>(text),
        "OnLineCapability1Code" => accepts::<OnlineCapability>(text),
        "POIComponentType1Code" => accepts::<ComponentType>(text),
        "PartyType3Code" => accepts::<PointOfInteractionIdType>(text),
        "PartyType4Code" => accepts::<PointOfInteractionIdIssuer>(text),
        "PriceValueType1Code" => accepts::<PriceValueType>(text),
        "RemittanceLocationMethod2Code" => accepts::<RemittanceLocationMethod>(text),
        "TaxRecordPeriod1Code" => accepts::<TaxPeriodCode>(text),
        "TransactionChannel1Code" => accepts::<TransactionChannel>(text),
        "TransactionEnvironment1Code" => accepts::<TransactionEnvironment>(text),
        "UnitOfMeasure1Code" => accepts::<UnitOfMeasure>(text),
        "UserInterface2Code" => accepts::<DisplayType>(text),
        "ExternalClearingSystemIdentification1Code" => accepts::<Text<5>>(text),
        external if external.starts_with("External") => accepts::<Text<4>>(text),
        "Max4Text" => accepts::<Text<4>>(text),
        "Max16Text" => accepts::<Text<16>>(text),
        "Max34Text" => accepts::<Text<34>>(text),
        "Max35Text" => accepts::<Text<35>>(text),
        "Max70Text" => accepts::<Text<70>>(text),
        "Max105Text" => accepts::<Text<105>>(text),
        "Max140Text" => accepts::<Text<140>>(text),
        "Max350Text" => accepts::<Text<350>>(text),
        "Max500Text" => accepts::<Text<500>>(text),
        "Max1025Text" => accepts::<Text<1025>>(text),
        "Max2048Text" => accepts::<Text<2048>>(text),
        other => panic!("no type {other}"),
    }
}

fn accepts<S: Simple>(text: &str) -> bool {
    S::accept(text, 6).is_some()
}

#[test]
fn facets_hold_at_their_bounds() {
    for (names, good, bad) in TYPES {
        for name in names.split(' ') {
            good.split('|')
                .for_each(|text| assert!(is_of(name, text), "{name} {text:?}"));
            bad.split('|')
                .for_each(|text| assert!(!is_of(name, text), "{name} {text:?}"));
        }
    }
    let codes: Vec<&str> = CODES.split(' ').collect();
    for pair in codes.chunks(2) {
        assert!(
            is_of(pair[0], pair[1]) && !is_of(pair[0], "NONE") && !is_of(pair[0], ""),
            "{pair:?}"
        );
    }
}

/// Characters count, not bytes.
#[test]
fn texts_have_as_many_characters_as_their_name_says() {
    let texts = [4, 16, 34, 35, 70, 105, 140, 350, 500, 1025, 2048]
        .map(|most| (format!("Max{most}Text"), most));
    let open = OPEN
        .split(' ')
        .map(|name| (format!("External{name}1Code"), 4));
    let one = [("ExternalClearingSystemIdentification1Code".to_owned(), 5)];
    for (name, most) in texts.into_iter().chain(open).chain(one) {
        for (text, length) in ["x", "👍"]
            .into_iter()
            .flat_map(|text| [0, 1, most, most + 1].map(|length| (text, length)))
        {
            let fits = (1..=most).contains(&length);
            assert_eq!(is_of(&name, &text.repeat(length)), fits, "{name} {length}");
        }
    }
}
