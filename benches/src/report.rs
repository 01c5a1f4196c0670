//! Reports of any number of entries in the form of the specification, about 770 bytes an entry.

use std::io::{self, Write};

/// A compact report.
///
/// # Panics
/// Never, because writing into memory cannot fail.
#[must_use]
pub fn report(entries: u64) -> String {
    let mut xml = Vec::new();
    write_report(entries, &mut xml).expect("writing into memory cannot fail");
    String::from_utf8(xml).expect("the report is text")
}

/// Writes a compact report entry by entry, so that it may be larger than memory.
///
/// # Errors
/// An error of the destination.
pub fn write_report(entries: u64, to: &mut dyn Write) -> io::Result<()> {
    let sum = |entries: u64| format!("{}.{:02}", entries * 1234 / 100, entries * 1234 % 100);
    let total = sum(entries);
    write!(
        to,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.052.001.06\">\
         <BkToCstmrAcctRpt><GrpHdr><MsgId>44b756ed60c8496391a768af90073f3f</MsgId>\
         <CreDtTm>2021-07-29T17:10:05.1750344+10:00</CreDtTm></GrpHdr><Rpt><Id>2a49546e4627493c9ba9645df24c9271</Id>\
         <CreDtTm>2021-07-29T17:10:05.1750344+10:00</CreDtTm><RptgSrc><Prtry>CMM</Prtry></RptgSrc><Acct><Id><Othr>\
         <Id>011222814766538</Id></Othr></Id><Ccy>AUD</Ccy></Acct><Bal><Tp><CdOrPrtry><Cd>ITAV</Cd></CdOrPrtry><SubTp>\
         <Prtry>Current</Prtry></SubTp></Tp><Amt Ccy=\"AUD\">1245500.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt>\
         <Dt>2021-07-29</Dt></Dt></Bal><TxsSummry><TtlNtries><NbOfNtries>{entries}</NbOfNtries><Sum>{total}</Sum>\
         <TtlNetNtry><Amt>{total}</Amt><CdtDbtInd>CRDT</CdtDbtInd></TtlNetNtry></TtlNtries><TtlCdtNtries>\
         <NbOfNtries>{entries}</NbOfNtries><Sum>{total}</Sum></TtlCdtNtries><TtlDbtNtries><NbOfNtries>0</NbOfNtries>\
         <Sum>0</Sum></TtlDbtNtries></TxsSummry>"
    )?;
    for entry in 0..entries {
        write!(
            to,
            "<Ntry><Amt Ccy=\"AUD\">12.34</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BookgDt><Dt>2021-07-29</Dt>\
             </BookgDt><ValDt><Dt>2021-07-29</Dt></ValDt><BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>RCDT</Cd>\
             <SubFmlyCd>DMCT</SubFmlyCd></Fmly></Domn></BkTxCd><NtryDtls><TxDtls><Refs>\
             <AcctSvcrRef>12345678901{entry:08}</AcctSvcrRef><EndToEndId>Tx{entry:010}</EndToEndId><Prtry>\
             <Tp>ServiceLevel</Tp><Ref>ics1.clear.V01</Ref></Prtry></Refs><Amt Ccy=\"AUD\">12.34</Amt>\
             <CdtDbtInd>CRDT</CdtDbtInd><RltdPties><Dbtr><Nm>JANE CITIZEN</Nm></Dbtr><Cdtr>\
             <Nm>BILBO BAGGINS</Nm></Cdtr><CdtrAcct><Id><Othr><Id>006430991</Id><Issr>010201</Issr></Othr></Id>\
             </CdtrAcct></RltdPties><RmtInf>\
             <Ustrd>payment {entry:08} for goods and services 👍</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>"
        )?;
    }
    to.write_all(b"</Rpt></BkToCstmrAcctRpt></Document>")
}

/// The same report in version 02 of the message, in which a transaction has its amount among the
/// details.
#[must_use]
pub fn version_02(xml: &str) -> String {
    let amount = "<Amt Ccy=\"AUD\">12.34</Amt>";
    xml.replace("camt.052.001.06", "camt.052.001.02")
        .replace("<TtlNetNtry><Amt>", "<TtlNetNtryAmt>")
        .replace(
            "</Amt><CdtDbtInd>CRDT</CdtDbtInd></TtlNetNtry>",
            "</TtlNetNtryAmt><CdtDbtInd>CRDT</CdtDbtInd>",
        )
        .replace(
            &format!("</Refs>{amount}<CdtDbtInd>CRDT</CdtDbtInd>"),
            &format!("</Refs><AmtDtls><TxAmt>{amount}</TxAmt></AmtDtls>"),
        )
}

/// The same report in version 12 of the message, for a peer that reads no other.
#[must_use]
pub fn version_12(xml: &str) -> String {
    since_07(xml, "12")
}

/// The same report in a version of the message since 07, in which the status and the parties are
/// choices.
#[must_use]
pub fn since_07(xml: &str, version: &str) -> String {
    xml.replace("camt.052.001.06", &format!("camt.052.001.{version}"))
        .replace("<Sts>BOOK</Sts>", "<Sts><Cd>BOOK</Cd></Sts>")
        .replace(
            "<Dbtr><Nm>JANE CITIZEN</Nm></Dbtr>",
            "<Dbtr><Pty><Nm>JANE CITIZEN</Nm></Pty></Dbtr>",
        )
        .replace(
            "<Cdtr><Nm>BILBO BAGGINS</Nm></Cdtr>",
            "<Cdtr><Pty><Nm>BILBO BAGGINS</Nm></Pty></Cdtr>",
        )
}

/// The same report with a time in each date of an entry, as some banks write them.
#[must_use]
pub fn date_times(xml: &str) -> String {
    let with_time = |xml: String, end: &str| {
        let date_time = format!("<DtTm>2021-07-29T17:10:05+10:00</DtTm>{end}");
        xml.replace(&format!("<Dt>2021-07-29</Dt>{end}"), &date_time)
    };
    with_time(with_time(xml.to_owned(), "</BookgDt>"), "</ValDt>")
}

/// The same report with every element on its own line.
#[must_use]
pub fn indented(xml: &str) -> String {
    xml.replace("><", ">\n  <")
}

/// The same report with a namespace prefix on every element.
#[must_use]
pub fn prefixed(xml: &str) -> String {
    let named = xml
        .replace("</", "\u{1}")
        .replace("<?", "\u{2}")
        .replace('<', "<d:");
    named
        .replace('\u{1}', "</d:")
        .replace('\u{2}', "<?")
        .replace(" xmlns=", " xmlns:d=")
}

/// The same report with CDATA, references and comments in each entry.
#[must_use]
pub fn mixed(xml: &str) -> String {
    xml.replace(
        "goods and services",
        "<![CDATA[goods & services]]> &amp; more<!-- as ordered -->",
    )
    .replace("<NtryDtls>", "<!-- one transaction --><NtryDtls>")
}

/// The same report with an IBAN in each entry whose check digits are wrong.
#[must_use]
pub fn doubtful(xml: &str) -> String {
    let account = "<DbtrAcct><Id><IBAN>DE88370400440532013000</IBAN></Id></DbtrAcct>";
    xml.replace("<Cdtr><Nm>", &format!("{account}<Cdtr><Nm>"))
}
