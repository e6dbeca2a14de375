//! A native strategy and the component of the same source are one strategy.

use std::collections::BTreeSet;

use std::fs;
use std::path::Path;

use baler_conversation::SecretKey;
use baler_generated::{Choices, Kind, conversation};

use crate::model::scripted::{Scripted, answer};
use crate::request::{Budget, Request};
use crate::runner::Runner;
use crate::{Conversation, Host, Strategy, native, sample};

fn host() -> Host {
    let builder = Host::builder().key(SecretKey::new([7; 32]));
    builder.build().expect("no state that could fail")
}

/// The conversations of the examples, and generated ones of each format.
fn conversations(host: &Host) -> Vec<(String, Conversation)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/conversations");
    let files = fs::read_dir(folder).expect("the examples are there");
    let examples = files.map(|file| file.expect("a file").path());
    let examples = examples.map(|path| {
        (
            path.display().to_string(),
            fs::read_to_string(path).expect("reads"),
        )
    });
    let generated = Kind::ALL.into_iter().flat_map(|kind| {
        (0..12).map(move |seed| {
            let document = conversation(kind, 60, &mut Choices::from_seed(seed)).document();
            (format!("{kind:?} {seed}"), document)
        })
    });
    let read = |(name, document): (String, String)| {
        let conversation = host.read(document).ok()?;
        (conversation.units().len() > 3).then_some((name, conversation))
    };
    examples.chain(generated).filter_map(read).collect()
}

/// Some words of a document: an account of other matters would not be taken.
fn words_of(document: &str) -> String {
    let words = document.split(|c: char| !c.is_alphabetic());
    let words: BTreeSet<&str> = words
        .filter(|word| word.len() > 4 && word.chars().all(char::is_lowercase))
        .collect();
    words.into_iter().take(200).collect::<Vec<&str>>().join(" ")
}

/// Runs the component that ships as `name`, and `native` under the same name, which is part of what they write.
async fn assert_same(name: &'static str, native: impl Runner + Clone + 'static) {
    let host = host();
    let wasm = baler_strategies::by_name(name).expect("it ships").wasm;
    let component = host
        .load(name, wasm)
        .await
        .expect("loads")
        .writing_digests();
    let native = Strategy::native_of(name, native).writing_digests();
    let conversations = conversations(&host);
    assert!(conversations.len() > 50, "{}", conversations.len());
    let mut compacted = 0;
    for (of, conversation) in conversations {
        for share in [0.05, 0.2, 0.5] {
            let request = Request {
                budget: Budget::Share(share),
                ..sample::request()
            };
            let mut results = Vec::new();
            for strategy in [&component, &native] {
                let model = Scripted::new([answer(&words_of(conversation.document()))]);
                let chain = [strategy.clone().with_model(model.grant())];
                let result = host.compact(&conversation, &chain, &request).await;
                let result = result.expect("no archive that could fail");
                compacted += usize::from(result.receipt().strategy.as_deref() == Some(name));
                results.push((result.document().to_owned(), model.asked()));
            }
            let native = results.pop();
            assert_eq!(results.pop(), native, "{of} at {share}");
        }
    }
    assert!(compacted > 100, "{compacted}");
}

#[tokio::test]
async fn tiered_is_native_digest() {
    assert_same("tiered", native::Digest).await;
}

#[tokio::test]
async fn summarize_is_native_summarize() {
    assert_same("summarize", native::Summarize).await;
}
