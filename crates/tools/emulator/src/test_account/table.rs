//! The table of the test accounts.

use super::{DailyBooking, TestAccount};
use bankrail_bank::BookingKind::{
    self, CashDeposit, ChequePaid, FastPaymentIn, FastPaymentOut, Fee, InternalTransferOut,
    TransferIn, VirtualAccountCredit,
};
use bankrail_statement::AccountKind;
use bankrail_values::Currency;

pub(super) const ACCOUNTS: [TestAccount; 10] = [
    ordinary(
        "999001400100101",
        Currency::AUD,
        "Australian dollars",
        "12000.00",
        &[
            fast(
                FastPaymentIn,
                "1250.00",
                "Jarrah Joinery Pty Ltd",
                "FP0001",
                "Invoice 2041 👍 thank you",
            ),
            fast(
                FastPaymentOut,
                "89.95",
                "Wattle Water Board",
                "FP0002",
                "Quarter 3, meter 77",
            ),
            line(Fee, "15.00", "CH0003", "Account keeping fee"),
        ],
    ),
    ordinary(
        "999001400100102",
        Currency::USD,
        "US dollars, two payments that differ in their reference alone",
        "500000.00",
        &[
            line(TransferIn, "25000.00", "TT1001", "Incoming transfer"),
            line(TransferIn, "25000.00", "TT1001B", "Incoming transfer"),
        ],
    ),
    ordinary(
        "SBD000000000103",
        Currency::SBD,
        "Solomon Islands dollars",
        "780.50",
        &[line(CashDeposit, "219.50", "DP0007", "Branch deposit")],
    ),
    ordinary(
        "HKD000000000104",
        Currency::HKD,
        "Hong Kong dollars",
        "1000000.00",
        &[
            fast(
                FastPaymentIn,
                "8888.80",
                "Harbour Lights Ltd 海港燈飾",
                "FP2001",
                "新年快樂 🧧",
            ),
            fast(
                FastPaymentOut,
                "1200.00",
                "Peak Printing",
                "FP2002",
                "Leaflets & posters <A3>",
            ),
        ],
    ),
    ordinary(
        "SGD000000000105",
        Currency::SGD,
        "Singapore dollars, nothing booked",
        "42.00",
        &[],
    ),
    ordinary(
        "INR000000000106",
        Currency::INR,
        "Indian rupees",
        "250000.00",
        &[fast(
            FastPaymentIn,
            "99999.99",
            "Neem & Sons",
            "FP3001",
            "Advance for order 9/21 🙏",
        )],
    ),
    ordinary(
        "PGK000000000107",
        Currency::PGK,
        "Papua New Guinea kina, overdrawn",
        "100.00",
        &[line(ChequePaid, "350.25", "CQ0042", "Cheque 000042")],
    ),
    ordinary(
        "VND000000000108",
        Currency::VND,
        "Vietnamese dong, a currency without decimals",
        "150000000",
        &[
            fast(
                FastPaymentIn,
                "25000000",
                "Công ty Hoa Sen",
                "FP4001",
                "Thanh toán hóa đơn 17",
            ),
            line(Fee, "11000", "CH4002", "Phí dịch vụ"),
        ],
    ),
    with_virtual_accounts(
        "999042700100109",
        "virtual accounts",
        "0.00",
        &[
            credit(
                "310.00",
                "Banksia Rentals",
                "VA0001",
                "Unit 4, week 31 🏠",
                "700100901",
            ),
            credit("295.00", "K. Boronia", "VA0002", "Unit 9 👩‍👩‍👧", "700100902"),
            line(
                InternalTransferOut,
                "605.00",
                "SW0001",
                "Sweep to main account",
            ),
        ],
    ),
    with_virtual_accounts(
        "999042700100110",
        "virtual accounts, seven entries: pages with maxEntries",
        "5000.00",
        &[
            credit("10.00", "Member 0001", "VA1001", "Dues 🎾", "700101001"),
            credit("10.00", "Member 0002", "VA1002", "Dues", "700101002"),
            credit("10.00", "Member 0003", "VA1003", "Dues", "700101003"),
            credit(
                "10.00",
                "Member 0004",
                "VA1004",
                "Dues and a guest",
                "700101004",
            ),
            credit("12.50", "Member 0005", "VA1005", "Dues", "700101005"),
            fast(
                FastPaymentOut,
                "44.00",
                "Court Lights Co",
                "FP1006",
                "August",
            ),
            credit("10.00", "Member 0007", "VA1007", "Dues", "700101007"),
        ],
    ),
];

type Text = &'static str;
type Entries = &'static [DailyBooking];

const fn ordinary(
    id: Text,
    currency: Currency,
    shows: Text,
    opening: Text,
    entries: Entries,
) -> TestAccount {
    TestAccount {
        id,
        currency,
        shows,
        opening,
        kind: AccountKind::Ordinary,
        entries,
    }
}

const fn with_virtual_accounts(
    id: Text,
    shows: Text,
    opening: Text,
    entries: Entries,
) -> TestAccount {
    TestAccount {
        id,
        currency: Currency::AUD,
        shows,
        opening,
        kind: AccountKind::WithVirtualAccounts,
        entries,
    }
}

const fn line(kind: BookingKind, amount: Text, reference: Text, narrative: Text) -> DailyBooking {
    DailyBooking {
        kind,
        amount,
        counterparty: None,
        reference,
        narrative,
        virtual_account: None,
    }
}

const fn fast(
    kind: BookingKind,
    amount: Text,
    counterparty: Text,
    reference: Text,
    narrative: Text,
) -> DailyBooking {
    DailyBooking {
        kind,
        amount,
        counterparty: Some(counterparty),
        reference,
        narrative,
        virtual_account: None,
    }
}

const fn credit(
    amount: Text,
    counterparty: Text,
    reference: Text,
    narrative: Text,
    account: Text,
) -> DailyBooking {
    let virtual_account = Some(account);
    DailyBooking {
        kind: VirtualAccountCredit,
        amount,
        counterparty: Some(counterparty),
        reference,
        narrative,
        virtual_account,
    }
}
