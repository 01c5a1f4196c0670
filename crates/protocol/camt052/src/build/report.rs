//! A builder of a report from a balance and entries.

use super::written::{TAIL, WrittenEntry, WrittenReport};
use super::{BuildError, CreationTime};
use crate::{Document, Report};
use bankrail_camt::{
    Account, AccountIdentification, Amount, Balance, BalanceCode, BalanceSubType, BalanceType,
    BalanceTypeCode, CurrencyCode, DateOrDateTime, Direction, Entry, GroupHeader, IsoDate,
    IsoDateTime, OtherAccountId, ReportingSource, Summary, summary_of, summary_of_amounts,
};
use bankrail_values::{Currency, Date, Money, SimpleUuid};

/// Builds the report of one account: group header, balance, summary and entries.
///
/// The summary is computed: counts, sums and the net amount of the entries, all zero without
/// entries.
///
/// ```
/// use bankrail_camt052::{EntryBuilder, ReportBuilder, ReportIds};
/// use bankrail_values::{Date, SimpleUuid};
///
/// let today = Date::parse("2021-07-29")?;
/// let ids = ReportIds {
///     message: SimpleUuid::parse("44b756ed60c8496391a768af90073f3f")?,
///     report: SimpleUuid::parse("2a49546e4627493c9ba9645df24c9271")?,
/// };
/// let created_at = "2021-07-29T17:10:05.1750344+10:00".parse()?;
/// let document = ReportBuilder::new(ids, "CMM", created_at, "011222814766538", "1245500.00 AUD".parse()?, today)
///     .entry(EntryBuilder::new("25.00 AUD".parse()?, today).narrative("payment 12345 👍"))
///     .build()?;
/// assert!(document.to_xml()?.contains("<Sum>25.00</Sum>"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ReportBuilder {
    ids: ReportIds,
    source: String,
    created_at: CreationTime,
    account: String,
    balance: Money,
    balance_date: Date,
    balance_code: BalanceCode,
    balance_sub_type: String,
    account_name: Option<String>,
    unlisted_currency: bool,
    entries: Vec<Entry>,
    /// The error of the first entry that could not be built.
    failed: Option<BuildError>,
}

/// The identifications of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs)] // two values of one type, told apart by their names
pub struct ReportIds {
    /// The identifier of the message, `GrpHdr/MsgId`.
    pub message: SimpleUuid,
    /// The identifier of the report in the message, `Rpt/Id`.
    pub report: SimpleUuid,
}

impl ReportBuilder {
    /// Makes a builder from the mandatory values.
    ///
    /// - `ids`: the identifications of message and report.
    /// - `source`: the system that the figures come from, `RptgSrc/Prtry`.
    /// - `created_at`: the creation time.
    /// - `account`: the account's identifier, `Acct/Id/Othr/Id`.
    /// - `balance`: the amount of the balance, negative when overdrawn; its currency is the
    ///   account's.
    /// - `balance_date`: the date of the balance.
    #[must_use]
    pub fn new(
        ids: ReportIds,
        source: impl Into<String>,
        created_at: CreationTime,
        account: impl Into<String>,
        balance: Money,
        balance_date: Date,
    ) -> Self {
        Self {
            ids,
            source: source.into(),
            created_at,
            account: account.into(),
            balance,
            balance_date,
            balance_code: BalanceCode::InterimAvailable,
            balance_sub_type: "Current".to_owned(),
            account_name: None,
            unlisted_currency: false,
            entries: Vec::new(),
            failed: None,
        }
    }

    /// Sets the kind of the balance. The default is `ITAV` (Specification: Statement payload,
    /// observed).
    #[must_use]
    pub fn balance_code(mut self, code: BalanceCode) -> Self {
        self.balance_code = code;
        self
    }

    /// Sets the sub-type of the balance. The default is `Current` (Specification: Statement
    /// payload, observed).
    #[must_use]
    pub fn balance_sub_type(mut self, sub_type: impl Into<String>) -> Self {
        self.balance_sub_type = sub_type.into();
        self
    }

    /// Sets the account's name, `Acct/Nm`.
    #[must_use]
    pub fn account_name(mut self, name: impl Into<String>) -> Self {
        self.account_name = Some(name.into());
        self
    }

    /// Allows a currency that ISO 4217 does not list, such as a historic one. Default: such a
    /// currency is refused (Specification: "Statement payload").
    #[must_use]
    pub fn allow_unlisted_currency(mut self) -> Self {
        self.unlisted_currency = true;
        self
    }

    /// Adds an entry: an [`EntryBuilder`](crate::EntryBuilder), or an unchanged [`Entry`].
    #[must_use]
    pub fn entry<E>(mut self, entry: E) -> Self
    where
        E: TryInto<Entry>,
        BuildError: From<E::Error>,
    {
        self.push(entry);
        self
    }

    /// Adds entries, as [`ReportBuilder::entry`] does.
    #[must_use]
    pub fn entries<E>(mut self, entries: impl IntoIterator<Item = E>) -> Self
    where
        E: TryInto<Entry>,
        BuildError: From<E::Error>,
    {
        // Entries are large, so the memory of a list is reused.
        match entries
            .into_iter()
            .map(E::try_into)
            .collect::<Result<Vec<_>, _>>()
        {
            Ok(entries) if self.entries.is_empty() => self.entries = entries,
            Ok(entries) => self.entries.extend(entries),
            Err(error) => {
                // If several entries failed, `build` returns the error of the first.
                self.failed.get_or_insert(error.into());
            }
        }
        self
    }

