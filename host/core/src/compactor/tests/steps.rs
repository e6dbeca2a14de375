use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::{
    block_on, by_tokens, compactor, fill, half_of_what_may_go, host, long, must_stay, said,
    state_of, step,
};
use crate::compactor::{
    Compactor, CompactorOptions, Event, HookContext, HookDecision, Hooks, Pressure, ResumeError,
    Triggers,
};
use crate::remote::{AnswerFuture, Operation, Remote};
use crate::request::Request;
use crate::strategy::Strategy;
use crate::{
    Compaction, HostError, Pins,
    conversation::UnitKind,
    receipt::{Outcome, Unchanged},
};

/// PL-S2, P19, P20, AP-S2, A19
#[test]
fn it_is_time_from_the_threshold_on_and_not_before() {
    let mut one = compactor(by_tokens(u32::MAX));
    fill(&mut one, 10);
    let tokens = one.tokens();
    for (threshold, expected) in [(tokens, true), (tokens + 1, false)] {
        let mut one = compactor(by_tokens(threshold));
        fill(&mut one, 10);
        let step = step(&mut one);
        assert_eq!(step.is_compacted(), expected, "{threshold} {tokens}");
        assert_eq!(step.pressure.is_some(), expected);
    }
}

/// PAIN-1, ALL-N5, PL-N5: a result just below the trigger would fire it again at once.
#[test]
fn after_a_compaction_it_is_not_time_at_once() {
    let mut one = compactor(by_tokens(2_000));
    let mut compactions = 0;
    for number in 0..200 {
        let role = if number % 2 == 0 { "assistant" } else { "user" };
        one.append(&long(role, number)).expect("is a message");
        let compacted = step(&mut one).is_compacted();
        compactions += usize::from(compacted);
        assert!(one.tokens() < 2_000, "{number}: {}", one.tokens());
        assert!(one.conversation().violations().is_empty());
    }
    // About 100 tokens come with each, and about 900 go each time.
    assert!((15..=30).contains(&compactions), "{compactions}");
    assert_eq!(one.compactions(), compactions);
    assert_eq!(one.history().count(), 201);
}

/// PAIN-19, T3, PT-T2, PT-T4
#[test]
fn turns_messages_and_bytes_are_triggers_of_their_own() {
    let cases: [(Triggers, Pressure); 3] = [
        (
            Triggers {
                turns: Some(5),
                ..Triggers::NONE
            },
            Pressure::Turns,
        ),
        (
            Triggers {
                messages: Some(10),
                ..Triggers::NONE
            },
            Pressure::Messages,
        ),
        (
            Triggers {
                bytes: Some(5_000),
                ..Triggers::NONE
            },
            Pressure::Bytes,
        ),
    ];
    for (triggers, pressure) in cases {
        let options = CompactorOptions {
            triggers,
            ..CompactorOptions::default()
        };
        let mut one = compactor(options);
        let mut fired = 0;
        for number in 0..40 {
            fill(&mut one, 1);
            one.append(&long("user", number)).expect("is a message");
            let done = step(&mut one);
            if done.is_compacted() {
                assert_eq!(done.pressure, Some(pressure));
                assert!(step(&mut one).pressure.is_none());
                fired += 1;
            }
        }
        assert!(fired >= 2, "{pressure:?}: {fired}");
    }
}

/// A result that is still beyond its trigger is not halved at every step.
#[test]
fn what_is_left_beyond_a_trigger_waits_until_a_tenth_of_that_came() {
    let triggers = [
        Triggers {
            messages: Some(20),
            ..Triggers::NONE
        },
        Triggers {
            turns: Some(20),
            ..Triggers::NONE
        },
    ];
    for triggers in triggers {
        let options = CompactorOptions {
            triggers,
            ..CompactorOptions::default()
        };
        let mut one = compactor(options.clone());
        for number in 0..24 {
            let rule = said("user", &format!("Rule {number}: be on time."));
            one.append(&rule.to_string()).expect("is a message");
        }
        one.pin(Pins::Units((0..25).collect())).expect("are there");
        fill(&mut one, 12);
        assert!(step(&mut one).is_compacted());
        assert_eq!(one.compactions(), 1);
        let chain = [Strategy::truncate()];
        let mut two = Compactor::resume(host(), &state_of(&one), chain, options).expect("goes on");
        for one in [&mut one, &mut two] {
            assert!(step(one).pressure.is_none());
            // Two are a tenth of what fires, and each is a turn.
            one.append(&long("user", 1)).expect("is a message");
            assert!(step(one).pressure.is_none());
            one.append(&long("user", 2)).expect("is a message");
            assert!(step(one).is_compacted());
        }
    }
}

