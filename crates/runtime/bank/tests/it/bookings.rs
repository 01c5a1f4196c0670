//! Entries that are made from events on an account.

use bankrail_bank::{Booking, BookingError, BookingKind, BookingMember};
use bankrail_camt052::{Direction, Entry, ReportBuilder, ReportIds};
use bankrail_service::LedgerEntry;
use bankrail_statement::EntryChannel;
use bankrail_values::{Date, SimpleUuid};

fn day() -> Date {
    Date::parse("2021-07-29").unwrap()
}

fn booking(kind: BookingKind, amount: &str) -> Booking {
    Booking::new(kind, amount.parse().unwrap(), day())
}

/// Returns the XML of an entry in a report.
fn xml(entry: Entry) -> String {
    let ids = ReportIds {
        message: SimpleUuid::from_random_bytes([1; 16]),
        report: SimpleUuid::from_random_bytes([2; 16]),
    };
    let created_at = "2021-07-29T17:10:05.175+10:00".parse().unwrap();
    let report = ReportBuilder::new(ids, "CMM", created_at, "1", "0 AUD".parse().unwrap(), day())
        .entry(entry);
    let xml = report.build().unwrap().to_xml().unwrap();
    let (from, to) = (xml.find("<Ntry>").unwrap(), xml.find("</Rpt>").unwrap());
    xml[from..to].to_owned()
}

