//! Transactions behind entries.

use crate::*;

record! {
    /// One transaction behind an entry.
    Transaction = "EntryTransaction8" {
        /// The references of the transaction.
        references: 0..1 Box<References> = "Refs",
        /// The amount, without a sign; as a rule in the currency of the account. See
        /// `EntryLine::amount`.
        amount: 1..1 ~Amount = "Amt",
        /// Credit or debit, as seen from the account.
        direction: 1..1 ~Direction = "CdtDbtInd",
        /// The amounts before and after charges and exchange.
        amount_details: 0..1 Box<AmountDetails> = "AmtDtls",
        /// When each part of the amount becomes available.
        availability: 0..* Availability = "Avlbty",
        /// The kind of transaction, where the entry holds several.
        bank_transaction_code: 0..1 Box<BankTransactionCode> = "BkTxCd",
        /// Charges that were taken, or are included.
        charges: 0..1 Box<Charges> = "Chrgs",
        /// Interest contained in the amount.
        interest: 0..1 Box<TransactionInterest> = "Intrst",
        /// Who paid whom, and their accounts.
        parties: 0..1 Box<TransactionParties> = "RltdPties",
        /// The banks between them.
        agents: 0..1 Box<TransactionAgents> = "RltdAgts",
        /// The purpose, as a code.
        purpose: 0..1 Box<Purpose> = "Purp",
        /// Where remittance advice can be found.
        remittance_locations: 0..10 RemittanceLocation = "RltdRmtInf",
        /// What the payment is for, so that the creditor can match it.
        remittance: 0..1 Remittance = "RmtInf",
        /// The dates of the steps of the transaction.
        dates: 0..1 Box<TransactionDates> = "RltdDts",
        /// The price of the security.
        price: 0..1 Box<TransactionPrice> = "RltdPric",
        /// The quantity of the security.
        quantities: 0..* TransactionQuantity = "RltdQties",
        /// The security.
        instrument: 0..1 Box<Instrument> = "FinInstrmId",
        /// The tax paid with it.
        tax: 0..1 Box<TaxInformation> = "Tax",
        /// Why it was returned, and by whom.
        return_information: 0..1 Box<ReturnInformation> = "RtrInf",
        /// The corporate action that caused it.
        corporate_action: 0..1 Box<CorporateAction> = "CorpActn",
        /// Where the security is kept.
        safekeeping_account: 0..1 Box<SafekeepingAccount> = "SfkpgAcct",
        /// The notes paid in.
        cash_deposits: 0..* CashDeposit = "CshDpst",
        /// The card and terminal that were used.
        card: 0..1 Box<CardTransaction> = "CardTx",
        /// Narrative of this transaction, up to 500 characters.
        additional_information: 0..1 Text<500> = "AddtlTxInf",
        /// Data beyond the message, as sender and receiver agreed.
        supplementary_data: 0..* SupplementaryData = "SplmtryData",
    }

    /// References that identify a transaction.
    References = "TransactionReferences3" {
        /// The identification of the message that ordered it.
        message_id: 0..1 Text<35> = "MsgId",
        /// The account servicer's reference.
        servicer_reference: 0..1 Text<35> = "AcctSvcrRef",
        /// The identification of the part of that message.
        payment_information_id: 0..1 Text<35> = "PmtInfId",
        /// The reference between one party and the next; it goes no further.
        instruction_id: 0..1 Text<35> = "InstrId",
        /// The debtor's reference, which reaches the creditor unchanged.
        end_to_end_id: 0..1 Text<35> = "EndToEndId",
        /// The reference given by the first bank, unchanged between banks.
        transaction_id: 0..1 Text<35> = "TxId",
        /// The mandate that a direct debit rests on.
        mandate_id: 0..1 Text<35> = "MndtId",
        /// The number printed on the cheque.
        cheque_number: 0..1 Text<35> = "ChqNb",
        /// The clearing system's reference.
        clearing_reference: 0..1 Text<35> = "ClrSysRef",
        /// The account owner's reference.
        owner_transaction_id: 0..1 Text<35> = "AcctOwnrTxId",
        /// The account servicer's reference for a transaction on securities.
        servicer_transaction_id: 0..1 Text<35> = "AcctSvcrTxId",
        /// The settlement system's reference.
        market_infrastructure_id: 0..1 Text<35> = "MktInfrstrctrTxId",
        /// The reference given when it was processed.
        processing_id: 0..1 Text<35> = "PrcgId",
        /// References of other kinds.
        proprietary: 0..* ProprietaryReference = "Prtry",
    }

    /// A reference of a kind that the schema does not have.
    ProprietaryReference = "ProprietaryReference1" {
        /// The kind of reference.
        kind: 1..1 Text<35> = "Tp",
        /// The reference, up to 35 characters.
        reference: 1..1 Text<35> = "Ref",
    }

    /// The dates of a transaction.
    TransactionDates = "TransactionDates2" {
        /// When the bank accepted the order.
        accepted_at: 0..1 DateTime = "AccptncDtTm",
        /// The agreed settlement date.
        contractual_settlement: 0..1 Date = "TradActvtyCtrctlSttlmDt",
        /// The trade date.
        traded: 0..1 Date = "TradDt",
        /// When the banks settle with each other.
        interbank_settlement: 0..1 Date = "IntrBkSttlmDt",
        /// The first day of what is paid for.
        start: 0..1 Date = "StartDt",
        /// The last day of what is paid for.
        end: 0..1 Date = "EndDt",
        /// When it took place.
        transaction_at: 0..1 DateTime = "TxDtTm",
        /// Dates of other kinds.
        proprietary: 0..* ProprietaryDate = "Prtry",
    }

    /// A date of a kind that the schema does not have.
    ProprietaryDate = "ProprietaryDate2" {
        /// The kind of date.
        kind: 1..1 Text<35> = "Tp",
        /// A date, or a date and time.
        date: 1..1 DateOrDateTime = "Dt",
    }

    /// Why a transaction was returned, and by whom.
    ReturnInformation = "PaymentReturnReason2" {
        /// The bank transaction code of what was returned.
        original_bank_transaction_code: 0..1 BankTransactionCode = "OrgnlBkTxCd",
        /// The party that returned it.
        originator: 0..1 Box<Party> = "Orgtr",
        /// The reason, as a code.
        reason: 0..1 ReturnReason = "Rsn",
        /// The reason in words, up to 105 characters each.
        additional_information: 0..* Text<105> = "AddtlInf",
    }

    /// The corporate action behind a transaction.
    CorporateAction = "CorporateAction9" {
        /// The kind of event.
        event_kind: 1..1 Text<35> = "EvtTp",
        /// The servicer's identification of the event.
        event_id: 1..1 Text<35> = "EvtId",
    }

    /// Notes deposited, of one denomination.
    CashDeposit = "CashDeposit1" {
        /// The value of one note.
        denomination: 1..1 Amount = "NoteDnmtn" as "ActiveCurrencyAndAmount",
        /// The number of notes, in up to 15 digits.
        notes: 1..1 Digits<1, 15> = "NbOfNotes",
        /// The value of all of them.
        amount: 1..1 Amount = "Amt" as "ActiveCurrencyAndAmount",
    }
}

code_or_proprietary! {
    /// The reason for a return.
    ReturnReason = "ReturnReason5Choice" { Text<4> as "ExternalReturnReason1Code", Text<35> }

    /// The purpose of a payment.
    Purpose = "Purpose2Choice" { Text<4> as "ExternalPurpose1Code", Text<35> }
}
