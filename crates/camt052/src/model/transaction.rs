//! Transactions behind entries.

use crate::model::agent::TransactionAgents;
use crate::model::amount::AmountDetails;
use crate::model::balance::Availability;
use crate::model::bank_transaction_code::BankTransactionCode;
use crate::model::card::CardTransaction;
use crate::model::charges::Charges;
use crate::model::entry::Direction;
use crate::model::instrument::{Instrument, SafekeepingAccount, TransactionPrice, TransactionQuantity};
use crate::model::interest::TransactionInterest;
use crate::model::message::SupplementaryData;
use crate::model::party::{Party, TransactionParties};
use crate::model::period::DateOrDateTime;
use crate::model::remittance::{Remittance, RemittanceLocation};
use crate::model::tax::TaxInformation;
use crate::schema::{choice, record};
use crate::value::amount::Amount;
use crate::value::date::{Date, DateTime};
use crate::value::text::{Digits, Text};

record! {
    /// One transaction behind an entry.
    Transaction = "EntryTransaction8" {
        references: 0..1 Box<References> = "Refs",
        amount: 1..1 Amount = "Amt",
        direction: 1..1 Direction = "CdtDbtInd",
        amount_details: 0..1 Box<AmountDetails> = "AmtDtls",
        availability: 0..* Availability = "Avlbty",
        bank_transaction_code: 0..1 Box<BankTransactionCode> = "BkTxCd",
        charges: 0..1 Box<Charges> = "Chrgs",
        interest: 0..1 Box<TransactionInterest> = "Intrst",
        parties: 0..1 Box<TransactionParties> = "RltdPties",
        agents: 0..1 Box<TransactionAgents> = "RltdAgts",
        purpose: 0..1 Box<Purpose> = "Purp",
        remittance_locations: 0..10 RemittanceLocation = "RltdRmtInf",
        remittance: 0..1 Remittance = "RmtInf",
        dates: 0..1 Box<TransactionDates> = "RltdDts",
        price: 0..1 Box<TransactionPrice> = "RltdPric",
        quantities: 0..* TransactionQuantity = "RltdQties",
        instrument: 0..1 Box<Instrument> = "FinInstrmId",
        tax: 0..1 Box<TaxInformation> = "Tax",
        return_information: 0..1 Box<ReturnInformation> = "RtrInf",
        corporate_action: 0..1 Box<CorporateAction> = "CorpActn",
        safekeeping_account: 0..1 Box<SafekeepingAccount> = "SfkpgAcct",
        cash_deposits: 0..* CashDeposit = "CshDpst",
        card: 0..1 Box<CardTransaction> = "CardTx",
        additional_information: 0..1 Text<500> = "AddtlTxInf",
        supplementary_data: 0..* SupplementaryData = "SplmtryData",
    }
}

record! {
    /// References that identify a transaction.
    References = "TransactionReferences3" {
        message_id: 0..1 Text<35> = "MsgId",
        servicer_reference: 0..1 Text<35> = "AcctSvcrRef",
        payment_information_id: 0..1 Text<35> = "PmtInfId",
        instruction_id: 0..1 Text<35> = "InstrId",
        end_to_end_id: 0..1 Text<35> = "EndToEndId",
        transaction_id: 0..1 Text<35> = "TxId",
        mandate_id: 0..1 Text<35> = "MndtId",
        cheque_number: 0..1 Text<35> = "ChqNb",
        clearing_reference: 0..1 Text<35> = "ClrSysRef",
        owner_transaction_id: 0..1 Text<35> = "AcctOwnrTxId",
        servicer_transaction_id: 0..1 Text<35> = "AcctSvcrTxId",
        market_infrastructure_id: 0..1 Text<35> = "MktInfrstrctrTxId",
        processing_id: 0..1 Text<35> = "PrcgId",
        proprietary: 0..* ProprietaryReference = "Prtry",
    }
}

record! {
    /// A reference of a kind that the schema does not have.
    ProprietaryReference = "ProprietaryReference1" {
        kind: 1..1 Text<35> = "Tp",
        reference: 1..1 Text<35> = "Ref",
    }
}

record! {
    /// The dates of a transaction.
    TransactionDates = "TransactionDates2" {
        accepted_at: 0..1 DateTime = "AccptncDtTm",
        contractual_settlement: 0..1 Date = "TradActvtyCtrctlSttlmDt",
        traded: 0..1 Date = "TradDt",
        interbank_settlement: 0..1 Date = "IntrBkSttlmDt",
        start: 0..1 Date = "StartDt",
        end: 0..1 Date = "EndDt",
        transaction_at: 0..1 DateTime = "TxDtTm",
        proprietary: 0..* ProprietaryDate = "Prtry",
    }
}

record! {
    /// A date of a kind that the schema does not have.
    ProprietaryDate = "ProprietaryDate2" {
        kind: 1..1 Text<35> = "Tp",
        date: 1..1 DateOrDateTime = "Dt",
    }
}

record! {
    /// Why a transaction was returned, and by whom.
    ReturnInformation = "PaymentReturnReason2" {
        original_bank_transaction_code: 0..1 BankTransactionCode = "OrgnlBkTxCd",
        originator: 0..1 Box<Party> = "Orgtr",
        reason: 0..1 ReturnReason = "Rsn",
        additional_information: 0..* Text<105> = "AddtlInf",
    }
}

choice! {
    /// The reason for a return.
    ReturnReason = "ReturnReason5Choice" {
        Code(Text<4>) = "Cd",
        Proprietary(Text<35>) = "Prtry",
    }
}

choice! {
    /// The purpose of a payment.
    Purpose = "Purpose2Choice" {
        Code(Text<4>) = "Cd",
        Proprietary(Text<35>) = "Prtry",
    }
}

record! {
    /// The corporate action behind a transaction.
    CorporateAction = "CorporateAction9" {
        event_kind: 1..1 Text<35> = "EvtTp",
        event_id: 1..1 Text<35> = "EvtId",
    }
}

record! {
    /// Notes deposited, of one denomination.
    CashDeposit = "CashDeposit1" {
        denomination: 1..1 Amount = "NoteDnmtn",
        notes: 1..1 Digits<1, 15> = "NbOfNotes",
        amount: 1..1 Amount = "Amt",
    }
}