/// PAIN-15, AP-I5, AP-9, AH3, PU-I1, ALL-N5
#[test]
fn the_providers_figure_goes_before_the_hosts_and_ends_with_a_compaction() {
    let mut one = compactor(by_tokens(3_000));
    // What has a system prompt shows all that the provider counts.
    let system = said("system", "You plan journeys.").to_string();
    one.append(&system).expect("is a message");
    fill(&mut one, 12);
    let counted = one.tokens();
    assert!(counted < 2_000);
    assert!(step(&mut one).pressure.is_none());
    one.reported(2_950);
    one.append(&long("user", 1)).expect("is a message");
    assert!(one.tokens() > 3_000);
    let compacted = step(&mut one);
    assert!(compacted.is_compacted());
    // The budget was met by the provider's count.
    let tokens = compacted.receipts[0].tokens;
    let most = half_of_what_may_go(3_000, tokens.floor);
    assert!(tokens.before > 2_950 && tokens.after <= most, "{tokens:?}");
    assert!(one.tokens() <= most);
    assert!(step(&mut one).pressure.is_none());
}

/// PAIN-1, PAIN-20, PT-N16, PL-N4, ALL-N10
#[test]
fn what_cannot_become_smaller_is_not_tried_at_every_step() {
    let mut one = compactor(by_tokens(50));
    one.append(&long("user", 1)).expect("is a message");
    let first = step(&mut one);
    assert_eq!(
        first.receipts[0].outcome,
        Outcome::Unchanged(Unchanged::AtFloor)
    );
    for _ in 0..3 {
        let next = step(&mut one);
        assert!(next.held && next.receipts.is_empty());
    }
    one.append(&long("assistant", 2)).expect("is a message");
    one.append(&long("user", 3)).expect("is a message");
    assert!(!step(&mut one).held);
}

#[test]
fn a_share_of_a_window_that_is_missing_is_refused_where_nothing_else_fires() {
    let begin = |options: CompactorOptions| {
        let host = host();
        let body = json!({"model": "m", "messages": [said("user", "Plan our week by the sea.")]});
        let conversation = host.read(body.to_string()).expect("reads");
        Compactor::new(host, conversation, [Strategy::truncate()], options)
    };
    let error = begin(CompactorOptions::default()).expect_err("has no window");
    assert_eq!(error.field, "triggers.share");
    let saved = compactor(by_tokens(900)).save().expect("is JSON");
    let chain = [Strategy::truncate()];
    let resumed = Compactor::resume(host(), &saved, chain, CompactorOptions::default());
    assert!(matches!(resumed, Err(ResumeError::Options(own)) if own == error));
    let with_tokens = CompactorOptions {
        triggers: Triggers {
            tokens: Some(900),
            ..Triggers::default()
        },
        ..CompactorOptions::default()
    };
    let with_window = CompactorOptions {
        context_window: Some(900),
        ..CompactorOptions::default()
    };
    let without_any = CompactorOptions {
        triggers: Triggers::NONE,
        ..CompactorOptions::default()
    };
    for options in [with_tokens, with_window, without_any] {
        assert!(begin(options).is_ok());
    }
}

/// PAIN-2, PAIN-15, AP-N11
#[test]
fn an_overflow_makes_it_smaller_each_time() {
    let mut one = compactor(by_tokens(1_000_000));
    fill(&mut one, 30);
    let mut before = one.tokens();
    for _ in 0..3 {
        let overflowed = block_on(one.overflowed()).expect("no archive that could fail");
        assert!(overflowed.is_compacted());
        assert!(one.tokens() <= before * 7 / 10, "{} {before}", one.tokens());
        before = one.tokens();
    }
}

