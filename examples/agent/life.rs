//! An agent's life: it talks to a model server that fails now and then, and its history is kept
//! within a small window by a compactor whose own model fails as well. All from a seed.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use baler_host::{
    Compactor, CompactorOptions, Host, Limits, Receipt, Strategy, compactor::Step,
    conversation::SecretKey, model::ModelGrant, receipt::Outcome,
};
use baler_models::clients::{Client, KeySource, ModelChoice};
use baler_models::testing::{Reply, ScriptedServer};
use baler_models::{Answer, Finish, Provider};
use serde_json::{Value, json};

use super::numbers::Numbers;
use super::provider::{Provided, Server};

/// Tokens of the agent's model.
const WINDOW: u32 = 16_000;

/// What must never be lost: the task, with its rules.
const TASK: &str = "Mend the tariff of the harbour office. Never touch anything under vendor/. \
The test account is HX-77120, and the deadline is Friday at noon.";
const FACTS: [&str; 3] = ["vendor/", "HX-77120", "Friday at noon"];

const SYSTEM: &str = "You are a careful engineer. You work alone until the task is done.";

/// Steps after which the agent is stopped and goes on from what it saved.
const RESTART: usize = 250;

/// Words of an output that takes 60 % of the window; a word has about 1.2 tokens.
const GIANT: usize = WINDOW as usize / 2;

/// What an output that the host shortened begins with.
const SHORTENED: &str = "<baler:excerpt by=\"baler\"";

/// What happened.
#[derive(Debug, Default)]
pub(crate) struct Story {
    pub(crate) seed: u64,
    pub(crate) steps: usize,
    pub(crate) messages: usize,
    pub(crate) requests: usize,
    pub(crate) refused: usize,
    pub(crate) overflows: usize,
    pub(crate) restarts: usize,
    /// Outputs that took 60 % of the window, and outputs that were shortened before the model saw them.
    pub(crate) giants: usize,
    pub(crate) shortened: usize,
    pub(crate) by_model: usize,
    pub(crate) by_digest: usize,
    pub(crate) by_truncation: usize,
    pub(crate) failed: usize,
    pub(crate) held: usize,
    pub(crate) questions: u32,
    pub(crate) questions_failed: u32,
    /// The most compactions in consecutive steps.
    pub(crate) most_in_a_row: usize,
    pub(crate) largest: u32,
    pub(crate) time: Duration,
    pub(crate) slowest: Duration,
    in_a_row: usize,
    highlights: Vec<String>,
}

/// Lives through so many steps. At every so many of them, where that is not 0, one tool output
/// takes 60 % of the window.
pub(crate) async fn live(seed: u64, steps: usize, giant_every: usize) -> anyhow::Result<Story> {
    let mut numbers = Numbers::new(seed);
    let summarizer = ScriptedServer::start([]).context("no port for the summarizer's model")?;
    let server = Server::start().context("no port for the agent's model")?;
    let host = Arc::new(Host::builder().key(SecretKey::new([7; 32])).build()?);
    let chain = chain(&host, &summarizer).await?;
    let first = json!({"model": "gpt-4o", "messages": [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": TASK},
    ]});
    let conversation = host.read(first.to_string())?;
    let mut compactor = Compactor::new(Arc::clone(&host), conversation, chain.clone(), options())?;
    let mut story = Story {
        seed,
        ..Story::default()
    };
    let start = Instant::now();
    // The outputs that the model has not seen, as they came.
    let mut unseen: Vec<Value> = Vec::new();
    for number in 1..=steps {
        story.steps = number;
        prepare(&summarizer, &mut numbers);
        let begin = Instant::now();
        let step = compactor.step().await?;
        story.note(number, &step, &compactor, begin.elapsed());
        check(&compactor, &unseen).with_context(|| format!("seed {seed}, step {number}"))?;
        let said = converse(
            &host,
            &mut compactor,
            &server,
            &summarizer,
            &mut numbers,
            &mut story,
            &unseen,
        )
        .await
        .with_context(|| format!("seed {seed}, step {number}"))?;
        let is_giant = giant_every > 0 && number % giant_every == 0;
        unseen = act(&mut compactor, &said, &mut numbers, is_giant)?;
        story.giants += usize::from(is_giant && !unseen.is_empty());
        if number % RESTART == 0 {
            let saved = compactor.save()?;
            compactor = Compactor::resume(Arc::clone(&host), &saved, chain.clone(), options())?;
            story.restarts += 1;
        }
    }
    story.messages = compactor.history().count();
    story.time = start.elapsed();
    ensure!(
        story.messages > steps,
        "only {} messages came",
        story.messages
    );
    Ok(story)
}

fn options() -> CompactorOptions {
    CompactorOptions::default().with_context_window(Some(WINDOW))
}