    /// Builds the document.
    ///
    /// # Errors
    /// [`BuildError`] when a value does not fit the message.
    pub fn build(mut self) -> Result<Document, BuildError> {
        let (currency, entries) = (self.balance.currency(), std::mem::take(&mut self.entries));
        let failed = self.failed.take();
        let (header, mut report) = self.head()?;
        if let Some(error) = failed {
            return Err(error);
        }
        if let Some(error) = entries.iter().find_map(|entry| refused(entry, currency)) {
            return Err(error);
        }
        let summary = summary_of(&entries);
        report.entries = entries;
        whole(header, report, summary)
    }

    /// Builds the text of the report with these entries in place of the builder's. The text equals
    /// that of [`ReportBuilder::build`] with the same entries, but only the part before the entries
    /// is built and checked.
    ///
    /// # Errors
    /// [`BuildError`] when a value does not fit the message.
    pub fn build_around<'a>(
        self,
        entries: &'a [&'a WrittenEntry],
    ) -> Result<WrittenReport<'a>, BuildError> {
        let own = self.balance.currency();
        // Checks the currencies before the summary adds up the amounts.
        if let Some(other) = entries
            .iter()
            .map(|entry| entry.amount().currency())
            .find(|found| *found != own)
        {
            return Err(BuildError::Currency {
                account: own,
                found: other.to_string(),
            });
        }
        let summary = summary_of_amounts(
            entries
                .iter()
                .map(|entry| (entry.direction(), entry.amount().amount())),
        );
        let (header, report) = self.head()?;
        let mut head = whole(header, report, summary)?
            .to_xml()
            .map_err(|_| BuildError::Unfaithful)?;
        head.truncate(head.strip_suffix(TAIL).ok_or(BuildError::Unfaithful)?.len());
        Ok(WrittenReport { head, entries })
    }

    /// Makes the parts of the report before the summary.
    fn head(self) -> Result<(GroupHeader, Report), BuildError> {
        let currency = self.balance.currency();
        if !self.unlisted_currency && !currency.is_listed() {
            return Err(BuildError::UnlistedCurrency { found: currency });
        }
        let created_at = IsoDateTime::from(self.created_at);
        let mut header = GroupHeader::new(self.ids.message.to_string().into());
        header.created_at = Some(created_at.clone());
        let mut account = Account::new(AccountIdentification::Other(OtherAccountId::new(
            self.account.into(),
        )));
        account.currency = Some(CurrencyCode::from(currency));
        account.name = self.account_name.map(Into::into);
        let mut report = Report::new(account);
        report.id = Some(self.ids.report.to_string().into());
        report.created_at = Some(created_at);
        report.source = Some(ReportingSource::Proprietary(self.source.into()));
        let mut kind = BalanceType::new(BalanceTypeCode::Code(self.balance_code));
        kind.sub_kind = Some(BalanceSubType::Proprietary(self.balance_sub_type.into()));
        let mut balance = Balance::new(kind, amount(self.balance)?, direction(self.balance));
        balance.date = Some(DateOrDateTime::Date(IsoDate::from(self.balance_date)));
        report.balances.push(balance);
        Ok((header, report))
    }

    fn push<E>(&mut self, entry: E)
    where
        E: TryInto<Entry>,
        BuildError: From<E::Error>,
    {
        match entry.try_into() {
            Ok(entry) => self.entries.push(entry),
            Err(error) => {
                self.failed.get_or_insert(error.into());
            }
        }
    }
}

/// Builds the checked document of one report with its summary.
fn whole(
    header: GroupHeader,
    mut report: Report,
    summary: Option<Summary>,
) -> Result<Document, BuildError> {
    report.summary = Some(Box::new(
        summary.ok_or(BuildError::Sum(bankrail_values::MoneyError::Overflow))?,
    ));
    let mut document = Document::new(vec![report]);
    document.group_header = Some(header);
    match document.check_schema() {
        Some(finding) => Err(finding.into()),
        None => Ok(document),
    }
}

/// Returns the error for an entry that is not in the currency of the account.
fn refused(entry: &Entry, account: Currency) -> Option<BuildError> {
    let found = entry.amount.currency();
    if found.is_some_and(|found| found.as_str() == account.as_str()) {
        return None;
    }
    Some(BuildError::Currency {
        account,
        found: found.map_or_else(|| "none".to_owned(), ToString::to_string),
    })
}

/// Returns the amount without its sign.
pub(super) fn amount(money: Money) -> Result<Amount, BuildError> {
    Amount::new(money.amount().abs(), money.currency()).map_err(BuildError::Amount)
}

/// Returns the direction of an amount; zero is a credit.
pub(super) fn direction(money: Money) -> Direction {
    // A decimal may be a negative zero, which is a credit like any zero.
    if money.amount().is_sign_negative() && !money.amount().is_zero() {
        Direction::Debit
    } else {
        Direction::Credit
    }
}
