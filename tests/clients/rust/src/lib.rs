//! Common parts of the programs: the customer's file, HTTP with its API key, and the lines that
//! they print.

use oauth2::http::{Request, Response};
use reqwest::{Certificate, Client};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The mistakes that a client can be started with.
pub const CASES: [&str; 5] = [
    "good",
    "wrong key",
    "stale exp",
    "wrong aud",
    "missing field",
];
pub const WRONG_AUDIENCE: &str = "https://elsewhere.example";

pub struct Customer {
    file: Value,
    folder: PathBuf,
    other_key: PathBuf,
    client: Client,
    /// The last status of the token endpoint.
    token_status: Mutex<Option<u16>>,
}

impl Customer {
    /// From the arguments: the customer's file, and the file of a key that nobody knows.
    pub fn from_arguments() -> Result<Self, Failure> {
        let mut arguments = std::env::args().skip(1).map(PathBuf::from);
        let path = arguments.next().ok_or("expected a file")?;
        let other_key = arguments.next().ok_or("expected a key")?;
        let file: Value = serde_json::from_slice(&std::fs::read(&path)?)?;
        let folder = path.parent().unwrap_or(Path::new(".")).to_owned();
        let ca = std::fs::read(folder.join(file["ca"].as_str().ok_or("expected a CA")?))?;
        let client = Client::builder()
            .tls_certs_only([Certificate::from_pem(&ca)?])
            .no_proxy()
            .build()?;
        Ok(Self {
            file,
            folder,
            other_key,
            client,
            token_status: Mutex::new(None),
        })
    }

    pub fn text(&self, name: &str) -> &str {
        self.file[name].as_str().unwrap_or_default()
    }

    pub fn key(&self, case: &str) -> Result<Vec<u8>, Failure> {
        let own = self.folder.join(self.text("assertion_key"));
        Ok(std::fs::read(if case == "wrong key" {
            &self.other_key
        } else {
            &own
        })?)
    }

    /// Sends a request with the API key, which is all that a customer adds to a library.
    pub async fn send(
        &self,
        request: Request<Vec<u8>>,
    ) -> Result<Response<Vec<u8>>, reqwest::Error> {
        let (head, body) = request.into_parts();
        let url = head.uri.to_string();
        let sent = self
            .client
            .request(head.method, &url)
            .headers(head.headers)
            .body(body);
        let answer = sent.header("apikey", self.text("api_key")).send().await?;
        if url == self.text("token_url") {
            *self.token_status.lock().unwrap() = Some(answer.status().as_u16());
        }
        let mut response = Response::new(Vec::new());
        *response.status_mut() = answer.status();
        *response.headers_mut() = answer.headers().clone();
        *response.body_mut() = answer.bytes().await?.to_vec();
        Ok(response)
    }

    async fn statement(&self, token: &str) -> Result<u16, Failure> {
        let body = json!({ "accountId": self.file["accounts"][0] });
        let request = self
            .client
            .post(self.text("statement_url"))
            .bearer_auth(token)
            .json(&body);
        Ok(request
            .header("apikey", self.text("api_key"))
            .send()
            .await?
            .status()
            .as_u16())
    }

    /// Prints what became of a case.
    pub async fn tell(&self, case: &str, token: Result<String, Failure>) -> Result<(), Failure> {
        let statement = match &token {
            Ok(token) => Some(self.statement(token).await?),
            Err(_) => None,
        };
        let error = token.err().map(|error| error.to_string());
        let status = self.token_status.lock().unwrap().take();
        println!(
            "{}",
            json!({ "case": case, "token": status, "statement": statement, "error": error })
        );
        Ok(())
    }
}
