//! No failed call logs a secret, an account or a text of the service.

use crate::log::Log;
use crate::provider::{API_KEY, Provider, Reply, document, request, request_key, token_text};
use bankrail_statement::{AccountId, NextPage, StatementRequest, StatementResponse};

/// A mark in every text that must not get into a log.
const MARK: &str = "MARK4711";

fn error_body(code: &str) -> String {
    format!(
        r#"{{"requestKey":"{}","error":{{"statusCode":"{code}","title":"{MARK}"}}}}"#,
        request_key()
    )
}

#[tokio::test(flavor = "current_thread")]
async fn no_failed_call_logs_a_secret_or_a_text_of_the_service() {
    let log = Log::start();
    let foreign = StatementResponse::new(
        &AccountId::parse(MARK).unwrap(),
        request_key(),
        NextPage::None,
    );
    let statement = |payload: &str| {
        StatementResponse::new(
            &AccountId::parse(crate::provider::ACCOUNT).unwrap(),
            request_key(),
            NextPage::None,
        )
        .to_json(payload)
    };
    for (status, body) in [
        (404, error_body("EC20001")),
        (500, error_body(MARK)),
        (401, error_body(MARK)),
        (429, error_body(MARK)),
        (400, MARK.to_owned()),
        (200, format!("<html>{MARK}")),
        (200, foreign.to_json(&document(1))),
        (200, statement(&format!("<Document>{MARK}"))),
        (
            200,
            statement(&document(1).replace("012003123456789", MARK)),
        ),
        (200, statement(&document(1).replace("BOOK", MARK))),
        (200, statement(&document(1)).replace("intraday", MARK)),
    ] {
        let (provider, _, clock) = Provider::client().await;
        let strict = bankrail_camt052::ReadOptions::default().deny_findings(true);
        let client = provider.client_with(provider.options(&clock).read_options(strict));
        provider.tokens([Reply::token(1, 3600), Reply::token(1, 3600)]);
        let reply = || Reply::new(status, body.clone());
        provider.statements([reply(), reply()]);
        client.statements().page(&request()).await.unwrap_err();
    }
    for (status, body) in [
        (
            400,
            format!(r#"{{"error":"{MARK}","error_description":"{MARK}"}}"#),
        ),
        (401, MARK.to_owned()),
        (429, MARK.to_owned()),
        (503, MARK.to_owned()),
        (302, MARK.to_owned()),
        (
            200,
            format!(r#"{{"access_token":"{MARK}","token_type":"{MARK}","expires_in":1}}"#),
        ),
        (
            200,
            format!(
                r#"{{"access_token":"{}","token_type":"{MARK}","expires_in":1}}"#,
                token_text(1)
            ),
        ),
        (
            200,
            format!(
                r#"{{"access_token":"{}","token_type":"Bearer","expires_in":1,"scope":"\"{MARK}"}}"#,
                token_text(1)
            ),
        ),
    ] {
        let (provider, client, _) = Provider::client().await;
        provider.tokens([Reply::new(status, body)]);
        client.tokens().token().await.unwrap_err();
    }
    let (_, client, _) = Provider::client().await;
    let reserved = StatementRequest::new(&AccountId::parse("012003111111111").unwrap());
    client.statements().page(&reserved).await.unwrap_err();

    let text = log.text();
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("bankrail_client"))
        .collect();
    for wanted in [
        "code=EC20001",
        "error=reply",
        "error=payload",
        "error=refused",
        "status=404",
        "JSON that is not the service's",
        "the answer is no acceptable JSON",
        "the document is unreadable",
        "the statement is of another account",
        "the answer has findings, which were denied",
        "the token type is not Bearer",
        "a member of the token response is malformed",
        "show the service this error with its request key",
    ] {
        assert!(
            lines.iter().any(|line| line.contains(wanted)),
            "{wanted} in {text}"
        );
    }
    let both = |cause: &str| lines.iter().filter(|line| line.contains(cause)).count() == 2;
    assert!(
        both("JSON that is not the service's"),
        "of a statement and of a token: {text}"
    );
    for secret in [
        MARK,
        API_KEY,
        &token_text(1),
        "eyJ",
        "012003123456789",
        "012003111111111",
    ] {
        assert_eq!(
            lines.iter().find(|line| line.contains(secret)),
            None,
            "{secret}"
        );
    }
}
