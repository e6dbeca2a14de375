//! Session logs of all four programs, line by line more or less what these programs write:
//! reading never panics, and what it makes of them obeys the rules of the format, but for what
//! the log itself lacks, and stays so when it is compacted.

#![no_main]

use baler_fuzz::{HOST, broken, check, check_compactions};
use baler_fuzz_inputs::log;
use baler_generated::Choices;
use baler_host::{
    conversation::rules::{Rule, Violation},
    conversation::session_logs::LogKind,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = log(&mut Choices::from_bytes(data));
    let Ok(conversation) = HOST.read_bytes(text.clone().into_bytes()) else {
        return;
    };
    check(&conversation);
    if let Some((kind, _)) = conversation.log() {
        for violation in broken(&conversation) {
            assert!(
                is_the_logs_own(kind, violation),
                "{violation:?}\n{text}\n{}",
                conversation.document()
            );
        }
    }
    check_compactions(&HOST, &conversation);
});

/// What is wrong with a log that no program writes, and that reading it does not mend.
fn is_the_logs_own(kind: LogKind, violation: &Violation) -> bool {
    match (kind, violation.rule) {
        // It begins with the model.
        (_, Rule::Anth1 | Rule::Gem1 | Rule::Gem2) => violation.message == 1,
        // There is nothing for the model but instructions. Items are copied as they are, with
        // texts, ids and types that no request has included, or without what each has.
        (
            LogKind::Codex,
            Rule::All1
            | Rule::All4
            | Rule::All6
            | Rule::Resp1
            | Rule::Resp5
            | Rule::Resp8
            | Rule::Resp9,
        ) => true,
        // So is reasoning in a log of pi.
        (LogKind::Pi, Rule::Resp8) => true,
        // So are parts.
        (LogKind::GeminiCli, Rule::Gem5) => true,
        // So are blocks, which the provider wrote.
        (
            LogKind::ClaudeCode | LogKind::ClaudeStreamJson | LogKind::Cline | LogKind::Droid,
            Rule::Anth11,
        ) => true,
        (
            LogKind::Pi | LogKind::Opencode | LogKind::CopilotCli,
            Rule::Anth11 | Rule::Chat4 | Rule::Resp9,
        ) => true,
        _ => false,
    }
}
