//! A service that answers by script.

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Response, Uri};
use bankrail_client::{Client, ClientOptions, Credentials, Pacing};
use bankrail_client_assertion::CustomerCode;
use bankrail_jose::{RsaSize, SigningKey};
use bankrail_statement::{AccountId, Cursor, NextPage, StatementRequest, StatementResponse};
use bankrail_values::{HyphenatedUuid, ManualClock, Timestamp};
use std::collections::VecDeque;
use std::sync::{Arc, LazyLock, Mutex};
use tokio::sync::Semaphore;

pub(crate) static KEY: LazyLock<SigningKey> =
    LazyLock::new(|| SigningKey::generate(RsaSize::Rsa2048).unwrap());
pub(crate) const API_KEY: &str = "the-api-key";
pub(crate) const ACCOUNT: &str = "012003123456789";
pub(crate) const REQUEST_KEY: &str = "0b7c2f6e-8a1d-41eb-8dcd-0242ac130003";

pub(crate) fn request_key() -> HyphenatedUuid {
    REQUEST_KEY.parse().unwrap()
}

pub(crate) fn start() -> Timestamp {
    "2026-11-21T06:00:00.000Z".parse().unwrap()
}

/// One answer of the script.
#[derive(Clone)]
pub(crate) struct Reply {
    status: u16,
    headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![
            ("content-type", "application/json".to_owned()),
            ("x-requestkey", REQUEST_KEY.to_owned()),
        ];
        Self {
            status,
            headers,
            body: body.into(),
        }
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.retain(|(own, _)| *own != name);
        self.headers.push((name, value.into()));
        self
    }

    pub(crate) fn token(number: u32, lifetime: u64) -> Self {
        Self::new(
            200,
            format!(
                r#"{{"access_token":"{}","token_type":"Bearer","expires_in":{lifetime}}}"#,
                token_text(number)
            ),
        )
    }

    pub(crate) fn page(entries: usize, cursor: Option<&str>) -> Self {
        let page = match cursor {
            Some(cursor) => NextPage::At {
                cursor: Cursor::parse(cursor).unwrap(),
            },
            None => NextPage::None,
        };
        let account = AccountId::parse(ACCOUNT).unwrap();
        let response = StatementResponse::new(&account, request_key(), page);
        Self::new(200, response.to_json(&document(entries)))
    }
}

/// Returns the `number`-th token of a script.
pub(crate) fn token_text(number: u32) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}

/// Makes a document of this many equal entries without references.
pub(crate) fn document(entries: usize) -> String {
    let entry = "<Ntry><Amt Ccy=\"AUD\">1.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BookgDt>\
                 <Dt>2026-11-21</Dt></BookgDt><ValDt><Dt>2026-11-21</Dt></ValDt><BkTxCd><Domn>\
                 <Cd>PMNT</Cd><Fmly><Cd>RCDT</Cd><SubFmlyCd>DMCT</SubFmlyCd></Fmly></Domn></BkTxCd></Ntry>";
    format!(
        "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.052.001.06\"><BkToCstmrAcctRpt><GrpHdr>\
         <MsgId>0b7c2f6e8a1d41eb8dcd0242ac130003</MsgId><CreDtTm>2026-11-21T06:00:00.000+00:00</CreDtTm></GrpHdr>\
         <Rpt><Id>0b7c2f6e8a1d41eb8dcd0242ac130003</Id><CreDtTm>2026-11-21T06:00:00.000+00:00</CreDtTm>\
         <Acct><Id><Othr><Id>{ACCOUNT}</Id></Othr></Id><Ccy>AUD</Ccy></Acct>{}</Rpt></BkToCstmrAcctRpt></Document>",
        entry.repeat(entries)
    )
}

/// One call that the service got.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub path: String,
    pub headers: HeaderMap,
    pub body: String,
}

impl Call {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }

    pub(crate) fn bearer(&self) -> &str {
        self.header("authorization")
            .strip_prefix("Bearer ")
            .unwrap()
    }
}

