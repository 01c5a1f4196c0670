//! Transactions behind entries.

use crate::model::agent::TransactionAgents;
use crate::model::amount::AmountDetails;
use crate::model::balance::Availability;
use crate::model::bank_transaction_code::BankTransactionCode;
use crate::model::card::CardTransaction;
use crate::model::charges::Charges;
use crate::model::entry::Direction;
use crate::model::header::SupplementaryData;
use crate::model::instrument::{Instrument, SafekeepingAccount, TransactionPrice, TransactionQuantity};
use crate::model::interest::TransactionInterest;
use crate::model::party::{Party, TransactionParties};
use crate::model::period::DateOrDateTime;
use crate::model::remittance::{Remittance, RemittanceLocation};
use crate::model::tax::TaxInformation;
use bankrail_iso20022::{Amount, Date, DateTime, Digits, Text, choice, record};

record! {
    /// One transaction behind an entry.
    Transaction = "EntryTransaction8" {
        /// What it is known by, from end to end.
        references: 0..1 Box<References> = "Refs",
        /// Of this transaction, without a sign; in the currency of the account, as a rule.
        amount: 1..1 Amount = "Amt",
        /// As seen from the account.
        direction: 1..1 Direction = "CdtDbtInd",
        /// Amounts in other currencies on the way to this one.
        amount_details: 0..1 Box<AmountDetails> = "AmtDtls",
        /// When how much of it can be drawn on.
        availability: 0..* Availability = "Avlbty",
        /// The kind of transaction, where the entry holds several.
        bank_transaction_code: 0..1 Box<BankTransactionCode> = "BkTxCd",
        /// Taken or counted in with it.
        charges: 0..1 Box<Charges> = "Chrgs",
        /// Contained in the amount.
        interest: 0..1 Box<TransactionInterest> = "Intrst",
        /// Who paid whom, and their accounts.
        parties: 0..1 Box<TransactionParties> = "RltdPties",
        /// The banks between them.
        agents: 0..1 Box<TransactionAgents> = "RltdAgts",
        /// Why it was paid, in a code.
        purpose: 0..1 Box<Purpose> = "Purp",
        /// Where more on what it is for can be had.
        remittance_locations: 0..10 RemittanceLocation = "RltdRmtInf",
        /// What it is for, for the creditor to match it.
        remittance: 0..1 Remittance = "RmtInf",
        /// Of steps on its way.
        dates: 0..1 Box<TransactionDates> = "RltdDts",
        /// Of a security dealt in.
        price: 0..1 Box<TransactionPrice> = "RltdPric",
        /// Of a security dealt in.
        quantities: 0..* TransactionQuantity = "RltdQties",
        /// The security dealt in.
        instrument: 0..1 Box<Instrument> = "FinInstrmId",
        /// Paid with it.
        tax: 0..1 Box<TaxInformation> = "Tax",
        /// Why it came back.
        return_information: 0..1 Box<ReturnInformation> = "RtrInf",
        /// The event on a security that caused it.
        corporate_action: 0..1 Box<CorporateAction> = "CorpActn",
        /// Where the security is kept.
        safekeeping_account: 0..1 Box<SafekeepingAccount> = "SfkpgAcct",
        /// Notes paid in.
        cash_deposits: 0..* CashDeposit = "CshDpst",
        /// The card and terminal that it came from.
        card: 0..1 Box<CardTransaction> = "CardTx",
        /// Narrative of this transaction, up to 500 characters.
        additional_information: 0..1 Text<500> = "AddtlTxInf",
        /// What sender and receiver agreed on beyond the message.
        supplementary_data: 0..* SupplementaryData = "SplmtryData",
    }
}

