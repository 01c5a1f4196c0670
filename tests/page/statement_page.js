// The page that `bankrail statement html` writes.
"use strict";

const assert = require("node:assert/strict");
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const { pathToFileURL } = require("node:url");
const { accessible, fits } = require("./checks.js");

const ENTRIES = 1000;

async function check(browser, program, samples, folder, shots, axe) {
  const made = (name, files) => {
    const page = path.join(folder, name + ".html");
    execFileSync(program, ["statement", "html", ...files, "-o", page]);
    return pathToFileURL(page).href;
  };
  const large = path.join(folder, "large.xml");
  fs.writeFileSync(large, document(ENTRIES));
  const tab = await browser.tab();
  const url = made("large", [large]);
  await searches(tab, url, shots);
  await namesItsAccount(tab, url, shots);
  const all = fs.readdirSync(samples).filter((name) => name.endsWith(".xml") && !name.includes("not-well-formed"));
  assert.ok(all.length >= 9);
  const files = all.map((name) => path.join(samples, name));
  const entries = files.map((file) => fs.readFileSync(file, "utf8").match(/<Ntry>/g)?.length ?? 0);
  await shows(tab, made("samples", files), entries.reduce((sum, count) => sum + count), shots, axe);
  assert.deepEqual(tab.complaints, []);
  assert.deepEqual(tab.requests.filter((url) => !url.startsWith("file:")), [], "requests elsewhere");
}

/** Cents of the entry of this number, and who paid it. */
const cents = (number) => (number % 5 === 0 ? -1 : 1) * (number * 137 + 1);
const payer = (number) => (number % 100 === 7 ? "ZOË & SONS" : "PAYER " + number);