#[derive(Clone)]
pub(crate) struct Provider(Arc<Parts>);

struct Parts {
    address: String,
    script: Mutex<Script>,
    /// Permits of which each answer takes one. There are plenty unless a test takes them away.
    gate: Semaphore,
}

#[derive(Default)]
struct Script {
    tokens: VecDeque<Reply>,
    statements: VecDeque<Reply>,
    calls: Vec<Call>,
}

impl Provider {
    pub(crate) async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let parts = Parts {
            address: format!("http://{}/base", listener.local_addr().unwrap()),
            script: Mutex::default(),
            gate: Semaphore::new(1000),
        };
        let provider = Self(Arc::new(parts));
        let app = axum::Router::new()
            .fallback(answer)
            .with_state(provider.clone());
        tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        provider
    }

    pub(crate) fn url(&self) -> &str {
        &self.0.address
    }

    pub(crate) fn tokens(&self, replies: impl IntoIterator<Item = Reply>) -> &Self {
        self.0.script.lock().unwrap().tokens.extend(replies);
        self
    }

    pub(crate) fn statements(&self, replies: impl IntoIterator<Item = Reply>) -> &Self {
        self.0.script.lock().unwrap().statements.extend(replies);
        self
    }

    pub(crate) fn calls(&self) -> Vec<Call> {
        self.0.script.lock().unwrap().calls.clone()
    }

    pub(crate) fn token_calls(&self) -> Vec<Call> {
        self.calls()
            .into_iter()
            .filter(|call| call.path.ends_with("/auth"))
            .collect()
    }

    pub(crate) fn statement_calls(&self) -> Vec<Call> {
        self.calls()
            .into_iter()
            .filter(|call| call.path.ends_with("/statement"))
            .collect()
    }

    /// Holds all answers back until [`Provider::release`].
    pub(crate) async fn hold(&self) {
        self.0.gate.acquire_many(1000).await.unwrap().forget();
    }

    pub(crate) fn release(&self) {
        self.0.gate.add_permits(1000);
    }

    /// Waits until the service has seen this many calls.
    pub(crate) async fn until_calls(&self, calls: usize) {
        crate::tokens::until(async || self.calls().len() >= calls).await;
    }

    pub(crate) fn options(&self, clock: &Arc<ManualClock>) -> ClientOptions {
        ClientOptions::new()
            .danger_allow_http_on_loopback(true)
            .pacing(Pacing::Fail)
            .clock(clock.clone())
    }

    pub(crate) fn client_with(&self, options: ClientOptions) -> Client {
        let credentials = Credentials::new(
            CustomerCode::parse("CUSTOMER").unwrap(),
            KEY.clone(),
            API_KEY,
        );
        Client::new(credentials, self.url(), options).unwrap()
    }

    pub(crate) async fn client() -> (Self, Client, Arc<ManualClock>) {
        let provider = Self::start().await;
        let clock = Arc::new(ManualClock::new(start()));
        let client = provider.client_with(provider.options(&clock));
        (provider, client, clock)
    }
}

async fn answer(
    State(provider): State<Provider>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    let parts = &provider.0;
    let reply = {
        let mut script = parts.script.lock().unwrap();
        let path = uri.path().to_owned();
        let is_token = path.ends_with("/auth");
        script.calls.push(Call {
            path,
            headers,
            body: String::from_utf8(body.to_vec()).unwrap(),
        });
        if is_token {
            script.tokens.pop_front()
        } else {
            script.statements.pop_front()
        }
    };
    let _pass = parts.gate.acquire().await.unwrap();
    let reply = reply.unwrap_or_else(|| Reply::new(599, "nothing is left of the script"));
    let mut response = Response::builder().status(reply.status);
    for (name, value) in &reply.headers {
        response = response.header(*name, value);
    }
    response.body(Body::from(reply.body)).unwrap()
}

pub(crate) fn request() -> StatementRequest {
    StatementRequest::new(&AccountId::parse(ACCOUNT).unwrap())
}
