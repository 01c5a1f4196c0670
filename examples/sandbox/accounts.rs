//! The sandbox's test accounts: one each in eight currencies and two with virtual accounts (Specification: "Request
//! statement", test data). All names and numbers are made up.

use bankrail::service::BookingKind::{
    self, CashDeposit, ChequePaid, FastPaymentIn, FastPaymentOut, Fee, InternalTransferOut, TransferIn,
    VirtualAccountCredit,
};

/// One test account and its entries of today.
#[derive(Debug)]
pub(crate) struct TestAccount {
    pub(crate) id: &'static str,
    pub(crate) currency: &'static str,
    pub(crate) shows: &'static str,
    pub(crate) opening: &'static str,
    pub(crate) has_virtual_accounts: bool,
    pub(crate) entries: &'static [TestEntry],
}

/// One booked transaction.
#[derive(Debug)]
pub(crate) struct TestEntry {
    pub(crate) kind: BookingKind,
    /// More than zero; the kind decides on the direction.
    pub(crate) amount: &'static str,
    pub(crate) other_party: &'static str,
    pub(crate) reference: &'static str,
    pub(crate) narrative: &'static str,
    /// Virtual account number and issuer branch code.
    pub(crate) virtual_account: Option<(&'static str, &'static str)>,
}

/// The account identifier of an account that does not exist.
pub(crate) const UNKNOWN_ACCOUNT: &str = "000000000000000";

const fn fast_in(
    amount: &'static str,
    other_party: &'static str,
    reference: &'static str,
    narrative: &'static str,
) -> TestEntry {
    TestEntry { kind: FastPaymentIn, amount, other_party, reference, narrative, virtual_account: None }
}

const fn fast_out(
    amount: &'static str,
    other_party: &'static str,
    reference: &'static str,
    narrative: &'static str,
) -> TestEntry {
    TestEntry { kind: FastPaymentOut, amount, other_party, reference, narrative, virtual_account: None }
}

const fn ordinary(
    kind: BookingKind,
    amount: &'static str,
    reference: &'static str,
    narrative: &'static str,
) -> TestEntry {
    TestEntry { kind, amount, other_party: "", reference, narrative, virtual_account: None }
}

const fn virtual_in(
    amount: &'static str,
    other_party: &'static str,
    reference: &'static str,
    narrative: &'static str,
    account: &'static str,
) -> TestEntry {
    let virtual_account = Some((account, "999042"));
    TestEntry { kind: VirtualAccountCredit, amount, other_party, reference, narrative, virtual_account }
}

pub(crate) const ACCOUNTS: [TestAccount; 10] = [
    TestAccount {
        id: "999001400100101",
        currency: "AUD",
        shows: "Australian dollars",
        opening: "12000.00",
        has_virtual_accounts: false,
        entries: &[
            fast_in("1250.00", "Jarrah Joinery Pty Ltd", "FP0001", "Invoice 2041 👍 thank you"),
            fast_out("89.95", "Wattle Water Board", "FP0002", "Quarter 3, meter 77"),
            ordinary(Fee, "15.00", "CH0003", "Account keeping fee"),
        ],
    },
    TestAccount {
        id: "999001400100102",
        currency: "USD",
        shows: "US dollars",
        opening: "500000.00",
        has_virtual_accounts: false,
        entries: &[
            ordinary(TransferIn, "25000.00", "TT1001", "Incoming transfer"),
            ordinary(TransferIn, "25000.00", "TT1001B", "Incoming transfer"),
        ],
    },
    TestAccount {
        id: "SBD000000000103",
        currency: "SBD",
        shows: "Solomon Islands dollars",
        opening: "780.50",
        has_virtual_accounts: false,
        entries: &[ordinary(CashDeposit, "219.50", "DP0007", "Branch deposit")],
    },
    TestAccount {
        id: "HKD000000000104",
        currency: "HKD",
        shows: "Hong Kong dollars",
        opening: "1000000.00",
        has_virtual_accounts: false,
        entries: &[
            fast_in("8888.80", "Harbour Lights Ltd 海港燈飾", "FP2001", "新年快樂 🧧"),
            fast_out("1200.00", "Peak Printing", "FP2002", "Leaflets & posters <A3>"),
        ],
    },
    TestAccount {
        id: "SGD000000000105",
        currency: "SGD",
        shows: "Singapore dollars, nothing booked yet",
        opening: "42.00",
        has_virtual_accounts: false,
        entries: &[],
    },
    TestAccount {
        id: "INR000000000106",
        currency: "INR",
        shows: "Indian rupees",
        opening: "250000.00",
        has_virtual_accounts: false,
        entries: &[fast_in("99999.99", "Neem & Sons", "FP3001", "Advance for order 9/21 🙏")],
    },
    TestAccount {
        id: "PGK000000000107",
        currency: "PGK",
        shows: "Papua New Guinea kina, overdrawn",
        opening: "100.00",
        has_virtual_accounts: false,
        entries: &[ordinary(ChequePaid, "350.25", "CQ0042", "Cheque 000042")],
    },
    TestAccount {
        id: "VND000000000108",
        currency: "VND",
        shows: "Vietnamese dong, a currency without decimals",
        opening: "150000000",
        has_virtual_accounts: false,
        entries: &[
            fast_in("25000000", "Công ty Hoa Sen", "FP4001", "Thanh toán hóa đơn 17"),
            ordinary(Fee, "11000", "CH4002", "Phí dịch vụ"),
        ],
    },
    TestAccount {
        id: "999042700100109",
        currency: "AUD",
        shows: "virtual accounts",
        opening: "0.00",
        has_virtual_accounts: true,
        entries: &[
            virtual_in("310.00", "Banksia Rentals", "VA0001", "Unit 4, week 31 🏠", "700100901"),
            virtual_in("295.00", "K. Boronia", "VA0002", "Unit 9 👩‍👩‍👧", "700100902"),
            ordinary(InternalTransferOut, "605.00", "SW0001", "Sweep to main account"),
        ],
    },
    TestAccount {
        id: "999042700100110",
        currency: "AUD",
        shows: "virtual accounts, over several pages",
        opening: "5000.00",
        has_virtual_accounts: true,
        entries: &[
            virtual_in("10.00", "Member 0001", "VA1001", "Dues 🎾", "700101001"),
            virtual_in("10.00", "Member 0002", "VA1002", "Dues", "700101002"),
            virtual_in("10.00", "Member 0003", "VA1003", "Dues", "700101003"),
            virtual_in("10.00", "Member 0004", "VA1004", "Dues and a guest", "700101004"),
            virtual_in("12.50", "Member 0005", "VA1005", "Dues", "700101005"),
            fast_out("44.00", "Court Lights Co", "FP1006", "August"),
            virtual_in("10.00", "Member 0007", "VA1007", "Dues", "700101007"),
        ],
    },
];
