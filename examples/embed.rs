//! The host in a program of one's own: a `.wasm` strategy decides, the host checks, and the
//! receipt tells.
//!
//! `cargo run --example embed`

use std::process::ExitCode;

use baler_host::{Budget, Compiler, Host, Request, serve_as_compiler};

/// A conversation as an agent would have it at hand: here an agent that waters plants.
fn conversation() -> String {
    let mut messages = vec![serde_json::json!({
        "role": "user",
        "content": "Look after the greenhouse this week. Never water the cacti."
    })];
    for day in 1..=12 {
        messages.push(serde_json::json!({
            "role": "assistant",
            "content": null,
            "tool_calls": [{
                "id": format!("day{day}"),
                "type": "function",
                "function": {"name": "read_sensors", "arguments": format!("{{\"day\":{day}}}")}
            }]
        }));
        let readings: String = (1..=40)
            .map(|bed| {
                format!(
                    "bed {bed}: soil {}%, light {} lx\n",
                    20 + (bed * day) % 60,
                    900 + bed * 7
                )
            })
            .collect();
        messages.push(serde_json::json!({
            "role": "tool", "tool_call_id": format!("day{day}"), "content": readings
        }));
    }
    messages.push(serde_json::json!({"role": "user", "content": "Which beds are dry today?"}));
    serde_json::json!({"model": "gpt-4o", "messages": messages}).to_string()
}

fn main() -> anyhow::Result<ExitCode> {
    // A component is compiled in a child: this program, run once more.
    if let Some(done) = serve_as_compiler() {
        return Ok(done);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(run())?;
    Ok(ExitCode::SUCCESS)
}

async fn run() -> anyhow::Result<()> {
    // One host for the whole program.
    let host = Host::builder().compiler(Compiler::ThisProgram).build()?;

    // Any `.wasm` file will do; this one ships with baler.
    let component = baler_strategies::by_name("mask-tool-outputs")
        .ok_or_else(|| anyhow::anyhow!("it ships with baler"))?;
    let strategy = host.load("mask-tool-outputs", component.wasm).await?;
    let strategy = host.configure(strategy, r#"{"keep": 2}"#).await?;

    // At each step of the agent: is it time, and if so, compact.
    let conversation = host.read(conversation())?;
    let request = Request::default().with_budget(Budget::Tokens(3_000));
    if !host
        .should_compact(&conversation, &strategy, &request)
        .await
        .is_due
    {
        return Ok(());
    }
    let compaction = host.compact(&conversation, &[strategy], &request).await?;

    // `compaction.document()` is the next request's body.
    let receipt = compaction.receipt();
    anstream::println!(
        "{} -> {} tokens by {}, {} units rewritten",
        receipt.tokens.before,
        receipt.tokens.after,
        receipt.strategy.as_deref().unwrap_or("nobody"),
        receipt.units.rewritten,
    );
    Ok(())
}
