//! A small provider, and the server for the small subjects of the tests. Each fault is a word that
//! the provider looks for.

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::Response;
use axum::routing::post;
use bankrail_conformance::{
    Customer, Hook, Judgement, ProviderJudge, ProviderJudgeOptions, RowSelection, Verdict,
};
use bankrail_emulator::CertificateAuthority;
use bankrail_http::serve::{Server, ServerOptions, server_config};
use bankrail_http::tls::TlsRoots;
use bankrail_jose::{RsaSize, SigningKey};
use http::HeaderMap;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};
use tokio::net::TcpListener;

pub(crate) static KEY: LazyLock<SigningKey> =
    LazyLock::new(|| SigningKey::generate(RsaSize::Rsa2048).unwrap());

/// Serves a router over TLS. Returns its address and what its clients trust.
pub(crate) async fn serve(router: Router) -> (String, TlsRoots) {
    let authority = CertificateAuthority::new().unwrap();
    let own = authority.certificate(None).unwrap();
    let tls = server_config(own.chain_pem.as_bytes(), own.key_pem.as_bytes()).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let server = Server::new(listener, tls, router, ServerOptions::new());
    tokio::spawn(server.run(std::future::pending()));
    (url, TlsRoots::OnlyPem(authority.pem().into_bytes()))
}

/// Returns the rows of an id.
pub(crate) fn rows<'a>(judgement: &'a Judgement, id: &str) -> Vec<&'a Verdict> {
    let rows = judgement.rows().iter().filter(|row| row.id == id);
    rows.map(|row| &row.verdict).collect()
}

/// Returns the detail of the only row of an id that failed.
pub(crate) fn failure<'a>(judgement: &'a Judgement, id: &str) -> &'a str {
    let failed: Vec<_> = rows(judgement, id)
        .into_iter()
        .filter(|verdict| matches!(verdict, Verdict::Failed(_)))
        .collect();
    match failed.as_slice() {
        [only] => only.detail(),
        other => panic!("{id}: {other:?}\n{judgement}"),
    }
}

pub(crate) fn selection(only: &[&str]) -> Vec<RowSelection> {
    only.iter().map(|id| id.parse().unwrap()).collect()
}

/// One entry of an account.
struct Entry {
    amount: String,
    direction: &'static str,
    narrative: String,
    party: String,
    is_fast: bool,
}

/// The state of the bank so far. The clock stands still until it is stepped.
struct Bank {
    fault: &'static str,
    /// Account, currency, entries.
    accounts: Vec<(String, String, Vec<Entry>)>,
    now: u64,
    /// The time at which each token was issued.
    tokens: HashMap<String, u64>,
    /// The number of calls of each caller in each hour.
    calls: HashMap<(String, u64), u64>,
}

type Shared = Arc<Mutex<Bank>>;

const LIFETIME: u64 = 3600;

/// A running provider with a fault.
pub(crate) struct Subject {
    url: String,
    roots: TlsRoots,
    accounts: Vec<String>,
}

impl Subject {
    /// Returns a provider with accounts in these currencies, and this many entries in each.
    pub(crate) async fn new(fault: &'static str, currencies: &[&str], entries: usize) -> Self {
        let made = |number: usize, currency: &str| {
            let decimals = if currency == "VND" { "" } else { ".50" };
            let entries = (0..entries).map(|entry| Entry {
                amount: format!("{}{decimals}", 100 + entry),
                direction: "CRDT",
                narrative: format!("invoice {entry}"),
                party: "Jarrah & Sons".to_owned(),
                is_fast: true,
            });
            (
                format!("99900140010{number:04}"),
                currency.to_owned(),
                entries.collect(),
            )
        };
        let accounts: Vec<_> = currencies
            .iter()
            .enumerate()
            .map(|(number, currency)| made(number, currency))
            .collect();
        let names = accounts.iter().map(|one| one.0.clone()).collect();
        let bank: Shared = Arc::new(Mutex::new(Bank {
            fault,
            accounts,
            // 2026-03-02, half past an hour.
            now: 1_772_447_400,
            tokens: HashMap::new(),
            calls: HashMap::new(),
        }));
        let router = Router::new()
            .route("/v1.0/auth", post(token))
            .route("/accounts/v2.0/statement", post(statement))
            .route("/book", post(book))
            .route("/clock", post(clock))
            .with_state(bank);
        let (url, roots) = serve(router).await;
        Self {
            url,
            roots,
            accounts: names,
        }
    }

