//! A strategy that keeps any excerpts of any parts it may: whatever runs its plan names, the result
//! is valid, within its budget or at its floor, has what must stay, and is smaller; or nothing
//! changed. Excerpts are made of excerpts, too.

#![no_main]

use std::sync::{Arc, Mutex};

use baler_fuzz::{budget, check_any_plan, host_of, made};
use baler_generated::Choices;
use baler_host::remote::{AnswerFuture, Operation, Remote, RemoteError};
use baler_host::{Request, Strategy};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

/// Compactions in a row, each of what the one before left.
const ROUNDS: usize = 3;

fuzz_target!(|data: &[u8]| {
    let choices = &mut Choices::from_bytes(data);
    let mut request = Request::default().with_budget(budget(choices));
    request.policy.rewrite_outputs = choices.one_in(4);
    request.policy.rewrite_assistant = choices.one_in(2);
    request.policy.excerpts = !choices.one_in(8);
    let made = made(choices);
    let numbers: Vec<u32> = (0..64).map(|_| choices.below(4096) as u32).collect();
    let host = host_of(made.kind);
    let mut conversation = host.read(made.document()).expect("it is one of the format");
    let strategy = Strategy::remote(Arc::new(AnyExcerpts(Mutex::new(Numbers {
        numbers,
        next: 0,
    }))));

    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    for _ in 0..ROUNDS {
        let compaction = runtime
            .block_on(host.compact(&conversation, std::slice::from_ref(&strategy), &request))
            .expect("no archive that could fail");
        check_any_plan(&conversation, &compaction, &request);
        conversation = compaction.conversation().clone();
    }
});

/// Numbers that the input chose, over and over.
#[derive(Debug)]
struct Numbers {
    numbers: Vec<u32>,
    next: usize,
}

impl Numbers {
    fn below(&mut self, end: u32) -> u32 {
        let number = self.numbers[self.next % self.numbers.len()];
        self.next += 1;
        number.checked_rem(end).unwrap_or_default()
    }

    /// Mostly ascending runs, long enough and with gaps that are worth one; now and then others.
    fn runs(&mut self) -> Value {
        let mut at = self.below(40);
        let runs = (0..1 + self.below(4)).map(|_| {
            let start = at + self.below(8) * 16;
            let end = start + 10 + self.below(200);
            at = if self.below(16) == 0 { start } else { end };
            json!({"start": start, "end": end})
        });
        runs.collect()
    }
}

/// A strategy that keeps or removes each unit, or keeps excerpts of its parts.
#[derive(Debug)]
struct AnyExcerpts(Mutex<Numbers>);

impl AnyExcerpts {
    fn plan(&self, question: &str) -> Value {
        let question: Value = serde_json::from_str(question).expect("the host writes JSON");
        let mut numbers = self.0.lock().expect("nothing panics with it");
        let mut pieces = Vec::new();
        let units = question["units"].as_array().cloned().unwrap_or_default();
        for (index, unit) in units.iter().enumerate() {
            let is_protected = unit["traits"]
                .as_array()
                .is_some_and(|traits| traits.iter().any(|name| name == "protected"));
            let edits: Vec<Value> = unit["editable"]
                .as_array()
                .into_iter()
                .flatten()
                .filter(|part| {
                    part["may"]
                        .as_array()
                        .is_some_and(|may| may.contains(&json!("excerpt")))
                })
                .map(|part| {
                    let change = json!({"excerpt": numbers.runs()});
                    json!({"message": part["message"], "part": part["part"], "change": change})
                })
                .collect();
            match numbers.below(3) {
                0 if !is_protected => {}
                1 if !edits.is_empty() => {
                    pieces.push(json!({"rewrite": {"unit": index, "edits": edits}}));
                }
                _ => pieces.push(json!({"keep": {"first": index, "count": 1}})),
            }
        }
        json!({"outcome": {"compacted": {"pieces": pieces, "reasons": []}}, "metrics": []})
    }
}

impl Remote for AnyExcerpts {
    fn name(&self) -> &str {
        "any-excerpts"
    }

    fn address(&self) -> &str {
        "fuzz:any-excerpts"
    }

    fn ask(&self, question: Operation, request: String, _: usize) -> AnswerFuture<'_> {
        Box::pin(async move {
            match question {
                Operation::Compact => Ok(self.plan(&request).to_string().into_bytes()),
                _ => Err(RemoteError::Status(404)),
            }
        })
    }
}
