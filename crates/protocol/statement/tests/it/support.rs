//! Helpers that several tests share.

use bankrail_camt052::{Document, Entry};
use bankrail_statement::{AccountId, ReceivedNextPage, ReceivedStatement, StatementReply};
use std::future::Future;
use std::task::{Context, Poll, Waker};

pub(crate) const KEY: &str = "0b7c2f6e-8a1d-41eb-8dcd-0242ac130003";

pub(crate) fn account() -> AccountId {
    AccountId::parse("012003123456789").unwrap()
}

/// Makes the XML of a document of one report with these entries.
pub(crate) fn document_xml(entries: &[String]) -> String {
    format!(
        "<Document xmlns=\"{}\"><BkToCstmrAcctRpt><GrpHdr><MsgId>m</MsgId><CreDtTm>2021-07-29T17:10:05.1750344+10:00\
         </CreDtTm></GrpHdr><Rpt><Id>r</Id><CreDtTm>2021-07-29T17:10:05+10:00</CreDtTm><Acct><Id><Othr>\
         <Id>012003123456789</Id></Othr></Id><Ccy>AUD</Ccy></Acct>{}</Rpt></BkToCstmrAcctRpt></Document>",
        bankrail_camt052::NAMESPACE,
        entries.concat()
    )
}

pub(crate) fn document(entries: &[String]) -> Document {
    Document::parse(document_xml(entries)).unwrap().document
}

/// Makes the XML of one entry: `amount`, booking date, the content of `TxDtls` before and after its
/// amount, and elements after `BookgDt`.
pub(crate) fn entry_xml(
    amount: &str,
    booked: &str,
    references: &str,
    rest: &str,
    servicer: &str,
) -> String {
    format!(
        "<Ntry><Amt Ccy=\"AUD\">{amount}</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BookgDt>{booked}</BookgDt>\
         {servicer}<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>RCDT</Cd><SubFmlyCd>DMCT</SubFmlyCd></Fmly></Domn></BkTxCd>\
         <NtryDtls><TxDtls>{references}<Amt Ccy=\"AUD\">{amount}</Amt><CdtDbtInd>CRDT</CdtDbtInd>{rest}</TxDtls>\
         </NtryDtls></Ntry>"
    )
}

pub(crate) fn plain(amount: &str, memo: &str) -> String {
    entry_xml(
        amount,
        "<Dt>2021-07-29</Dt>",
        "",
        &format!("<RmtInf><Ustrd>{memo}</Ustrd></RmtInf>"),
        "",
    )
}

pub(crate) fn entry(xml: String) -> Entry {
    document(&[xml]).reports.remove(0).entries.remove(0)
}

pub(crate) fn received(payload: &str, page: &ReceivedNextPage) -> ReceivedStatement {
    let more = match page {
        ReceivedNextPage::None => r#""moreTransactionsAvailable":false"#.to_owned(),
        ReceivedNextPage::At { cursor } => {
            format!(r#""cursor":"{cursor}","moreTransactionsAvailable":true"#)
        }
        ReceivedNextPage::WithoutCursor => r#""moreTransactionsAvailable":true"#.to_owned(),
    };
    let payload = serde_json::to_string(payload).unwrap();
    let body = format!(
        r#"{{"accountId":"012003123456789","extract":"intraday","payload":{payload},"requestKey":"{KEY}",{more}}}"#
    );
    match StatementReply::parse(200, body.as_bytes()).unwrap() {
        StatementReply::Statement(statement) => statement,
        StatementReply::Error(error) => panic!("{error:?}"),
    }
}

/// Runs a future that is ready at once.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    match future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the stores of these tests are ready at once"),
    }
}

/// A source of choices: first those of a fuzzer's bytes, one for each, then pseudo-random ones
/// (SplitMix64).
pub(crate) struct Random {
    bytes: std::vec::IntoIter<u8>,
    state: u64,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            bytes: Vec::new().into_iter(),
            state: seed,
        }
    }

    #[allow(dead_code, reason = "for the fuzz target that includes this file")]
    pub(crate) fn of(bytes: Vec<u8>) -> Self {
        Self {
            bytes: bytes.into_iter(),
            state: 0,
        }
    }

    fn next(&mut self) -> u64 {
        if let Some(byte) = self.bytes.next() {
            return byte.into();
        }
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`, which is above 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(end).unwrap()).unwrap()
    }

    pub(crate) fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }
}
