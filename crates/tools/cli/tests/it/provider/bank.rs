//! A provider that runs, and a customer of it.

use crate::{Folder, Run, command_without_umask, run, text};
use bankrail::client_assertion::token::TokenRequest;
use bankrail::client_assertion::{AssertionBuilder, AssertionOptions, Audience, JwtId};
use bankrail::http::tls::{TlsRoots, client_config};
use bankrail::jose::{SigningKey, jws};
use bankrail::values::{Clock as _, SystemClock};
use serde_json::Value;
use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{LazyLock, OnceLock};
use std::time::Duration;

/// Long enough for a loaded machine; nothing is measured with it.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// Data that was made once for all tests, copied into this folder.
pub(super) fn copy_of_data(folder: &Folder) -> PathBuf {
    static MADE: OnceLock<Folder> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        let folder = Folder::new();
        Bank::start(&folder.path("data"), &[]).stop();
        folder
    });
    let data = folder.path("data");
    let copied = Command::new("cp")
        .arg("-a")
        .args([made.path("data"), data.clone()])
        .status()
        .unwrap();
    assert!(copied.success());
    data
}

/// A running provider, which is killed when this value is dropped.
pub(super) struct Bank {
    child: Child,
    news: Receiver<String>,
    /// The lines that it printed before it served.
    pub(super) first: Vec<String>,
    pub(super) data: PathBuf,
}

impl Bank {
    /// Returns a provider on a port that is free.
    pub(super) fn start(data: &Path, more: &[&str]) -> Self {
        Self::try_start(data, more).unwrap_or_else(|run| panic!("{}", run.err))
    }

    /// Starts a provider, or returns the run of one that does not start.
    pub(super) fn try_start(data: &Path, more: &[&str]) -> Result<Self, Run> {
        let mut child = command_without_umask()
            .args(["provider", "--listen", "127.0.0.1:0", "--data"])
            .arg(data)
            .args(more)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (tell, news) = channel();
        let lines = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            lines
                .lines()
                .map_while(Result::ok)
                .try_for_each(|line| tell.send(line))
        });
        let mut first = Vec::new();
        loop {
            let Ok(line) = news.recv_timeout(PATIENCE) else {
                let output = child.wait_with_output().unwrap();
                let err = String::from_utf8(output.stderr).unwrap();
                return Err(Run {
                    status: output.status.code().unwrap(),
                    out: first.join("\n"),
                    err,
                });
            };
            let ready = line.starts_with("listening on ");
            first.push(line);
            if ready {
                return Ok(Self {
                    child,
                    news,
                    first,
                    data: data.to_owned(),
                });
            }
        }
    }

    /// Returns a command that acts on the data.
    pub(super) fn run<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Run {
        act(&self.data, arguments)
    }

    /// Returns the next line that contains a text.
    pub(super) fn line(&self, part: &str) -> String {
        loop {
            let line = self
                .news
                .recv_timeout(PATIENCE)
                .unwrap_or_else(|_| panic!("no line with {part:?}"));
            if line.contains(part) {
                return line;
            }
        }
    }

    pub(super) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends Ctrl-C, checks that the provider ends with 0 and nothing on standard error, and
    /// returns the lines printed since.
    pub(super) fn stop(mut self) -> Vec<String> {
        let id = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-INT", &id])
                .status()
                .unwrap()
                .success()
        );
        let status = self.child.wait().unwrap();
        let mut err = String::new();
        std::io::Read::read_to_string(&mut self.child.stderr.take().unwrap(), &mut err).unwrap();
        assert_eq!((status.code(), err.as_str()), (Some(0), ""));
        self.news.iter().collect()
    }

    pub(super) fn customer(&self, code: &str) -> Customer {
        Customer::read(&self.data.join("demo").join(code))
    }
}

impl Drop for Bank {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(super) fn act<S: AsRef<OsStr>>(data: &Path, arguments: impl IntoIterator<Item = S>) -> Run {
    let data = text(data);
    let fixed = ["provider", "--data", &data].map(|word| OsStr::new(word).to_owned());
    run(fixed
        .into_iter()
        .chain(arguments.into_iter().map(|word| word.as_ref().to_owned())))
}

/// Carries out an operation of the control, and returns its answer after checking it against
/// docs/control.openapi.json.
pub(super) fn control(data: &Path, words: &[&str]) -> Value {
    static PUBLISHED: LazyLock<Value> = LazyLock::new(|| {
        let text = include_str!("../../../../../../docs/control.openapi.json");
        serde_json::from_str(text).unwrap()
    });
    let text = act(data, ["control"].iter().chain(words)).fine();
    let answer = serde_json::from_str(&text).unwrap();
    let done = &PUBLISHED["paths"][format!("/_bank/{}", words[0])]["post"]["responses"]["200"];
    let schema = &done["content"]["application/json"]["schema"];
    assert!(fits(&answer, schema), "{answer:#} is not as in {schema:#}");
    answer
}

/// Returns true if a value has the members and types of a schema, and no other members.
fn fits(value: &Value, schema: &Value) -> bool {
    let is = |kind: &Value| match kind.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("a kind that is not known here: {other}"),
    };
    let has_kind = match &schema["type"] {
        Value::Null => true,
        Value::Array(kinds) => kinds.iter().any(is),
        kind => is(kind),
    };
    let of_enum = schema["enum"]
        .as_array()
        .is_none_or(|all| all.contains(value));
    let least = schema["minimum"].as_i64().unwrap_or(i64::MIN);
    let is_enough = value.as_i64().is_none_or(|number| number >= least);
    let items = value.as_array().into_iter().flatten();
    let all_items = items.into_iter().all(|item| fits(item, &schema["items"]));
    let is_complete = value.as_object().is_none_or(|members| {
        let mut required = schema["required"].as_array().into_iter().flatten();
        let other = schema.get("additionalProperties");
        required.all(|name| members.contains_key(name.as_str().unwrap()))
            && members.iter().all(|(name, member)| {
                let known = schema["properties"].get(name).or(other);
                // A schema without members allows any object.
                known.map_or(schema["properties"].is_null(), |of| fits(member, of))
            })
    });
    has_kind && of_enum && is_enough && all_items && is_complete
}