record! {
    /// References that identify a transaction.
    References = "TransactionReferences3" {
        /// Of the message that ordered it.
        message_id: 0..1 Text<35> = "MsgId",
        /// The account servicer's.
        servicer_reference: 0..1 Text<35> = "AcctSvcrRef",
        /// Of the part of the ordering message.
        payment_information_id: 0..1 Text<35> = "PmtInfId",
        /// Between one party and the next on the way; goes no further.
        instruction_id: 0..1 Text<35> = "InstrId",
        /// The debtor's; reaches the creditor unchanged.
        end_to_end_id: 0..1 Text<35> = "EndToEndId",
        /// Given by the first bank; unchanged between banks.
        transaction_id: 0..1 Text<35> = "TxId",
        /// The mandate that a direct debit rests on.
        mandate_id: 0..1 Text<35> = "MndtId",
        /// Printed on the cheque.
        cheque_number: 0..1 Text<35> = "ChqNb",
        /// The clearing system's.
        clearing_reference: 0..1 Text<35> = "ClrSysRef",
        /// The account owner's.
        owner_transaction_id: 0..1 Text<35> = "AcctOwnrTxId",
        /// The account servicer's for a transaction on securities.
        servicer_transaction_id: 0..1 Text<35> = "AcctSvcrTxId",
        /// The settlement system's.
        market_infrastructure_id: 0..1 Text<35> = "MktInfrstrctrTxId",
        /// Of the processing, by whoever did it.
        processing_id: 0..1 Text<35> = "PrcgId",
        /// Of other kinds.
        proprietary: 0..* ProprietaryReference = "Prtry",
    }
}

record! {
    /// A reference of a kind that the schema does not have.
    ProprietaryReference = "ProprietaryReference1" {
        /// What the reference is.
        kind: 1..1 Text<35> = "Tp",
        /// The reference, up to 35 characters.
        reference: 1..1 Text<35> = "Ref",
    }
}

record! {
    /// The dates of a transaction.
    TransactionDates = "TransactionDates2" {
        /// When the bank took the order on.
        accepted_at: 0..1 DateTime = "AccptncDtTm",
        /// When settlement was agreed to be.
        contractual_settlement: 0..1 Date = "TradActvtyCtrctlSttlmDt",
        /// When the deal was made.
        traded: 0..1 Date = "TradDt",
        /// When the banks settle with each other.
        interbank_settlement: 0..1 Date = "IntrBkSttlmDt",
        /// When what is paid for begins.
        start: 0..1 Date = "StartDt",
        /// When what is paid for ends.
        end: 0..1 Date = "EndDt",
        /// When it took place.
        transaction_at: 0..1 DateTime = "TxDtTm",
        /// Of other kinds.
        proprietary: 0..* ProprietaryDate = "Prtry",
    }
}

record! {
    /// A date of a kind that the schema does not have.
    ProprietaryDate = "ProprietaryDate2" {
        /// What the date is.
        kind: 1..1 Text<35> = "Tp",
        /// A date, or a date and time.
        date: 1..1 DateOrDateTime = "Dt",
    }
}

record! {
    /// Why a transaction was returned, and by whom.
    ReturnInformation = "PaymentReturnReason2" {
        /// The kind of what was returned.
        original_bank_transaction_code: 0..1 BankTransactionCode = "OrgnlBkTxCd",
        /// Who sent it back.
        originator: 0..1 Box<Party> = "Orgtr",
        /// In a code.
        reason: 0..1 ReturnReason = "Rsn",
        /// In words, up to 105 characters each.
        additional_information: 0..* Text<105> = "AddtlInf",
    }
}

choice! {
    /// The reason for a return.
    ReturnReason = "ReturnReason5Choice" {
        Code(Text<4>) = "Cd" as "ExternalReturnReason1Code",
        Proprietary(Text<35>) = "Prtry",
    }
}

choice! {
    /// The purpose of a payment.
    Purpose = "Purpose2Choice" {
        Code(Text<4>) = "Cd" as "ExternalPurpose1Code",
        Proprietary(Text<35>) = "Prtry",
    }
}

record! {
    /// The corporate action behind a transaction.
    CorporateAction = "CorporateAction9" {
        /// What happens.
        event_kind: 1..1 Text<35> = "EvtTp",
        /// The servicer's identification of the event.
        event_id: 1..1 Text<35> = "EvtId",
    }
}

record! {
    /// Notes deposited, of one denomination.
    CashDeposit = "CashDeposit1" {
        /// Of one note.
        denomination: 1..1 Amount = "NoteDnmtn" as "ActiveCurrencyAndAmount",
        /// How many, in up to 15 digits.
        notes: 1..1 Digits<1, 15> = "NbOfNotes",
        /// Of all of them.
        amount: 1..1 Amount = "Amt" as "ActiveCurrencyAndAmount",
    }
}