/// PL-I9, PU-7, PU-I3
#[test]
fn by_hand_it_compacts_whatever_the_triggers_say() {
    let mut one = compactor(by_tokens(1_000_000));
    fill(&mut one, 10);
    let asked = block_on(one.compact_now(Some("keep the harbour"))).expect("no archive");
    assert!(asked.is_compacted());
    assert_eq!(asked.receipts[0].trigger, "manual");
}

/// What a hook saw and says.
#[derive(Debug, Default)]
struct Watching {
    before: AtomicUsize,
    after: AtomicUsize,
    veto: bool,
}

impl Hooks for Watching {
    fn before(&self, attempting: &HookContext<'_>, request: &mut Request) -> HookDecision {
        let messages = attempting.conversation.units().len();
        self.before.store(messages, Ordering::SeqCst);
        request.pins = Pins::None;
        if self.veto {
            return HookDecision::Veto("not while somebody reads".to_owned());
        }
        HookDecision::Proceed
    }

    fn after(&self, compaction: &Compaction) {
        let messages = compaction.receipt().messages.after;
        self.after.store(messages, Ordering::SeqCst);
    }
}

/// R8, PU-14, PU-S24, PU-I5
#[test]
fn hooks_see_what_comes_in_and_what_comes_out_and_may_change_the_request() {
    let hooks = Arc::new(Watching::default());
    let mut one = compactor(by_tokens(900)).with_hooks(hooks.clone());
    fill(&mut one, 10);
    assert!(step(&mut one).is_compacted());
    assert_eq!(hooks.before.load(Ordering::SeqCst), 11);
    let after = one.conversation().units().len();
    assert_eq!(hooks.after.load(Ordering::SeqCst), after);
    // It took the pin off the task.
    assert!(!one.document().contains("Plan our week"));
}

/// R9, PU-S24
#[test]
fn a_hook_may_say_no_unless_the_request_would_be_refused() {
    let hooks = Arc::new(Watching {
        veto: true,
        ..Watching::default()
    });
    let mut one = compactor(by_tokens(900)).with_hooks(hooks.clone());
    fill(&mut one, 10);
    let before = one.document().to_owned();
    let vetoed = step(&mut one);
    assert_eq!(vetoed.vetoed.as_deref(), Some("not while somebody reads"));
    assert_eq!(one.document(), before);
    assert!(
        block_on(one.overflowed())
            .expect("no archive")
            .is_compacted()
    );
}

/// PL-S30, PL-I6, PV4, PV5, PV6, P17, PU-15, R11
#[test]
fn events_tell_of_the_beginning_and_the_end_and_of_nothing_else() {
    let mut one = compactor(by_tokens(900));
    let mut events = one.events();
    fill(&mut one, 4);
    step(&mut one);
    assert!(events.try_next().is_none(), "it is not time");
    fill(&mut one, 8);
    let tokens = one.tokens();
    step(&mut one);
    assert!(matches!(
        events.try_next(),
        Some(Event::Compacting { pressure: Pressure::Tokens, tokens: told }) if told == tokens
    ));
    let Some(Event::Ended(receipt)) = events.try_next() else {
        panic!("no end");
    };
    assert_eq!(receipt.messages.before, 13);
    assert_eq!(receipt.messages.after, one.conversation().units().len());
    assert!(events.try_next().is_none());
}

/// PAIN-18, AP-10, AP-I4, AP-S6, A8
#[test]
fn messages_that_come_while_it_runs_stay_behind_its_result() {
    let mut one = compactor(by_tokens(900));
    fill(&mut one, 12);
    let work = one.work();
    let late = [long("assistant", 90), long("user", 91)];
    for message in &late {
        one.append(message).expect("is a message");
    }
    let finished = block_on(work.run());
    assert!(one.apply(finished).expect("no archive").is_compacted());
    let messages: Vec<&str> = (0..one.conversation().units().len())
        .flat_map(|unit| one.conversation().raw_messages(unit))
        .collect();
    assert_eq!(messages[messages.len() - 2..], late);
    assert_eq!(one.history().count(), 15);
}