/** A document of so many entries, one of them with a status that is none. The sums of its summary are wrong. */
function document(count) {
  const amount = (value) => `${Math.floor(value / 100)}.${String(value % 100).padStart(2, "0")}`;
  const entries = [];
  for (let number = 1; number <= count; number += 1) {
    const value = cents(number);
    const party = value < 0 ? "Cdtr" : "Dbtr";
    const direction = value < 0 ? "DBIT" : "CRDT";
    const money = `<Amt Ccy="AUD">${amount(Math.abs(value))}</Amt><CdtDbtInd>${direction}</CdtDbtInd>`;
    const name = `<${party}><Nm>${payer(number).replace("&", "&amp;")}</Nm></${party}>`;
    entries.push(`<Ntry>${money}<Sts>${status(number)}</Sts>
      <BookgDt><Dt>2021-07-29</Dt></BookgDt><ValDt><Dt>2021-07-29</Dt></ValDt>
      <BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>RCDT</Cd><SubFmlyCd>DMCT</SubFmlyCd></Fmly></Domn></BkTxCd>
      <NtryDtls><TxDtls><Refs><EndToEndId>E2E-${number}</EndToEndId></Refs>${money}<RltdPties>${name}</RltdPties>
      <RmtInf><Ustrd>invoice ${number} 👩‍👩‍👧</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>`);
  }
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.052.001.06"><BkToCstmrAcctRpt>
<GrpHdr><MsgId>0b7c2f6e8a1d11eb8dcd0242ac130003</MsgId>
<CreDtTm>2021-07-29T17:10:05.0000000+10:00</CreDtTm></GrpHdr><Rpt><Id>0b7c2f6e8a1d11eb8dcd0242ac130004</Id>
<CreDtTm>2021-07-29T17:10:05.0000000+10:00</CreDtTm><RptgSrc><Prtry>CMM</Prtry></RptgSrc>
<Acct><Id><Othr><Id>999001400100101</Id></Othr></Id><Ccy>AUD</Ccy></Acct>
<Bal><Tp><CdOrPrtry><Cd>ITAV</Cd></CdOrPrtry><SubTp><Prtry>Current</Prtry></SubTp></Tp><Amt Ccy="AUD">12345.00</Amt>
<CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2021-07-29</Dt></Dt></Bal>
<TxsSummry><TtlNtries><NbOfNtries>${count + 1}</NbOfNtries><Sum>1.00</Sum></TtlNtries></TxsSummry>
${entries.join("\n")}</Rpt></BkToCstmrAcctRpt></Document>`;
}

/** The status of the entry of this number: most are booked, some pending, one is neither. */
const status = (number) => (number === 3 ? "DONE" : number % 10 === 1 ? "PDNG" : "BOOK");
const GROUPS = { BOOK: "booked", PDNG: "pending", DONE: "neither booked nor pending" };

/** The net sum of these entries. */
function net(numbers) {
  const sum = numbers.reduce((sum, number) => sum + cents(number), 0);
  const digits = String(Math.abs(sum)).padStart(3, "0");
  const whole = Number(digits.slice(0, -2)).toLocaleString("en");
  return (sum < 0 ? "-" : "") + whole + "." + digits.slice(-2) + " AUD";
}

/** What the page should say of these entries. */
function told(numbers) {
  const sums = Object.entries(GROUPS).flatMap(([code, name]) => {
    const own = numbers.filter((number) => status(number) === code);
    return own.length ? [net(own) + " " + name] : [];
  });
  return `${numbers.length} of ${ENTRIES}` + (sums.length ? ", net " + sums.join(", ") : "");
}

async function searches(tab, url, shots) {
  const all = Array.from({ length: ENTRIES }, (_, index) => index + 1);
  // In the order of the page.
  const numbers = Object.keys(GROUPS).flatMap((code) => all.filter((number) => status(number) === code));
  const rows = `Array.from(document.querySelectorAll("tr.e"))`;
  const seen = () => tab.value(rows + ".filter((row) => row.checkVisibility()).length");
  const says = async (expected) => {
    const found = await tab.text("#shown");
    assert.equal(found, expected);
  };
  await tab.open(url);
  assert.equal(await seen(), ENTRIES);
  await says(told(numbers));
  // Booked and pending entries have tables and sums of their own; without an opening balance there is none after each.
  assert.deepEqual(await tab.value("Array.from(document.querySelectorAll('h3'), (head) => head.textContent.toLowerCase())"),
    Object.values(GROUPS));
  const totals = await tab.value("Array.from(document.querySelectorAll('.totals'), (line) => line.textContent)");
  Object.keys(GROUPS).forEach((code, at) => {
    assert.ok(totals[at].endsWith("net " + net(all.filter((number) => status(number) === code))), totals[at]);
  });
  assert.doesNotMatch(await tab.text(".entries thead"), /Balance|Sum/);
  assert.equal(await tab.value("document.title"), "Account report large.xml");
  assert.equal(await tab.text(".file"), "large.xml");
  await fits(tab, "the page");
  await tab.click("#query");
  // While one types: after each character what has them all so far is left.
  const word = "zoë & sons";
  for (let length = 1; length <= word.length; length += 1) {
    await tab.type(word[length - 1]);
    const words = word.slice(0, length).split(" ").filter(Boolean);
    const text = await tab.value(rows + ".map((row) => row.textContent.toLowerCase())");
    const expected = numbers.filter((number) => words.every((word) => text[numbers.indexOf(number)].includes(word)));
    assert.equal(await seen(), expected.length, words.join(" "));
    await says(told(expected));
  }
  await says(told(numbers.filter((number) => number % 100 === 7)));
  await tab.screenshot(path.join(shots, "statement-search.png"));
  await tab.width(390, 844, true);
  await fits(tab, "the page on a phone");
  await tab.screenshot(path.join(shots, "statement-search-phone.png"));
  await tab.width(1280, 900);
  await tab.type(" nobody");
  await says(told([]));
  await tab.value(`(() => {
    const query = document.getElementById("query");
    query.value = "";
    query.dispatchEvent(new Event("input"));
  })()`);
  await says(told(numbers));
  // The field stays where one can type, however far down one has read.
  await tab.value("scrollTo(0, document.body.scrollHeight)");
  const top = await tab.value("document.getElementById('query').getBoundingClientRect().top");
  assert.ok(top >= 0 && top < 100, "the field is seen at the end of the page: " + top);
  // Amounts are shown with commas, and found without.
  assert.match(await tab.text("tr[data-amount='-1233.01']"), /-1,233\.01 AUD/);
  assert.match(await tab.text("h2"), /^Account 999001400100101, 2021-07-29$/);
  await tab.type("1233.01");
  await says(told([900]));
}

/** Whatever page of the print is in one's hand, it names the account. */
async function namesItsAccount(tab, url, shots) {
  await tab.open(url);
  const { data } = await tab.send("Page.printToPDF", { preferCSSPageSize: true });
  const file = path.join(shots, "statement-large.pdf");
  fs.writeFileSync(file, Buffer.from(data, "base64"));
  const pages = execFileSync("pdftotext", ["-layout", file, "-"], { encoding: "utf8" }).split("\f").slice(0, -1);
  assert.ok(pages.length > 10);
  pages.forEach((page, at) => assert.match(page, /Account\s+999001400100101/, "page " + (at + 1)));
}

async function shows(tab, url, entries, shots, axe) {
  await tab.open(url);
  await accessible(tab, axe, "the samples");
  await fits(tab, "the samples");
  assert.ok(entries > 0);
  assert.equal(await tab.count("tr.e"), entries);
  const marked = await tab.value(
    `Array.from(document.querySelectorAll("tr.found > td"), (cell) => getComputedStyle(cell).backgroundColor)`,
  );
  const plain = await tab.value("getComputedStyle(document.body).backgroundColor");
  assert.ok(marked.length > 0, "there are findings");
  for (const color of marked) assert.ok(color !== plain && color !== "rgba(0, 0, 0, 0)", "marked as " + color);
  for (const scheme of ["light", "dark"]) {
    await tab.media(scheme);
    await tab.screenshot(path.join(shots, `statement-${scheme}.png`));
  }
  await tab.media("light");
  await tab.width(390, 844, true);
  await fits(tab, "the samples on a phone");
  await tab.screenshot(path.join(shots, "statement-phone.png"));
  const roles = await tab.roles();
  for (const role of ["banner", "main", "search", "searchbox", "row", "columnheader"]) {
    assert.ok(roles.includes(role), "no " + role);
  }
  // A page of A4 within its margins is narrow, and still no phone.
  await tab.width(718, 1000);
  await tab.media("dark", "print");
  await fits(tab, "the samples on paper");
  assert.equal(await tab.value("getComputedStyle(document.querySelector('tr.e')).display"), "table-row");
  assert.equal(await tab.value("getComputedStyle(document.getElementById('search')).display"), "none");
  assert.equal(await tab.value("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)");
  const { data } = await tab.send("Page.printToPDF", { preferCSSPageSize: true });
  fs.writeFileSync(path.join(shots, "statement.pdf"), Buffer.from(data, "base64"));
  await tab.screenshot(path.join(shots, "statement-print.png"));
  await tab.media("light");
}

module.exports = { check };