/// A model's summary first; without it the digest.
async fn chain(host: &Host, summarizer: &ScriptedServer) -> anyhow::Result<Vec<Strategy>> {
    let address = summarizer.base_url(Provider::Compatible);
    let client = Client::builder(ModelChoice::compatible(address.parse()?, "small")?)
        .key(KeySource::None)
        .context_window(32_000)
        .attempt_timeout(Duration::from_millis(300))
        .build()?;
    let bundled = baler_strategies::by_name("summarize").context("it ships with baler")?;
    let limits = Limits::default().with_model_time(Duration::from_millis(600));
    let strategy = host
        .load(bundled.name, bundled.wasm)
        .await?
        .with_limits(limits)
        .with_model(ModelGrant::new(Arc::new(client)));
    Ok(vec![strategy, Strategy::digest()])
}

/// What the summarizer's model says next: mostly a summary.
fn prepare(summarizer: &ScriptedServer, numbers: &mut Numbers) {
    let provider = Provider::Compatible;
    let reply = match numbers.below(12) {
        0 => Reply::error(provider, 401, "wrong key"),
        1 => Reply::body(200, "text/html", "<html>maintenance</html>"),
        2 => Reply::refusal(provider),
        3 => Reply::cut_off(provider, "We were just"),
        4 => Reply::tool_call(provider),
        5 => Reply::text(provider, "  \n"),
        6 => Reply::error(provider, 429, "slow down").header("retry-after", "60"),
        7 if numbers.below(4) == 0 => Reply::silence(),
        _ => {
            let text = format!(
                "The tariff is being mended. Case {} was read and its test runs. An error is open: there is no such file.",
                numbers.below(90)
            );
            let answer = Answer::new(text, Finish::Stop).with_usage(900, 30);
            Reply::answer(provider, &answer)
        }
    };
    summarizer.set_default_reply(reply);
}

/// What the agent is about to send: valid, within the window, with nothing of the task lost, and
/// with all that the model has not seen.
fn check(compactor: &Compactor, unseen: &[Value]) -> anyhow::Result<()> {
    let conversation = compactor.conversation();
    if let Some(violation) = conversation.violations().first() {
        bail!("the request breaks a rule: {violation}");
    }
    let document = compactor.document();
    baler_corpus::sound::check("openai-chat", document, document).map_err(anyhow::Error::msg)?;
    let tokens = compactor.tokens();
    ensure!(tokens <= WINDOW, "the request has {tokens} tokens");
    for fact in FACTS {
        ensure!(document.contains(fact), "`{fact}` is lost");
    }
    check_unseen(document, unseen)
}

/// Checks that every unseen output follows its call, whole or as the host shortened it.
fn check_unseen(document: &str, unseen: &[Value]) -> anyhow::Result<()> {
    let body: Value = serde_json::from_str(document)?;
    let messages = body["messages"].as_array();
    let messages = messages.context("the request has no messages")?;
    let last = messages.iter().rposition(|own| own["role"] == "assistant");
    let (answered, behind) = messages.split_at(last.map_or(0, |last| last + 1));
    let calling = answered.last();
    for output in unseen {
        let id = &output["tool_call_id"];
        let calls = calling.and_then(|own| own["tool_calls"].as_array());
        let is_called = calls.into_iter().flatten().any(|call| call["id"] == *id);
        ensure!(is_called, "the call of an unseen output is lost");
        let found = behind.iter().find(|own| own["tool_call_id"] == *id);
        let content = &found.context("an unseen output is lost")?["content"];
        let is_shortened = content
            .as_str()
            .is_some_and(|text| text.starts_with(SHORTENED));
        ensure!(
            is_shortened || *content == output["content"],
            "an unseen output was rewritten"
        );
    }
    Ok(())
}

/// Sends the request until the model answers.
async fn converse(
    host: &Host,
    compactor: &mut Compactor,
    server: &Server,
    summarizer: &ScriptedServer,
    numbers: &mut Numbers,
    story: &mut Story,
    unseen: &[Value],
) -> anyhow::Result<Value> {
    for _ in 0..20 {
        story.requests += 1;
        let provided = match numbers.below(20) {
            0 => Provided::Error(500),
            1 => Provided::Error(529),
            2 => Provided::CloseMidAnswer,
            3 if numbers.below(4) == 0 => Provided::TooLong,
            _ => Provided::Answer,
        };
        let answer = response(host, compactor.document(), numbers)?;
        match server.ask(compactor.document(), provided, &answer)? {
            Ok(said) => {
                let message = said["choices"][0]["message"].clone();
                compactor.append(&message.to_string())?;
                if let Some(tokens) = said["usage"]["total_tokens"].as_u64() {
                    compactor.reported(u32::try_from(tokens)?);
                }
                return Ok(message);
            }
            Err(413) => {
                story.overflows += 1;
                prepare(summarizer, numbers);
                let step = compactor.overflowed().await?;
                story.note_receipts(&step.receipts);
                check(compactor, unseen)?;
            }
            Err(_) => story.refused += 1,
        }
    }
    bail!("the model did not answer in twenty tries")
}