#[test]
fn work_on_a_conversation_that_has_changed_is_thrown_away() {
    let mut one = compactor(by_tokens(900));
    fill(&mut one, 12);
    let work = one.work();
    assert!(step(&mut one).is_compacted());
    let before = one.document().to_owned();
    let mut events = one.events();
    let applied = one.apply(block_on(work.run())).expect("no archive");
    assert!(!applied.is_compacted());
    assert_eq!(one.document(), before);
    let told: Vec<_> = std::iter::from_fn(|| events.try_next()).collect();
    assert!(matches!(told.last(), Some(Event::Outdated)), "{told:?}");
}

/// AP-I9
#[tokio::test]
async fn a_compaction_that_was_begun_early_is_applied_at_a_later_step() {
    let options = CompactorOptions {
        early: Some(0.5),
        ..by_tokens(2_000)
    };
    let mut one = compactor(options);
    fill(&mut one, 12);
    let first = one.step().await.expect("no archive");
    assert!(first.pressure.is_none() && first.receipts.is_empty());
    let mut compacted = false;
    for _ in 0..200 {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        compacted = one.step().await.expect("no archive").is_compacted();
        if compacted {
            break;
        }
    }
    // Overhead, the task and the newest message take less than 200.
    assert!(compacted && one.tokens() <= 1_100, "{}", one.tokens());
}

/// AP-I6, AP-N9, AH1, AH2, PL-N6
#[test]
fn a_saved_compactor_goes_on_where_it_was() {
    let mut one = compactor(by_tokens(900));
    fill(&mut one, 12);
    assert!(step(&mut one).is_compacted());
    fill(&mut one, 3);
    let saved = one.save().expect("is JSON");
    let chain = [Strategy::truncate()];
    let mut two =
        Compactor::resume(host(), &saved, chain.clone(), by_tokens(900)).expect("goes on");
    assert_eq!(two.document(), one.document());
    assert_eq!(state_of(&two), saved);
    assert!(two.history().eq(one.history()));
    fill(&mut two, 12);
    assert!(step(&mut two).is_compacted());
    assert_eq!(two.compactions(), 2);
    let error = |text: &str| {
        Compactor::resume(host(), text, chain.clone(), by_tokens(900)).expect_err("is none")
    };
    assert!(matches!(error("{}"), ResumeError::NotJson(_)));
    assert!(matches!(
        error(&saved[..saved.len() / 2]),
        ResumeError::NotJson(_)
    ));
    let newer = saved.replacen("\"compactor\":1", "\"compactor\":2", 1);
    assert!(matches!(error(&newer), ResumeError::Version { found: 2 }));
    let unknown = saved.replacen("\"format\":\"openai-chat\"", "\"format\":\"abacus\"", 1);
    assert!(matches!(error(&unknown), ResumeError::Format(_)));
}

#[test]
fn a_saved_compactor_knows_recorded_summaries() {
    let line = |text: &str, parent: Value, is_summary: bool| {
        json!({"type": "user", "sessionId": "s", "uuid": text, "parentUuid": parent,
            "isCompactSummary": is_summary, "message": said("user", text)})
    };
    let summary = line("The sea is calm.", Value::Null, true);
    let next = line("Go on.", summary["uuid"].clone(), false);
    let log = format!("{summary}\n{next}\n");
    let conversation = host().read(log).expect("reads");
    let chain = [Strategy::truncate()];
    let one = Compactor::new(host(), conversation, chain.clone(), by_tokens(900)).expect("valid");
    let two = Compactor::resume(host(), &state_of(&one), chain, by_tokens(900)).expect("goes on");
    for view in [one.conversation(), two.conversation()] {
        assert_eq!(view.recorded_summaries(), [0]);
        assert_eq!(view.units()[0].kind, UnitKind::Summary);
    }
}

fn content(message: &str) -> String {
    let message: Value = serde_json::from_str(message).expect("is JSON");
    message["content"].as_str().unwrap_or_default().to_owned()
}

