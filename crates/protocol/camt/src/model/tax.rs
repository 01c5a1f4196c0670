//! Tax.

use crate::*;

record! {
    /// The tax that a transaction pays.
    TaxInformation = "TaxInformation3" {
        creditor: 0..1 TaxCreditor = "Cdtr",
        debtor: 0..1 TaxDebtor = "Dbtr",
        zone: 0..1 Text<35> = "AdmstnZn",
        reference_number: 0..1 Text<140> = "RefNb",
        method: 0..1 Text<35> = "Mtd",
        total_taxable_base: 0..1 Amount = "TtlTaxblBaseAmt",
        total_tax: 0..1 Amount = "TtlTaxAmt",
        date: 0..1 Date = "Dt",
        sequence_number: 0..1 WholeNumber = "SeqNb",
        records: 0..* TaxRecord = "Rcrd",
    }

    /// The tax that a remittance is about.
    RemittanceTax = "TaxInformation4" {
        creditor: 0..1 TaxCreditor = "Cdtr",
        debtor: 0..1 TaxDebtor = "Dbtr",
        ultimate_debtor: 0..1 TaxDebtor = "UltmtDbtr",
        zone: 0..1 Text<35> = "AdmstnZone",
        reference_number: 0..1 Text<140> = "RefNb",
        method: 0..1 Text<35> = "Mtd",
        total_taxable_base: 0..1 Amount = "TtlTaxblBaseAmt",
        total_tax: 0..1 Amount = "TtlTaxAmt",
        date: 0..1 Date = "Dt",
        sequence_number: 0..1 WholeNumber = "SeqNb",
        records: 0..* TaxRecord = "Rcrd",
    }

    /// To whom tax is paid.
    TaxCreditor = "TaxParty1" {
        tax_id: 0..1 Text<35> = "TaxId",
        registration_id: 0..1 Text<35> = "RegnId",
        kind: 0..1 Text<35> = "TaxTp",
    }

    /// Who pays tax.
    TaxDebtor = "TaxParty2" {
        tax_id: 0..1 Text<35> = "TaxId",
        registration_id: 0..1 Text<35> = "RegnId",
        kind: 0..1 Text<35> = "TaxTp",
        authorisation: 0..1 TaxAuthorisation = "Authstn",
    }

    /// The representative of a tax debtor.
    TaxAuthorisation = "TaxAuthorisation1" {
        title: 0..1 Text<35> = "Titl",
        name: 0..1 Text<140> = "Nm",
    }

    /// One item of tax.
    TaxRecord = "TaxRecord1" {
        kind: 0..1 Text<35> = "Tp",
        category: 0..1 Text<35> = "Ctgy",
        category_details: 0..1 Text<35> = "CtgyDtls",
        debtor_status: 0..1 Text<35> = "DbtrSts",
        certificate_id: 0..1 Text<35> = "CertId",
        forms_code: 0..1 Text<35> = "FrmsCd",
        period: 0..1 TaxPeriod = "Prd",
        amount: 0..1 TaxAmount = "TaxAmt",
        additional_information: 0..1 Text<140> = "AddtlInf",
    }

    /// A part of an item of tax.
    TaxRecordDetails = "TaxRecordDetails1" {
        period: 0..1 TaxPeriod = "Prd",
        amount: 1..1 Amount = "Amt",
    }

    /// The period that tax is for.
    TaxPeriod = "TaxPeriod1" {
        year: 0..1 Date = "Yr",
        kind: 0..1 TaxPeriodCode = "Tp",
        period: 0..1 DatePeriod = "FrToDt",
    }

    /// An amount of tax: rate, base, total, details.
    TaxAmount = "TaxAmount1" {
        rate: 0..1 Rate = "Rate" as "PercentageRate",
        taxable_base: 0..1 Amount = "TaxblBaseAmt",
        total: 0..1 Amount = "TtlAmt",
        details: 0..* TaxRecordDetails = "Dtls",
    }
}

codes! {
    /// The part of a year that a tax is for.
    TaxPeriodCode = "TaxRecordPeriod1Code" {
        January = "MM01", February = "MM02", March = "MM03", April = "MM04", May = "MM05", June = "MM06",
        July = "MM07", August = "MM08", September = "MM09", October = "MM10", November = "MM11", December = "MM12",
        FirstQuarter = "QTR1", SecondQuarter = "QTR2", ThirdQuarter = "QTR3", FourthQuarter = "QTR4",
        FirstHalf = "HLF1", SecondHalf = "HLF2",
    }
}
