//! Measures what each weight of the digest does, and fits them.
//!
//! `cargo xtask weights EPISODES RECORDINGS` prints, for each weight, what half of it and twice of it change: needs of the
//! episodes at 10, 15 and 40 %, and the figures of the recordings at 5, 10, 25 and 50 %, each the mean over the budgets.
//! `--fit` moves one weight after the other, keeps what raises the sum of all figures, and prints the weights that are left.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail};
use baler_eval::corpus::Corpus;
use baler_eval::{Evaluation, Options};
use baler_host::conversation::tokenizers::Tokenizer;
use baler_host::{Host, Strategy};
use serde_json::Value;

/// The table of weights, a line each: `name = value;`.
const TABLE: &str = include_str!("../../guest-strategies/digest/src/weights.rs");

/// The strategy that is measured.
const STRATEGY: &str = "native:digest";

/// Figures with what they count in the sum. Needs are what an agent must know; the others keep names from being lost.
const FIGURES: [(&str, f64); 5] = [
    ("needs", 6.0),
    ("recall", 1.0),
    ("in-context", 2.0),
    ("state", 1.5),
    ("last-error", 0.3),
];

/// The factors by which a weight is moved while fitting, and the least that a move has to gain.
const MOVES: [f64; 4] = [1.7, 1.0 / 1.7, 1.3, 1.0 / 1.3];
const LEAST_GAIN: f64 = 0.002;

/// Variables of the environment by which the digest takes other weights.
const VARIABLE: &str = "WEIGHT_";

type Weights = BTreeMap<String, f64>;
type Figures = BTreeMap<String, f64>;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["--measure", episodes, recordings] => measure(episodes, recordings),
        [episodes, recordings] => moved(episodes, recordings),
        ["--fit", episodes, recordings] => fit(episodes, recordings),
        _ => bail!(
            "usage: cargo xtask weights [--fit] EPISODES RECORDINGS; `cargo run --package baler-generated --bin episodes` makes episodes"
        ),
    }
}

/// Returns the weights of the table.
fn table() -> Weights {
    let lines = TABLE.lines().filter_map(|line| {
        let (name, value) = line.trim().strip_suffix(';')?.split_once(" = ")?;
        Some((name.to_owned(), value.parse().ok()?))
    });
    lines.collect()
}

/// Prints the figures of this process's weights as JSON.
fn measure(episodes: &str, recordings: &str) -> anyhow::Result<()> {
    let host = Host::builder()
        .without_archive()
        .tokenizer(Tokenizer::characters())
        .build()?;
    let strategy = Strategy::native(STRATEGY).context("it is built in")?;
    let mut figures = Figures::new();
    for (folder, budgets) in [
        (episodes, vec![0.1, 0.15, 0.4]),
        (recordings, vec![0.05, 0.1, 0.25, 0.5]),
    ] {
        let corpus = Corpus::read(Path::new(folder))
            .with_context(|| format!("`{folder}` is not a folder; name one with conversations"))?;
        let number = budgets.len() as f64;
        let options = Options {
            budgets,
            ..Options::default()
        };
        let evaluation = Evaluation::run(
            &host,
            std::slice::from_ref(&strategy),
            &corpus.conversations,
            &options,
            &Evaluation::default(),
            &|_| Ok(()),
        )?;
        let json = baler_eval::json(&evaluation);
        let rows = json["summary"].as_array().into_iter().flatten();
        for row in rows.filter(|row| row["strategy"] == STRATEGY && row["set"] == "all") {
            for (name, figure) in row["figures"].as_object().into_iter().flatten() {
                // Of episodes only their needs count: their names are made up.
                if let Some(mean) = figure["mean"].as_f64()
                    && (name == "needs") == (folder == episodes)
                {
                    *figures.entry(name.clone()).or_default() += mean / number;
                }
            }
        }
    }
    anstream::println!("{}", serde_json::to_string(&figures)?);
    Ok(())
}

/// Returns the figures of other weights, which a child of this program measures.
fn figures(weights: &Weights, episodes: &str, recordings: &str) -> anyhow::Result<Figures> {
    let mut child = Command::new(std::env::current_exe()?);
    child.args(["--measure", episodes, recordings]);
    for (name, value) in weights {
        child.env(format!("{VARIABLE}{name}"), value.to_string());
    }
    let output = child.output()?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr));
    }
    let figures: Value = serde_json::from_slice(&output.stdout)?;
    let figures = figures.as_object().into_iter().flatten();
    Ok(figures
        .filter_map(|(name, mean)| Some((name.clone(), mean.as_f64()?)))
        .collect())
}

fn figure(figures: &Figures, name: &str) -> f64 {
    figures.get(name).copied().unwrap_or(0.0)
}

fn sum(figures: &Figures) -> f64 {
    let all = FIGURES.iter();
    all.map(|(name, counts)| counts * figure(figures, name))
        .sum()
}

/// Prints what half and twice of each weight change, in thousandths.
fn moved(episodes: &str, recordings: &str) -> anyhow::Result<()> {
    let weights = table();
    let base = figures(&weights, episodes, recordings)?;
    let names = FIGURES.map(|(name, _)| name);
    anstream::println!("| weight | value | times | {} |", names.join(" | "));
    anstream::println!("|---|---|---|{}", "---|".repeat(names.len()));
    let row = |name: &str, value: f64, times: &str, cells: Vec<String>| {
        anstream::println!("| {name} | {value} | {times} | {} |", cells.join(" | "));
    };
    let cells = names.map(|name| format!("{:.3}", figure(&base, name)));
    row("all as they are", 1.0, "1", cells.to_vec());
    for (name, value) in &weights {
        for (times, factor) in [("1/2", 0.5), ("2", 2.0)] {
            let mut other = weights.clone();
            other.insert(name.clone(), value * factor);
            let other = figures(&other, episodes, recordings)?;
            let change = |name| 1_000.0 * (figure(&other, name) - figure(&base, name));
            let cells = names.map(|name| format!("{:+.0}", change(name)));
            row(name, *value, times, cells.to_vec());
        }
    }
    Ok(())
}

/// Moves one weight after the other as long as that gains, and prints the weights.
fn fit(episodes: &str, recordings: &str) -> anyhow::Result<()> {
    let mut weights = table();
    let mut best = sum(&figures(&weights, episodes, recordings)?);
    let mut gains = true;
    while std::mem::take(&mut gains) {
        for name in table().into_keys() {
            for factor in MOVES {
                let mut other = weights.clone();
                let value = weights[&name] * factor;
                other.insert(name.clone(), (value * 1e4).round() / 1e4);
                let sum = sum(&figures(&other, episodes, recordings)?);
                if sum > best + LEAST_GAIN {
                    anstream::eprintln!("{name} = {}: {:+.4}", other[&name], sum - best);
                    (weights, best, gains) = (other, sum, true);
                    break;
                }
            }
        }
    }
    for (name, value) in weights {
        anstream::println!("{name} = {value:?};");
    }
    Ok(())
}