/// PAIN-22, PC1, PC2, PC3, PC4, PC5, PL-S35, PL-S36, PL-S27, PL-S29
#[test]
fn what_was_seen_before_each_compaction_can_be_had_back() {
    let mut one = compactor(by_tokens(900));
    assert_eq!(one.seen_before(0), None);
    fill(&mut one, 12);
    let before: Vec<String> = one.history().map(str::to_owned).collect();
    assert!(step(&mut one).is_compacted());
    let first = one.document().to_owned();
    assert_eq!(one.seen_before(0).expect("there was one"), before);
    fill(&mut one, 12);
    let grown: Vec<String> = (0..one.conversation().units().len())
        .flat_map(|unit| one.conversation().raw_messages(unit))
        .map(str::to_owned)
        .collect();
    assert!(step(&mut one).is_compacted());
    let seen = one.seen_before(1).expect("there were two");
    assert_eq!(seen, grown);
    assert!(first.contains(seen[0]));
    assert_eq!(one.seen_before(2), None);
    assert_eq!(
        content(one.seen_before(0).expect("is there")[0]),
        "Plan our week by the sea."
    );
}

/// PC6, PL-S37: each agent has its own.
#[test]
fn compactors_know_nothing_of_each_other() {
    let (mut one, two) = (compactor(by_tokens(900)), compactor(by_tokens(900)));
    fill(&mut one, 12);
    assert!(step(&mut one).is_compacted());
    assert_eq!(two.conversation().units().len(), 1);
    assert_eq!(two.compactions(), 0);
}

/// AP-S4: an estimate is always there, where nothing was reported.
#[test]
fn without_a_report_the_hosts_count_decides() {
    let mut one = compactor(by_tokens(500));
    one.reported(0);
    fill(&mut one, 8);
    assert!(step(&mut one).is_compacted());
}

#[test]
fn what_is_no_message_changes_nothing() {
    let mut one = compactor(by_tokens(900));
    let before = one.save().expect("is JSON");
    assert!(one.append("{").is_err());
    assert!(one.append(&json!({"role": "pirate"}).to_string()).is_err());
    assert_eq!(state_of(&one), before);
    assert!(one.append(&said("assistant", "Aye.").to_string()).is_ok());
}

/// PAIN-15: the provider counts less than the host, and refuses all the same.
#[test]
fn an_overflow_aims_lower_by_the_count_that_it_works_with() {
    let mut one = compactor(by_tokens(1_000_000));
    one.append(&said("system", "You plan journeys.").to_string())
        .expect("is a message");
    fill(&mut one, 30);
    one.reported(one.tokens() / 2);
    let overflowed = block_on(one.overflowed()).expect("no archive");
    assert!(overflowed.is_compacted());
}

/// A compactor whose provider counts four times what the host does.
fn counted_fourfold(options: CompactorOptions) -> Compactor {
    let mut one = compactor(options);
    one.append(&said("system", "You plan journeys.").to_string())
        .expect("is a message");
    fill(&mut one, 12);
    one.reported(one.tokens() * 4);
    one
}

/// Half of what the provider counts beside what has to stay, rather than half of what the host does.
#[test]
fn what_an_overflow_aims_at_is_counted_as_the_provider_counts() {
    let mut one = counted_fourfold(by_tokens(1_000_000));
    let overflowed = block_on(one.overflowed()).expect("no archive");
    let tokens = overflowed.receipts[0].tokens;
    let most = half_of_what_may_go(tokens.before, must_stay(&one, tokens.floor));
    assert_eq!(tokens.budget, most);
}

/// Half of what the trigger leaves, which is more than the host counts in all.
#[tokio::test]
async fn what_is_begun_early_aims_where_a_step_would() {
    let counted = counted_fourfold(by_tokens(1_000_000)).tokens();
    let mut one = counted_fourfold(CompactorOptions {
        early: Some(0.5),
        ..by_tokens(counted + 1)
    });
    assert!(one.step().await.expect("no archive").pressure.is_none());
    let compacted = one.compact_now(None).await.expect("no archive");
    let early = &compacted.receipts[0];
    assert_eq!(early.trigger, "scheduled");
    let most = half_of_what_may_go(counted + 1, must_stay(&one, early.tokens.floor));
    assert_eq!(early.tokens.budget, most);
}

