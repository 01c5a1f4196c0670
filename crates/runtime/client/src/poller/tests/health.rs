//! The poller's health check from the start, while calls fail, and once they succeed again.

use super::*;

fn refused_token() -> CallError {
    CallError {
        call: Call::Token,
        status: Some(401),
        ..failed(CallErrorKind::Refused {
            description: None,
            clock_ahead: None,
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_poller_is_not_ready_before_the_first_page_of_some_account() {
    let bank = Bank::new(&[(A, &[&[1]]), (B, &[&[7]])]);
    let timed_out = || stray(503, AnswerForm::Html);
    for account in [A, B] {
        bank.fail(account, (0..100).map(|_| timed_out()));
    }
    let (poller, _) = poller(&bank, accounts());
    let never = |stale: &[&str]| {
        let error = poller.check().unwrap_err();
        assert!(error.never_polled && error.stopped.is_empty());
        assert_eq!(error.stale, stale);
        error.to_string()
    };
    assert_eq!(never(&[]), "no page of any account yet");
    run_for(&poller, seconds(7_200)).await;
    never(&[]);
    run_for(&poller, seconds(1)).await;
    let said = never(&["1", "2"]);
    assert!(
        said.ends_with("accounts without a page for too long: 1, 2"),
        "{said}"
    );
    // The gauges count from the start.
    let age = seconds(7_201);
    assert_eq!(poller.0.board.longest_without(poller.now()), (age, age));
    // With the first page of one account it is ready, and soon the other one's is late.
    bank.with(|table| table.failures.remove(B));
    run_for(&poller, seconds(1_200)).await;
    let error = poller.check().unwrap_err();
    assert_eq!(
        (error.never_polled, error.stale),
        (false, vec!["1".to_owned()])
    );
    // The account that never had a page is the oldest.
    let age = seconds(8_401);
    assert_eq!(poller.0.board.longest_without(poller.now()), (age, age));
    bank.with(|table| table.failures.remove(A));
    run_for(&poller, seconds(1_200)).await;
    assert_eq!(poller.check(), Ok(()));
    let (page, full_walk) = poller.0.board.longest_without(poller.now());
    assert!(
        page <= seconds(600) && full_walk <= seconds(600),
        "{page:?} {full_walk:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_poller_without_accounts_is_ready() {
    let bank = Bank::new(&[]);
    assert_eq!(poller(&bank, []).0.check(), Ok(()));
}

#[tokio::test(start_paused = true)]
async fn a_poller_is_not_ready_while_the_last_token_call_was_refused() {
    let unauthorized = || CallError {
        status: Some(401),
        ..failed(CallErrorKind::Unauthorized)
    };
    for (refused, times) in [(refused_token as fn() -> CallError, 2), (unauthorized, 10)] {
        let bank = Bank::new(&[(A, &[&[1]])]);
        let (poller, _) = poller(&bank, [PolledAccount::new(id(A))]);
        let is_refused = || poller.check().is_err_and(|error| error.token_refused);
        for _ in 0..2 {
            bank.fail(A, (0..times).map(|_| refused()));
            run_for(&poller, seconds(601)).await;
            assert!(is_refused());
            run_for(&poller, seconds(2_400)).await;
            assert_eq!(poller.check(), Ok(()), "good again");
        }
        // A call without an answer does not show that the token is wrong.
        bank.fail(
            A,
            std::iter::once(refused()).chain((0..20).map(|_| stray(503, AnswerForm::Html))),
        );
        run_for(&poller, seconds(1_400)).await;
        assert!(is_refused());
        // The service's own error means that it took the token.
        bank.with(|table| table.failures.remove(A));
        bank.fail(A, [not_found()]);
        run_for(&poller, seconds(1_500)).await;
        let error = poller.check().unwrap_err();
        assert_eq!((error.token_refused, error.stopped.len()), (false, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn after_a_good_page_a_failure_is_the_first_one_again() {
    let bank = Bank::new(&[(A, &[&[1]])]);
    let failures = |count| (0..count).map(|_| service(500, ErrorCode::INTERNAL));
    bank.fail(A, failures(8));
    let (poller, handed) = poller(&bank, [PolledAccount::new(id(A))]);
    run_for(&poller, seconds(400)).await;
    assert_eq!(handed.amounts(A), ["1"]);
    bank.fail(A, failures(1));
    run_for(&poller, seconds(600)).await;
    let times = bank.times(A);
    let [.., good, bad, again] = times[..] else {
        panic!("{times:?}")
    };
    // The ninth pause in a row would be of minutes.
    assert!(bad == good + 600 && again - bad <= 2, "{times:?}");
}

#[tokio::test(start_paused = true)]
async fn a_closed_account_is_asked_less_and_less_and_once_a_day_at_the_least() {
    const HOUR: u64 = 3_600;
    let bank = Bank::new(&[(A, &[&[1]]), (B, &[&[7]])]);
    bank.fail(A, (0..9).map(|_| not_found()));
    let (poller, handed) = poller(&bank, accounts());
    run_for(&poller, seconds(30 * 60)).await;
    let error = poller.check().unwrap_err();
    assert_eq!(
        (error.stopped, error.refused),
        (vec!["1".to_owned()], vec![])
    );
    run_for(&poller, seconds(126 * HOUR + 31 * 60)).await;
    let hours: Vec<u64> = bank.times(A).iter().map(|at| at / HOUR).collect();
    assert_eq!(hours, [0, 1, 3, 7, 15, 31, 55, 79, 103, 127]);
    // The last of these calls was good, and the account is polled as before.
    assert_eq!((handed.amounts(A).len(), poller.check()), (1, Ok(())));
    run_for(&poller, seconds(HOUR)).await;
    assert_eq!(bank.times(A).len(), 10 + 6);
    // Closed, open and closed: from the beginning.
    bank.fail(A, (0..2).map(|_| not_found()));
    let before = bank.times(A).len();
    run_for(&poller, seconds(2 * HOUR)).await;
    let error = poller.check().unwrap_err();
    let [(label, until)] = &error.refused[..] else {
        panic!("{error:?}")
    };
    let [first, second] = bank.times(A)[before..] else {
        panic!("{:?}", bank.times(A))
    };
    assert_eq!((label.as_str(), second - first), ("1", HOUR));
    assert_eq!(*until, later(second + 2 * HOUR));
    let said = error.to_string();
    let expected = format!("keep being refused, asked less and less: 1 until {until}");
    assert!(said.contains(&expected), "{said}");
    // A person who has mended it need not wait.
    assert!(poller.resume(&id(A)));
    run_for(&poller, seconds(1)).await;
    assert_eq!(poller.check(), Ok(()));
}

#[tokio::test(start_paused = true)]
async fn a_handler_or_a_statement_that_is_mended_is_tried_again_within_the_hour() {
    let bank = Bank::new(&[(A, &[&[1], &[2], &[3]])]);
    bank.with(|table| table.cursor = Some("1"));
    let (poller, _) = poller(&bank, [PolledAccount::new(id(A))]);
    run_for(&poller, seconds(5 * 3_600)).await;
    assert_eq!(stopped(&poller, A).kind(), "walk");
    let hours: Vec<u64> = bank.times(A).iter().map(|at| at / 3_600).collect();
    assert_eq!(hours, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]);
    assert_eq!(poller.check().unwrap_err().refused, []);
}
