//! A builder of an entry with one transaction.

use super::BuildError;
use super::report::{amount, direction};
use bankrail_camt::{
    AccountIdentification, BankTransactionCode, BankTransactionDomain, BankTransactionFamily,
    CounterpartyAccount, DateOrDateTime, Direction, Entry, EntryDetails, EntryStatus, IsoDate,
    OtherAccountId, Party, PartyOrAgent, ProprietaryReference, References, Remittance, Text,
    Transaction, TransactionParties,
};
use bankrail_values::{Date, Money};

/// Builds a booked entry with one transaction.
///
/// ```
/// use bankrail_camt052::EntryBuilder;
/// use bankrail_values::Date;
/// let entry = EntryBuilder::new("-12.50 AUD".parse()?, Date::parse("2021-07-29")?)
///     .end_to_end_id("Tx0000163773")
///     .reference("ServiceLevel", "ics1.clear.V01")
///     .build()?;
/// assert_eq!(entry.signed_amount().unwrap().to_string(), "-12.50");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct EntryBuilder {
    amount: Money,
    booked: Date,
    value_date: Date,
    code: [String; 3],
    references: References,
    debtor: Option<String>,
    creditor: Option<String>,
    creditor_account: Option<(String, Option<String>)>,
    narrative: String,
}

impl EntryBuilder {
    /// Makes a builder of an entry with an amount, which is negative for a debit, booked on a day
    /// that is also its value date. The bank transaction code of the entry is that of a domestic
    /// credit transfer: received, `PMNT`, `RCDT`, `DMCT` (Specification: Statement payload,
    /// observed), or for a debit, issued, `PMNT`, `ICDT`, `DMCT`.
    #[must_use]
    pub fn new(amount: Money, booked: Date) -> Self {
        let family = if direction(amount) == Direction::Debit {
            "ICDT"
        } else {
            "RCDT"
        };
        Self {
            amount,
            booked,
            value_date: booked,
            code: ["PMNT", family, "DMCT"].map(str::to_owned),
            references: References::default(),
            debtor: None,
            creditor: None,
            creditor_account: None,
            narrative: String::new(),
        }
    }

    /// Sets the value date.
    #[must_use]
    pub fn value_date(mut self, date: Date) -> Self {
        self.value_date = date;
        self
    }

    /// Sets the domain, family and sub-family of the bank transaction code.
    #[must_use]
    pub fn bank_transaction_code(mut self, domain: &str, family: &str, sub_family: &str) -> Self {
        self.code = [domain, family, sub_family].map(str::to_owned);
        self
    }

    /// Sets `Refs/AcctSvcrRef`.
    #[must_use]
    pub fn servicer_reference(mut self, reference: &str) -> Self {
        self.references.servicer_reference = Some(reference.into());
        self
    }

    /// Sets `Refs/EndToEndId`.
    #[must_use]
    pub fn end_to_end_id(mut self, id: &str) -> Self {
        self.references.end_to_end_id = Some(id.into());
        self
    }

    /// Adds a reference of a proprietary kind, `Refs/Prtry`.
    #[must_use]
    pub fn reference(mut self, kind: &str, reference: &str) -> Self {
        self.references
            .proprietary
            .push(ProprietaryReference::new(kind.into(), reference.into()));
        self
    }

    /// Sets `RltdPties/Dbtr/Nm`.
    #[must_use]
    pub fn debtor(mut self, name: &str) -> Self {
        self.debtor = Some(name.to_owned());
        self
    }

    /// Sets `RltdPties/Cdtr/Nm`.
    #[must_use]
    pub fn creditor(mut self, name: &str) -> Self {
        self.creditor = Some(name.to_owned());
        self
    }

    /// Sets `RltdPties/CdtrAcct/Id/Othr`: a virtual account's number and its issuer's branch code.
    #[must_use]
    pub fn creditor_account(mut self, number: &str, issuer: Option<&str>) -> Self {
        self.creditor_account = Some((number.to_owned(), issuer.map(str::to_owned)));
        self
    }

    /// Sets `RmtInf/Ustrd`, cut into pieces of 140 code points, which [`Entry::narrative`] joins
    /// again. An empty text writes nothing.
    #[must_use]
    pub fn narrative(mut self, text: &str) -> Self {
        text.clone_into(&mut self.narrative);
        self
    }

    /// Builds the entry.
    ///
    /// # Errors
    /// [`BuildError::Amount`] if the amount does not fit the schema. Texts are checked only by
    /// [`ReportBuilder::build`](crate::ReportBuilder::build).
    pub fn build(self) -> Result<Entry, BuildError> {
        let direction = direction(self.amount);
        let amount = amount(self.amount)?;
        let mut transaction = Transaction::with_amount(amount.clone(), direction.clone());
        if self.references != References::default() {
            transaction.references = Some(Box::new(self.references));
        }
        let mut parties = TransactionParties::default();
        parties.debtor = self.debtor.map(named);
        parties.creditor = self.creditor.map(named);
        parties.creditor_account = self.creditor_account.map(|(number, issuer)| {
            let mut other = OtherAccountId::new(number.into());
            other.issuer = issuer.map(Text::from);
            Box::new(CounterpartyAccount::new(AccountIdentification::Other(
                other,
            )))
        });
        if parties != TransactionParties::default() {
            transaction.parties = Some(Box::new(parties));
        }
        if !self.narrative.is_empty() {
            transaction.remittance = Some(Remittance::from_narrative(&self.narrative));
        }
        let [domain, family, sub_family] = self.code.map(Text::from);
        let mut code = BankTransactionCode::default();
        code.domain = Some(BankTransactionDomain::new(
            domain,
            BankTransactionFamily::new(family, sub_family),
        ));
        let mut entry = Entry::new(amount, direction, EntryStatus::BOOKED);
        entry.bank_transaction_code = Some(code);
        entry.booking_date = Some(DateOrDateTime::Date(IsoDate::from(self.booked)));
        entry.value_date = Some(DateOrDateTime::Date(IsoDate::from(self.value_date)));
        let mut details = EntryDetails::default();
        details.transactions.push(transaction);
        entry.details.push(details);
        Ok(entry)
    }
}

impl TryFrom<EntryBuilder> for Entry {
    type Error = BuildError;
    fn try_from(builder: EntryBuilder) -> Result<Self, BuildError> {
        builder.build()
    }
}

fn named(name: String) -> Box<PartyOrAgent> {
    let mut party = Party::default();
    party.name = Some(name.into());
    Box::new(party.into())
}