#[test]
fn a_damaged_state_is_refused_and_asks_for_no_memory() {
    let mut one = compactor(by_tokens(900));
    fill(&mut one, 12);
    assert!(step(&mut one).is_compacted());
    let saved = one.save().expect("is JSON");
    let at = saved.find("\"came\":[").expect("has one") + "\"came\":".len();
    let end = at + saved[at..].find(']').expect("ends");
    let damaged = format!("{}[0,1152921504606846976{}", &saved[..at], &saved[end..]);
    let error = Compactor::resume(host(), &damaged, [Strategy::truncate()], by_tokens(900))
        .expect_err("is damaged");
    assert!(matches!(error, ResumeError::Inconsistent(_)), "{error}");
}

/// How often each of these messages is in what the model sees.
fn times(compactor: &Compactor, messages: &[&str]) -> Vec<usize> {
    let seen: Vec<&str> = (0..compactor.conversation().units().len())
        .flat_map(|unit| compactor.conversation().raw_messages(unit))
        .collect();
    let times = |message: &&str| seen.iter().filter(|own| *own == message).count();
    messages.iter().map(times).collect()
}

#[test]
fn units_that_were_pinned_by_number_stay_through_every_compaction_and_a_resume() {
    let mut one = compactor(by_tokens(900));
    let name = said("assistant", "The boat is called Aurelia.").to_string();
    // The same words twice, of which the later are pinned.
    let twice = said("user", "Go on.").to_string();
    one.append(&twice).expect("is a message");
    fill(&mut one, 9);
    one.append(&name).expect("is a message");
    one.append(&twice).expect("is a message");
    one.pin(Pins::Units(vec![11, 12])).expect("are there");
    fill(&mut one, 10);
    assert_eq!(times(&one, &[&name, &twice]), [1, 2]);
    for _ in 0..3 {
        assert!(step(&mut one).is_compacted());
        assert_eq!(times(&one, &[&name, &twice]), [1, 1]);
        // They are pinned besides the first message.
        assert!(one.document().contains("Plan our week"));
        fill(&mut one, 10);
    }
    let chain = [Strategy::truncate()];
    let mut two =
        Compactor::resume(host(), &state_of(&one), chain, by_tokens(900)).expect("goes on");
    assert!(step(&mut two).is_compacted());
    assert_eq!(times(&two, &[&name, &twice]), [1, 1]);
}

/// What Anthropic takes for one message becomes one unit as soon as a part of it calls a tool.
#[test]
fn a_unit_stays_pinned_where_what_is_appended_makes_one_of_several() {
    let host = host();
    let body = json!({"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [
        said("user", "Plan our week by the sea."),
        said("assistant", "The boat is called Aurelia."),
        said("assistant", "She sails at noon."),
    ]});
    let conversation = host.read(body.to_string()).expect("reads");
    assert_eq!(conversation.units().len(), 3);
    let chain = [Strategy::truncate()];
    let mut one = Compactor::new(host, conversation, chain, by_tokens(900)).expect("makes sense");
    one.pin(Pins::Units(vec![2])).expect("is there");
    let call = json!({"type": "tool_use", "id": "a", "name": "tides", "input": {}});
    let output = json!({"type": "tool_result", "tool_use_id": "a", "content": "07:14"});
    one.append(&json!({"role": "assistant", "content": [call]}).to_string())
        .expect("is a message");
    one.append(&json!({"role": "user", "content": [output]}).to_string())
        .expect("is a message");
    assert_eq!(one.conversation().units().len(), 2);
    fill(&mut one, 12);
    assert!(step(&mut one).is_compacted());
    for pinned in ["The boat is called Aurelia.", "She sails at noon.", "07:14"] {
        assert!(one.document().contains(pinned), "{pinned}");
    }
}

#[test]
fn a_unit_that_is_not_there_cannot_be_pinned() {
    let mut one = compactor(by_tokens(900));
    let error = one.pin(Pins::Units(vec![0, 1])).expect_err("has one unit");
    assert!(matches!(error, HostError::NoSuchUnit { unit: 1, units: 1 }));
    let saved = one.save().expect("is JSON");
    let damaged = saved.replacen("\"first-user\"", "{\"messages\":[1]}", 1);
    assert_ne!(damaged, saved);
    let resumed = Compactor::resume(host(), &damaged, [Strategy::truncate()], by_tokens(900));
    let error = resumed.expect_err("pins what is not there");
    assert!(matches!(error, ResumeError::Inconsistent(_)), "{error}");
}