/// What the agent's model answers: words, or one to three calls, and what it cost.
fn response(host: &Host, request: &str, numbers: &mut Numbers) -> anyhow::Result<Value> {
    let calls: Vec<Value> = (0..numbers.below(4))
        .map(|_| {
            let tool = ["read_file", "run_tests", "search"][numbers.below(3)];
            let arguments = json!({"path": format!("src/tariff/case_{}.rs", numbers.below(200))});
            json!({"id": format!("call_{:016x}", numbers.next()), "type": "function",
                   "function": {"name": tool, "arguments": arguments.to_string()}})
        })
        .collect();
    let mut message = json!({"role": "assistant", "content": numbers.prose(10, 120)});
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    // Providers count a little otherwise than baler, whatever it was corrected to; some count nothing.
    let counted = f64::from(host.read(request.to_owned())?.tokens());
    let factor = 1.0 + numbers.below(20) as f64 / 100.0;
    let usage = match numbers.below(5) {
        0 => Value::Null,
        _ => json!({"total_tokens": (counted * factor) as u64}),
    };
    Ok(json!({"choices": [{"message": message}], "usage": usage}))
}

/// Runs the tools that were called; without any the user says something. Returns the outputs.
fn act(
    compactor: &mut Compactor,
    said: &Value,
    numbers: &mut Numbers,
    is_giant: bool,
) -> anyhow::Result<Vec<Value>> {
    let calls = said["tool_calls"].as_array();
    let mut outputs = Vec::new();
    for call in calls.into_iter().flatten() {
        let content = match numbers.below(10) {
            _ if is_giant && outputs.is_empty() => giant(numbers),
            0 => format!("error: no such file: {}", numbers.prose(3, 8)),
            1 => numbers.prose(600, 2_000),
            _ => numbers.prose(20, 300),
        };
        let output = json!({"role": "tool", "tool_call_id": call["id"], "content": content});
        compactor.append(&output.to_string())?;
        outputs.push(output);
    }
    if calls.is_none() {
        let wish = json!({"role": "user", "content": format!("Go on. {}", numbers.prose(5, 60))});
        compactor.append(&wish.to_string())?;
    }
    Ok(outputs)
}

fn giant(numbers: &mut Numbers) -> String {
    let lines = (0..GIANT / 10).map(|_| numbers.prose(10, 11));
    lines.collect::<Vec<_>>().join("\n")
}

impl Story {
    fn note(&mut self, number: usize, step: &Step, compactor: &Compactor, time: Duration) {
        self.slowest = self.slowest.max(time);
        self.largest = self.largest.max(compactor.tokens());
        self.held += usize::from(step.held);
        self.in_a_row = if step.is_compacted() {
            self.in_a_row + 1
        } else {
            0
        };
        self.most_in_a_row = self.most_in_a_row.max(self.in_a_row);
        self.note_receipts(&step.receipts);
        if step.is_compacted()
            && self.compactions().is_multiple_of(40)
            && let Some(receipt) = step.receipts.last()
        {
            self.highlights.push(format!(
                "  step {number:>5}: {:>6} → {:>5} tokens by {}",
                receipt.tokens.before,
                receipt.tokens.after,
                receipt.strategy.as_deref().unwrap_or_default()
            ));
        }
    }

    fn note_receipts(&mut self, receipts: &[Receipt]) {
        for receipt in receipts {
            self.shortened += receipt.units.texts_shortened;
            for model in receipt.attempts.iter().filter_map(|attempt| attempt.model) {
                self.questions += model.calls;
                self.questions_failed += model.failed;
            }
            match (receipt.outcome, receipt.strategy.as_deref()) {
                (Outcome::Compacted, Some("summarize")) => self.by_model += 1,
                (Outcome::Compacted, Some("native:digest")) => self.by_digest += 1,
                (Outcome::Compacted, _) => self.by_truncation += 1,
                _ => self.failed += 1,
            }
        }
    }

    /// Compactions that changed something.
    pub(crate) fn compactions(&self) -> usize {
        self.by_model + self.by_digest + self.by_truncation
    }
}

impl fmt::Display for Story {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            seed,
            steps,
            messages,
            requests,
            refused,
            overflows,
            restarts,
            giants,
            shortened,
            by_model,
            by_digest,
            by_truncation,
            failed,
            held,
            questions,
            questions_failed,
            most_in_a_row,
            largest,
            time,
            slowest,
            ..
        } = self;
        let compactions = self.compactions();
        writeln!(
            f,
            "An agent's life of {steps} steps, from seed {seed}
  window            {WINDOW:>7} tokens; the largest request had {largest}
  messages          {messages:>7}, {requests} requests, {restarts} restarts
  its model         {refused:>7} times did not answer, {overflows} times found the request too long
  compactions       {compactions:>7}: {by_model} by a model's summary, {by_digest} by the digest, {by_truncation} by truncation
  the summarizer    {questions:>7} times asked, {questions_failed} times without an answer
  came to nothing   {failed:>7} compactions; {held} steps waited before the next try
  unseen outputs    {giants:>7} took 60 % of the window; {shortened} were shortened
  in a row          {most_in_a_row:>7} compactions at most
  time              {:>7.1} s; the slowest step {:.0} ms",
            time.as_secs_f64(),
            slowest.as_secs_f64() * 1e3
        )?;
        for line in &self.highlights {
            writeln!(f, "{line}")?;
        }
        let facts = FACTS.join(", ");
        write!(
            f,
            "Every request was valid, and held each output that the model had not seen and the task: {facts}"
        )
    }
}
