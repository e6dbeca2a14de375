//! Calls, their end, and questions to functions of the caller.

#![expect(clippy::expect_used, reason = "a test")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use baler_embedding::{
    Call, Cancel, Conversation, Host, Inbox, Kind, Load, Model, Remedy, Settings, Strategy, Subject,
};

const LONG: Duration = Duration::from_secs(60);

fn host(model: Option<Model>) -> Host {
    let settings = Settings::read(r#"{"archive":"memory"}"#, model).expect("settings");
    Host::new(settings).expect("a host")
}

fn garden(host: &Host) -> Conversation {
    let mut messages =
        vec![r#"{"role":"user","content":"Prüfe alle Beete. 仙人掌に水をやらない。"}"#.to_owned()];
    for bed in 0..60 {
        messages.push(format!(
            r#"{{"role":"assistant","content":"Bed {bed} is dry, and so is the next."}}"#
        ));
    }
    messages.push(r#"{"role":"user","content":"And the next one?"}"#.to_owned());
    let document = format!("[{}]", messages.join(","));
    host.read(document.into_bytes(), None, None, &never())
        .expect("reads")
}

fn never() -> Cancel {
    Cancel::new(None).expect("a handle")
}

#[test]
fn a_call_runs_in_a_thread_of_its_own_and_tells_when_it_has_ended() {
    let (sender, told) = mpsc::channel();
    let caller = std::thread::current().id();
    let tell = move || {
        sender
            .send(std::thread::current().id())
            .expect("somebody waits")
    };
    let call = Call::start(&never(), tell, || Ok(std::thread::current().id())).expect("a thread");
    let worker = call.wait(LONG).expect("ends").expect("works");
    assert_ne!(worker, caller);
    assert_eq!(told.recv_timeout(LONG), Ok(worker));
    assert!(call.wait(Duration::ZERO).is_none(), "its outcome was taken");
}

#[test]
fn a_panic_is_an_error_of_the_host() {
    let call = Call::<()>::start(&never(), || {}, || panic!("no beds")).expect("a thread");
    let error = call.wait(LONG).expect("ends").expect_err("panicked");
    assert_eq!(error.kind, Kind::Host);
    assert!(error.message.contains("no beds"), "{error}");
}

#[test]
fn a_function_is_asked_through_the_inbox_and_its_plan_is_applied() {
    let host = host(None);
    let woken = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&woken);
    let inbox = Inbox::new(move || {
        counter.fetch_add(1, Ordering::Relaxed);
    });
    let conversation = garden(&host);
    let strategy = Strategy::function("newest".to_owned(), inbox.function(7), Load::default());
    let chain = [strategy.expect("a strategy")];
    let cancel = never();
    let call = {
        let own = cancel.clone();
        Call::start(
            &cancel,
            || {},
            move || host.compact(&conversation, &chain, r#"{"required":true}"#, &own),
        )
        .expect("a thread")
    };
    let mut asked = Vec::new();
    let made = loop {
        if let Some((number, question)) = inbox.next(Duration::from_millis(5)) {
            let Subject::Strategy { operation, .. } = &question.subject else {
                panic!("{question:?}");
            };
            asked.push((number, operation.name()));
            let answer = match operation.name() {
                "introspect" => r#"{"name":"newest","version":"1","description":"Keeps little."}"#,
                _ => {
                    r#"{"outcome":{"compacted":{"pieces":[{"keep":{"first":0,"count":1}},
                    {"insert":{"role":"user","purpose":"summary","placement":"alone","text":"60 beds are dry."}},
                    {"keep":{"first":61,"count":1}}]}}}"#
                }
            };
            question.answer(Ok(answer.to_owned()));
        }
        if let Some(outcome) = call.wait(Duration::ZERO) {
            break outcome.expect("compacts");
        }
    };
    assert!(asked.contains(&(7, "compact")), "{asked:?}");
    assert_eq!(woken.load(Ordering::Relaxed), asked.len());
    let kinds: Vec<&str> = made.messages().iter().map(|(kind, ..)| *kind).collect();
    assert_eq!(kinds, ["kept", "inserted", "kept"]);
    assert!(made.document().contains("60 beds are dry."));
}

#[test]
fn a_question_that_nobody_answers_ends_with_the_call() {
    let inbox = Inbox::new(|| {});
    let host = host(Some(Model::Function(inbox.function(1))));
    let conversation = garden(&host);
    let load = Load::default();
    let chain = [Strategy::named("native:summarize".to_owned(), load).expect("a strategy")];
    let cancel = never();
    let own = cancel.clone();
    let begun = Instant::now();
    let call = Call::start(
        &cancel,
        || {},
        move || host.compact(&conversation, &chain, r#"{"required":true}"#, &own),
    )
    .expect("a thread");
    let (_, question) = inbox.next(LONG).expect("the model is asked");
    assert!(matches!(question.subject, Subject::Model { .. }));
    cancel.cancel();
    let error = call.wait(LONG).expect("ends").expect_err("was cancelled");
    assert_eq!(error.kind, Kind::Cancelled);
    assert!(begun.elapsed() < LONG);
    // Too late, and of no harm.
    question.answer(Ok("Sixty dry beds.".to_owned()));
}

#[test]
fn errors_name_their_option_and_what_to_do() {
    let host = host(None);
    let conversation = garden(&host);
    let compact = |chain: &str, options: &str| {
        let chain = [Strategy::named(chain.to_owned(), Load::default()).expect("a strategy")];
        host.compact(&conversation, &chain, options, &never())
            .expect_err("is refused")
    };
    let error = compact("native:digest", r#"{"max_bytes":-1}"#);
    assert_eq!(
        (error.kind, error.option.as_deref()),
        (Kind::Option, Some("max_bytes"))
    );
    assert!(
        error.to_string().starts_with("`max_bytes`: expected"),
        "{error}"
    );
    let error = compact("native:digest", r#"{"max_byte":1}"#);
    assert!(error.message.contains("`max_byte`"), "{error}");
    assert_eq!(compact("nettle", "{}").remedy, Some(Remedy::LoadFile));
    assert_eq!(
        compact("native:summarize", "{}").remedy,
        Some(Remedy::GiveModel)
    );
}