#[test]
fn work_that_was_begun_before_something_was_pinned_is_thrown_away() {
    let mut one = compactor(by_tokens(900));
    let name = said("assistant", "The boat is called Aurelia.").to_string();
    one.append(&name).expect("is a message");
    fill(&mut one, 12);
    let work = one.work();
    one.pin(Pins::Units(vec![1])).expect("is there");
    let applied = one.apply(block_on(work.run())).expect("no archive");
    assert!(!applied.is_compacted());
    assert_eq!(times(&one, &[&name]), [1]);
    assert!(step(&mut one).is_compacted());
    assert_eq!(times(&one, &[&name]), [1]);
}

#[test]
fn messages_that_come_together_are_kept_like_those_that_come_one_by_one() {
    let mut one_by_one = compactor(by_tokens(900));
    let mut together = compactor(by_tokens(900));
    let names = ["Aurelia", "Brava", "Corvo"].map(|name| said("user", name).to_string());
    for name in &names {
        one_by_one.append(name).expect("is a message");
    }
    let all = names.iter().map(String::as_str);
    together.append_all(all).expect("are messages");
    assert_eq!(state_of(&together), state_of(&one_by_one));
    let [good, ..] = &names;
    assert!(together.append_all([good.as_str(), "[]", good]).is_err());
    one_by_one.append(good).expect("is a message");
    assert_eq!(state_of(&together), state_of(&one_by_one));
}

/// A strategy that always says that it is not time.
#[derive(Debug)]
struct Waiting;

impl Remote for Waiting {
    fn name(&self) -> &str {
        "waiting"
    }

    fn address(&self) -> &str {
        "test:waiting"
    }

    fn ask(&self, question: Operation, _: String, _: usize) -> AnswerFuture<'_> {
        let answer = match question {
            Operation::ShouldCompact => r#"{"decision":"wait"}"#,
            Operation::Introspect | Operation::Compact => "{}",
        };
        Box::pin(std::future::ready(Ok(answer.as_bytes().to_vec())))
    }
}

/// A strategy that says that it is time from so many tokens on.
#[derive(Debug)]
struct DueFrom(u64);

impl Remote for DueFrom {
    fn name(&self) -> &str {
        "due-from"
    }

    fn address(&self) -> &str {
        "test:due-from"
    }

    fn ask(&self, _: Operation, asked: String, _: usize) -> AnswerFuture<'_> {
        let asked: Value = serde_json::from_str(&asked).expect("is JSON");
        let used = asked["situation"]["used"].as_u64().unwrap_or(0);
        let decision = if used >= self.0 { "compact" } else { "wait" };
        let answer = json!({"decision": decision}).to_string();
        Box::pin(std::future::ready(Ok(answer.into_bytes())))
    }
}

/// It would hold back by the host's count what the provider is about to refuse.
#[tokio::test]
async fn the_strategy_is_asked_by_the_providers_figure() {
    let host = host();
    let body = json!({"model": "m", "messages": [
        said("system", "You plan journeys."),
        said("user", "Plan our week by the sea."),
    ]});
    let conversation = host.read(body.to_string()).expect("reads");
    let chain = [Strategy::remote(Arc::new(DueFrom(3_000)))];
    let options = by_tokens(1_000_000);
    let mut one = Compactor::new(host, conversation, chain, options).expect("makes sense");
    fill(&mut one, 12);
    assert!(one.tokens() < 2_000);
    assert_eq!(one.with_strategy(None).await, None);
    one.reported(3_500);
    assert_eq!(one.with_strategy(None).await, Some(Pressure::Strategy));
}

#[tokio::test]
async fn what_the_strategy_holds_back_is_not_begun_beside_either() {
    let host = host();
    let body = json!({"model": "m", "messages": [said("user", "Plan our week by the sea.")]});
    let conversation = host.read(body.to_string()).expect("reads");
    let options = CompactorOptions {
        early: Some(0.5),
        ..by_tokens(900)
    };
    let chain = [Strategy::remote(Arc::new(Waiting))];
    let mut one = Compactor::new(host, conversation, chain, options).expect("makes sense");
    fill(&mut one, 12);
    assert!(one.tokens() >= 900);
    for _ in 0..2 {
        let held_back = one.step().await.expect("no archive");
        assert!(held_back.pressure.is_none() && held_back.receipts.is_empty());
        assert!(one.running.is_none());
    }
    // Below the trigger nothing is held back: it is not time, so it is early.
    one.options.triggers.tokens = Some(one.tokens() + 1);
    assert!(one.step().await.expect("no archive").pressure.is_none());
    assert!(one.running.is_some());
}