/// Returns the line with which an operation of the control is refused.
pub(super) fn refused(data: &Path, words: &[&str]) -> String {
    act(data, ["control"].iter().chain(words)).failed(1)
}

/// Sends a new message to an endpoint, and waits for its first delivery.
pub(super) fn send(data: &Path, endpoint: &str) -> Run {
    let folder = Folder::new();
    let message = folder.file("query.json", run(["message", "sample", "query"]).fine());
    let words = ["control", "send", "--endpoint", endpoint, "--wait", "20"];
    act(data, words.iter().chain(&["--message", &message]))
}

/// A customer who knows only the content of `connection.toml`.
pub(super) struct Customer {
    home: PathBuf,
    pub(super) file: toml::Table,
    http: reqwest::Client,
}

impl Customer {
    pub(super) fn read(home: &Path) -> Self {
        let file: toml::Table =
            toml::from_str(&std::fs::read_to_string(home.join("connection.toml")).unwrap())
                .unwrap();
        let roots =
            TlsRoots::OnlyPem(std::fs::read(home.join(file["roots"].as_str().unwrap())).unwrap());
        let tls = client_config(Some(&roots), None).unwrap();
        let http = reqwest::Client::builder()
            .tls_backend_preconfigured(tls)
            .no_proxy()
            .build()
            .unwrap();
        Self {
            home: home.to_owned(),
            file,
            http,
        }
    }

    pub(super) fn text(&self, name: &str) -> &str {
        self.file[name].as_str().unwrap()
    }

    fn key(&self) -> SigningKey {
        let key = std::fs::read_to_string(self.home.join(self.text("signing_key"))).unwrap();
        SigningKey::from_pem(&key).unwrap()
    }

    /// Returns a form with a new assertion for this audience.
    fn form(&self, audience: &str) -> String {
        let key = self.key();
        let code = self.text("customer").parse().unwrap();
        let options = AssertionOptions::new().jwt_id(JwtId::Random);
        let builder = AssertionBuilder::new(code, Audience::parse(audience).unwrap(), options);
        let scope = self.file["scopes"][0].as_str().unwrap().parse().unwrap();
        TokenRequest::new(builder.sign(&key, SystemClock.now()).unwrap(), scope).to_form()
    }

    /// Sends a request with the API key.
    pub(super) async fn post(&self, url: &str, headers: &[(&str, &str)], body: String) -> Answer {
        let mut request = self.http.post(url).header("apikey", self.text("api_key"));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer = request.body(body).send().await.unwrap();
        let status = answer.status().as_u16();
        let key = answer
            .headers()
            .get("x-requestkey")
            .map(|key| key.to_str().unwrap().to_owned());
        Answer {
            status,
            key: key.unwrap_or_default(),
            text: answer.text().await.unwrap(),
        }
    }

    /// Returns the status of the answer at an address.
    pub(super) async fn status_of(&self, url: &str) -> u16 {
        self.http.get(url).send().await.unwrap().status().as_u16()
    }

    pub(super) async fn token_with(&self, audience: &str) -> Answer {
        let content_type = ("content-type", "application/x-www-form-urlencoded");
        self.post(self.text("token_url"), &[content_type], self.form(audience))
            .await
    }

    /// Asks for a token with an assertion whose header has no typ.
    pub(super) async fn token_without_typ(&self) -> Answer {
        let [code, audience] = ["customer", "audience"].map(|name| self.text(name));
        let expires = SystemClock.now().to_time().unix_timestamp() + 300;
        let claims = format!(r#"{{"sub":"{code}","aud":"{audience}","exp":{expires}}}"#);
        let assertion = jws::sign(&self.key(), &jws::JwsHeader::new(), claims.as_bytes()).unwrap();
        let form = TokenRequest::new(
            assertion,
            self.file["scopes"][0].as_str().unwrap().parse().unwrap(),
        )
        .to_form();
        let content_type = ("content-type", "application/x-www-form-urlencoded");
        self.post(self.text("token_url"), &[content_type], form)
            .await
    }

    pub(super) async fn token(&self) -> String {
        let answer = self.token_with(self.text("audience")).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        answer.json()["access_token"].as_str().unwrap().to_owned()
    }

    pub(super) async fn statement(&self, token: &str, account: &str) -> Answer {
        let url = format!("{}/accounts/v2.0/statement", self.text("base_url"));
        let authorization = format!("Bearer {token}");
        let headers = [
            ("content-type", "application/json"),
            ("authorization", &authorization),
        ];
        self.post(&url, &headers, format!(r#"{{"accountId":"{account}"}}"#))
            .await
    }
}

pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) key: String,
    pub(super) text: String,
}

impl Answer {
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap()
    }
}