#[test]
fn each_kind_has_its_code_direction_and_channel() {
    use {BookingKind as K, Direction as D};
    let expected = [
        (K::FastPaymentIn, D::Credit, "PMNT RCDT DMCT", true),
        (K::FastPaymentOut, D::Debit, "PMNT ICDT DMCT", true),
        (K::VirtualAccountCredit, D::Credit, "PMNT RCDT DMCT", true),
        (K::TransferIn, D::Credit, "PMNT RCDT DMCT", false),
        (K::TransferOut, D::Debit, "PMNT ICDT DMCT", false),
        (
            K::InternationalTransferIn,
            D::Credit,
            "PMNT RCDT XBCT",
            false,
        ),
        (
            K::InternationalTransferOut,
            D::Debit,
            "PMNT ICDT XBCT",
            false,
        ),
        (K::InternalTransferIn, D::Credit, "PMNT RCDT BOOK", false),
        (K::InternalTransferOut, D::Debit, "PMNT ICDT BOOK", false),
        (K::DirectDebitPaid, D::Debit, "PMNT RDDT PMDD", false),
        (K::DirectDebitCollected, D::Credit, "PMNT IDDT PMDD", false),
        (K::ChequePaid, D::Debit, "PMNT ICHQ CCHQ", false),
        (K::ChequeDeposited, D::Credit, "PMNT RCHQ CCHQ", false),
        (K::CashDeposit, D::Credit, "PMNT CNTR CDPT", false),
        (K::CashWithdrawal, D::Debit, "PMNT CNTR CWDL", false),
        (K::CardPurchase, D::Debit, "PMNT CCRD POSD", false),
        (K::CardSettlement, D::Credit, "PMNT MCRD POSP", false),
        (K::Fee, D::Debit, "ACMT MDOP CHRG", false),
        (K::InterestCharged, D::Debit, "ACMT MDOP INTR", false),
        (K::InterestPaid, D::Credit, "ACMT MCOP INTR", false),
    ];
    assert_eq!(expected.each_ref().map(|row| row.0).as_slice(), K::ALL);
    for (kind, direction, code, fast) in expected {
        let booking = booking(kind, "12.50 AUD").virtual_account("700100901");
        let booking = if direction == D::Credit {
            booking
        } else {
            self::booking(kind, "12.50 AUD")
        };
        let LedgerEntry { entry, channel, .. } = booking.to_entry().unwrap();
        let domain = entry.bank_transaction_code.unwrap().domain.unwrap();
        let codes = [&domain.code, &domain.family.code, &domain.family.sub_family]
            .map(|code| code.as_str().to_owned());
        assert_eq!(codes.join(" "), code, "{kind}");
        assert_eq!(
            (&entry.direction, entry.reversal),
            (&direction, None),
            "{kind}"
        );
        assert_eq!(channel == EntryChannel::FastPayment, fast, "{kind}");
        assert_eq!(kind.to_string().parse::<BookingKind>(), Ok(kind));
        let reversed = booking.reversal().to_entry().unwrap().entry;
        assert_ne!(reversed.direction, direction, "{kind}");
        assert_eq!(reversed.reversal, Some(true), "{kind}");
    }
    let unknown = "Fee".parse::<BookingKind>().unwrap_err().to_string();
    assert!(
        unknown.ends_with(r#"interest_paid, found "Fee""#),
        "{unknown}"
    );
}

#[test]
fn an_entry_has_all_that_a_booking_says() {
    let everything = booking(BookingKind::VirtualAccountCredit, "310 AUD")
        .value_date(Date::parse("2021-07-30").unwrap())
        .key("not in the entry")
        .reference("VA0001")
        .end_to_end_id("E2E-1")
        .counterparty("Banksia & Sons")
        .narrative("Unit 4 🏠")
        .virtual_account("700100901")
        .virtual_account_issuer("999042")
        .mandate("M1")
        .cheque("000042");
    assert_eq!(
        xml(everything.to_entry().unwrap().entry),
        "<Ntry><Amt Ccy=\"AUD\">310.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts>\
         <BookgDt><Dt>2021-07-29</Dt></BookgDt><ValDt><Dt>2021-07-30</Dt></ValDt>\
         <BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>RCDT</Cd><SubFmlyCd>DMCT</SubFmlyCd></Fmly></Domn></BkTxCd>\
         <NtryDtls><TxDtls><Refs><AcctSvcrRef>VA0001</AcctSvcrRef><EndToEndId>E2E-1</EndToEndId><MndtId>M1</MndtId>\
         <ChqNb>000042</ChqNb></Refs><Amt Ccy=\"AUD\">310.00</Amt><CdtDbtInd>CRDT</CdtDbtInd>\
         <RltdPties><Dbtr><Nm>Banksia &amp; Sons</Nm></Dbtr><CdtrAcct><Id><Othr><Id>700100901</Id>\
         <Issr>999042</Issr></Othr></Id></CdtrAcct></RltdPties><RmtInf><Ustrd>Unit 4 🏠</Ustrd></RmtInf></TxDtls>\
         </NtryDtls></Ntry>"
    );
    let fee = booking(BookingKind::Fee, "15 AUD")
        .narrative("Account keeping fee")
        .counterparty("The bank");
    let fee = xml(fee.to_entry().unwrap().entry);
    assert!(
        fee.contains("<RltdPties><Cdtr><Nm>The bank</Nm></Cdtr></RltdPties>"),
        "{fee}"
    );
    assert!(
        fee.contains("<Fmly><Cd>MDOP</Cd><SubFmlyCd>CHRG</SubFmlyCd></Fmly>")
            && !fee.contains("Refs"),
        "{fee}"
    );
    let dong = booking(BookingKind::Fee, "11000 VND")
        .to_entry()
        .unwrap()
        .entry;
    assert_eq!(dong.amount.to_string(), "11000 VND");
}

#[test]
fn what_makes_no_entry_names_its_member() {
    let error = |booking: Booking| booking.to_entry().unwrap_err();
    let fee = |amount: &str| booking(BookingKind::Fee, amount);
    for (booking, member, text) in [
        (
            fee("0.00 AUD"),
            BookingMember::Amount,
            "amount: expected more than zero, because the kind decides the direction",
        ),
        (
            fee("-1.00 AUD"),
            BookingMember::Amount,
            "amount: expected more than zero, because the kind decides the direction",
        ),
        (
            fee("1.005 AUD"),
            BookingMember::Amount,
            "amount: expected at most 2 decimals, found more",
        ),
        (
            fee("1.5 VND"),
            BookingMember::Amount,
            "amount: expected at most 0 decimals, found more",
        ),
        (
            fee("12345678901234567.89 AUD"),
            BookingMember::Amount,
            "amount: expected at most 18 digits, found more",
        ),
        (
            fee("1.00 ABC"),
            BookingMember::Currency,
            "currency: expected one that ISO 4217 lists, found another",
        ),
        (
            fee("1.00 AUD").counterparty("x".repeat(141)),
            BookingMember::Counterparty,
            "counterparty: expected 1 to 140 characters, found 141",
        ),
        (
            fee("1.00 AUD").reference(""),
            BookingMember::Reference,
            "reference: expected 1 to 35 characters, found 0",
        ),
        (
            fee("1.00 AUD").narrative("👍".repeat(281)),
            BookingMember::Narrative,
            "narrative: expected 1 to 280 characters, found 281",
        ),
        (
            fee("1.00 AUD").narrative("a\u{0}b"),
            BookingMember::Narrative,
            "narrative: expected characters that XML 1.0 can carry, found U+0000",
        ),
        (
            booking(BookingKind::VirtualAccountCredit, "1.00 AUD"),
            BookingMember::VirtualAccount,
            "virtual_account: expected a number, found none",
        ),
        (
            fee("1.00 AUD").virtual_account("7"),
            BookingMember::VirtualAccount,
            "virtual_account: expected none for a debit, found one",
        ),
    ] {
        let error = error(booking);
        assert_eq!(
            (error.member(), error.to_string().as_str()),
            (Some(member), text)
        );
    }
    assert_eq!(
        error(fee("1.00 AUD").key("k".repeat(129))).member(),
        Some(BookingMember::Key)
    );
    let longest = fee("1.00 AUD")
        .narrative("👍".repeat(280))
        .counterparty("x".repeat(140))
        .key("k".repeat(128));
    assert!(longest.to_entry().is_ok());
    assert_eq!(fee("0 AUD").to_entry(), Err(BookingError::NotPositive));
}