#[test]
fn work_of_another_compactor_is_thrown_away() {
    let mut one = compactor(by_tokens(900));
    fill(&mut one, 12);
    let chain = [Strategy::truncate()];
    let saved = state_of(&one);
    let mut resumed = Compactor::resume(host(), &saved, chain, by_tokens(900)).expect("goes on");
    let mut other = compactor(by_tokens(900));
    fill(&mut other, 14);
    let before = other.document().to_owned();
    for another in [&mut resumed, &mut other] {
        let finished = block_on(one.work().run());
        let applied = another.apply(finished).expect("no archive");
        assert!(!applied.is_compacted());
        assert_eq!(another.compactions(), 0);
    }
    assert_eq!(other.document(), before);
    let finished = block_on(one.work().run());
    assert!(one.apply(finished).expect("no archive").is_compacted());
}

/// A compactor 100 tokens below its trigger that has begun a compaction early, to this share of that.
async fn begun_early(target_share: f64) -> Compactor {
    let mut one = compactor(CompactorOptions {
        early: Some(0.5),
        target_share,
        ..by_tokens(1_000_000)
    });
    fill(&mut one, 12);
    one.options.triggers.tokens = Some(one.tokens() + 100);
    assert!(one.step().await.expect("no archive").pressure.is_none());
    assert!(one.running.is_some());
    one
}

/// Half of what could go, and not half of the half.
#[tokio::test]
async fn what_was_begun_early_is_enough_for_a_person_and_an_overflow() {
    for is_refused in [false, true] {
        let mut one = begun_early(0.5).await;
        let before = one.tokens();
        let step = if is_refused {
            one.overflowed().await
        } else {
            one.compact_now(None).await
        };
        let receipts = step.expect("no archive").receipts;
        let triggers: Vec<&str> = receipts.iter().map(|own| own.trigger.as_str()).collect();
        assert_eq!(triggers, ["scheduled"]);
        assert_eq!(receipts[0].tokens.before, before);
        let most = half_of_what_may_go(before + 100, receipts[0].tokens.floor);
        assert!(one.tokens() <= most, "{}", one.tokens());
    }
}

#[tokio::test]
async fn an_overflow_goes_on_where_what_was_begun_early_is_not_enough() {
    let mut one = begun_early(0.9).await;
    let before = one.tokens();
    let step = one.overflowed().await.expect("no archive");
    assert_eq!(step.receipts.len(), 2);
    assert!(one.tokens() <= before * 7 / 10, "{} {before}", one.tokens());
}

#[tokio::test]
async fn a_persons_wish_is_not_answered_by_what_was_begun_without_it() {
    let mut one = begun_early(0.5).await;
    let mut events = one.events();
    let step = one.compact_now(Some("keep the harbour")).await;
    let receipts = step.expect("no archive").receipts;
    let triggers: Vec<&str> = receipts.iter().map(|own| own.trigger.as_str()).collect();
    assert_eq!(triggers, ["manual"]);
    assert_eq!(one.compactions(), 1);
    let told: Vec<_> = std::iter::from_fn(|| events.try_next()).collect();
    let is_outdated = |event: &&Event| matches!(event, Event::Outdated);
    assert_eq!(told.iter().filter(is_outdated).count(), 1, "{told:?}");
}

#[test]
fn what_came_to_nothing_is_tried_again_once_something_else_is_pinned() {
    let mut one = compactor(by_tokens(900));
    fill(&mut one, 12);
    let all = || Pins::Units((0..13).collect());
    one.pin(all()).expect("are there");
    assert!(!step(&mut one).is_compacted());
    assert!(step(&mut one).held);
    // The same again is nothing new.
    one.pin(all()).expect("are there");
    assert!(step(&mut one).held);
    one.pin(Pins::FirstUser).expect("names no unit");
    assert!(step(&mut one).is_compacted());
}