    pub(crate) fn hook(&self, path: &str) -> Hook {
        Hook::new(format!("{}{path}", self.url))
    }

    pub(crate) async fn judge(&self, only: &[&str], options: ProviderJudgeOptions) -> Judgement {
        let options = options.roots(self.roots.clone()).only(selection(only));
        let customer = Customer::new("JUDGEDCUSTOMER", "our-key".into(), &self.accounts);
        ProviderJudge::new(&self.url, customer, &KEY, options)
            .unwrap()
            .judge()
            .await
            .unwrap()
    }
}

fn answer(status: u16, body: &Value) -> Response {
    Response::builder()
        .status(status)
        .header(CONTENT_TYPE, "application/json")
        .header("x-requestkey", uuid(body.to_string().len()))
        .body(Body::from(body.to_string()))
        .unwrap()
}

fn uuid(number: usize) -> String {
    format!("0b7c2f6e-8a1d-41eb-8dcd-{number:012}")
}

impl Bank {
    /// Counts a call. Returns true if the call is within the limit of an hour.
    fn may_call(&mut self, who: &str, limit: u64) -> bool {
        let hour = self.now / 3600;
        let was_refused =
            |((whom, _), count): (&(String, u64), &u64)| whom == who && *count > limit;
        if self.fault == "locked out for ever" && self.calls.iter().any(was_refused) {
            return false;
        }
        let count = self.calls.entry((who.to_owned(), hour)).or_default();
        *count += 1;
        *count <= limit
    }
}

async fn token(State(bank): State<Shared>) -> Response {
    let mut bank = bank.lock().unwrap();
    let token = uuid(bank.tokens.len() + 1);
    let issued = bank.now;
    bank.tokens.insert(token.clone(), issued);
    let mut body = json!({"expires_in": LIFETIME, "token_type": "Bearer", "access_token": token});
    if bank.fault == "number with a fraction of zero" {
        body["expires_in"] = json!(3600.0);
    }
    answer(200, &body)
}

async fn statement(State(bank): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let mut bank = bank.lock().unwrap();
    let fault = bank.fault;
    let unauthorized = || answer(401, &json!({"requestKey": uuid(1), "error": {}}));
    let token = headers.get(AUTHORIZATION).and_then(|it| it.to_str().ok());
    let token = token
        .and_then(|it| it.strip_prefix("Bearer "))
        .unwrap_or("");
    let who = match fault {
        "a limit for each token" => token.to_owned(),
        _ => "customer".to_owned(),
    };
    let limit = if fault == "30 with refused ones" {
        30
    } else {
        25
    };
    if !bank.may_call(&who, limit) {
        return answer(429, &json!({"requestKey": uuid(2), "error": {}}));
    }
    let Some(issued) = bank.tokens.get(token) else {
        return unauthorized();
    };
    let lifetime = if fault == "tokens die early" {
        LIFETIME / 2
    } else {
        LIFETIME
    };
    if bank.now >= issued + lifetime {
        return unauthorized();
    }
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let account = request["accountId"].as_str().unwrap_or_default();
    let Some(place) = bank.accounts.iter().position(|one| one.0 == account) else {
        return answer(
            404,
            &json!({"requestKey": uuid(3), "error": {"statusCode": "EC20001", "title": ""}}),
        );
    };
    let (_, currency, entries) = &bank.accounts[place];
    let first: usize = request["cursor"]
        .as_str()
        .map_or(0, |cursor| cursor.parse().unwrap());
    let most = usize::try_from(request["maxEntries"].as_u64().unwrap_or(1000)).unwrap();
    let page = entries.iter().skip(first).take(most).enumerate();
    let narrative = request["includeNarrative"] != json!(false)
        && !(fault == "pages lose their narrative" && most < entries.len());
    let entries_xml: String = page
        .map(|(number, entry)| xml_of(entry, first + number, currency, narrative, fault, place))
        .collect();
    let more = first + most < entries.len() && fault != "every page is the last";
    let mut body = json!({
        "accountId": account, "extract": "intraday", "requestKey": uuid(4),
        "moreTransactionsAvailable": more,
        "payload": report(account, currency, bank.now, &entries_xml),
    });
    if more {
        body["cursor"] = json!((first + most).to_string());
    }
    answer(200, &body)
}

fn xml_of(
    entry: &Entry,
    number: usize,
    currency: &str,
    narrative: bool,
    fault: &str,
    account: usize,
) -> String {
    let Entry { direction, .. } = entry;
    let direction = match fault {
        "the second account turns directions" if account == 1 => "CRDT",
        _ => direction,
    };
    let amount = match fault {
        "dong with decimals" if currency == "VND" => format!("{}.00", entry.amount),
        _ => entry.amount.clone(),
    };
    let status = if fault == "every entry is pending" {
        ""
    } else {
        "<Sts>BOOK</Sts>"
    };
    let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;");
    let shown = match narrative && entry.is_fast {
        true => {
            let side = if entry.direction == "CRDT" {
                "Dbtr"
            } else {
                "Cdtr"
            };
            format!(
                "<RltdPties><{side}><Nm>{}</Nm></{side}></RltdPties><RmtInf><Ustrd>{}</Ustrd></RmtInf>",
                escaped(&entry.party),
                escaped(&entry.narrative)
            )
        }
        false => String::new(),
    };
    format!(
        "<Ntry><Amt Ccy=\"{currency}\">{amount}</Amt><CdtDbtInd>{direction}</CdtDbtInd>{status}\
         <BookgDt><Dt>2026-03-02</Dt></BookgDt><NtryDtls><TxDtls><Refs><AcctSvcrRef>R{account}-{number}\
         </AcctSvcrRef></Refs>{shown}</TxDtls></NtryDtls></Ntry>"
    )
}

fn report(account: &str, currency: &str, now: u64, entries: &str) -> String {
    let (hours, minutes) = (now / 3600 % 24, now / 60 % 60);
    let at = format!("2026-03-02T{hours:02}:{minutes:02}:{:02}.000Z", now % 60);
    format!(
        "<Document><BkToCstmrAcctRpt><GrpHdr><CreDtTm>{at}</CreDtTm></GrpHdr><Rpt><Acct><Id><Othr><Id>{account}\
         </Id></Othr></Id><Ccy>{currency}</Ccy></Acct>{entries}</Rpt></BkToCstmrAcctRpt></Document>"
    )
}

async fn book(State(bank): State<Shared>, body: Bytes) -> Response {
    let order: Value = serde_json::from_slice(&body).unwrap();
    let text = |member: &str| order[member].as_str().unwrap().to_owned();
    let entry = Entry {
        amount: text("amount"),
        direction: if text("kind").ends_with("_in") {
            "CRDT"
        } else {
            "DBIT"
        },
        narrative: text("narrative"),
        party: text("counterparty"),
        is_fast: text("kind").starts_with("fast"),
    };
    let mut bank = bank.lock().unwrap();
    let account = text("account");
    let place = bank.accounts.iter().position(|one| one.0 == account);
    bank.accounts[place.unwrap()].2.push(entry);
    answer(200, &json!({}))
}

async fn clock(State(bank): State<Shared>, body: Bytes) -> Response {
    let order: Value = serde_json::from_slice(&body).unwrap();
    bank.lock().unwrap().now += order["seconds"].as_u64().unwrap();
    answer(200, &json!({}))
}
