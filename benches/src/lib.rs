//! Generated conversations for benches, from a seed, and as varied as real ones. Repetitive text would make a
//! tokenizer look faster than it is.

use std::sync::LazyLock;

use serde_json::{Value, json};

/// Pseudo-random numbers from a seed.
#[derive(Debug)]
pub struct Numbers(u64);

impl Numbers {
    /// Starts a sequence.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    /// Returns a number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

/// Words, common ones first. The list is halved at random before each draw, so the first words are drawn most
/// often, as in real text.
static WORDS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    "the to of a and in is that for it this with be on not as are file test error line if from can by return value function name \
     type should which code when use set new ledger invoice account customer balance currency module check result before after \
     missing expected found default config option index parser writer reader buffer column amount period closing transfer \
     rounding migration transaction reference counterpart posting reversal statement reconcile partition threshold serialize \
     deserialize timestamp iterator collection assertion panicked overflow unwrap borrow lifetime deprecated snapshot journal \
     carryover depreciation quarterly subsidiary"
        .split(' ')
        .collect()
});

fn word(numbers: &mut Numbers) -> &'static str {
    let mut end = WORDS.len();
    while end > 12 && numbers.below(2) == 0 {
        end /= 2;
    }
    WORDS[numbers.below(end)]
}

/// Generates about `bytes` of prose, code, paths, numbers and other scripts.
#[must_use]
pub fn text(numbers: &mut Numbers, bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 100);
    while text.len() < bytes {
        let line = match numbers.below(8) {
            0 => format!(
                "    let {}_{} = self.{}({}, &{})?;\n",
                word(numbers),
                word(numbers),
                word(numbers),
                numbers.below(10_000),
                word(numbers)
            ),
            1 => format!(
                "src/{}/{}.rs:{}: error[E{:04}]: {} {}\n",
                word(numbers),
                word(numbers),
                numbers.below(900),
                numbers.below(800),
                word(numbers),
                word(numbers)
            ),
            2 => format!(
                "{{\"id\": \"{:08x}\", \"{}\": {}, \"{}\": \"{}\"}}\n",
                numbers.below(1 << 31),
                word(numbers),
                numbers.below(100_000),
                word(numbers),
                word(numbers)
            ),
            3 => format!(
                "日本語の{}行目、{} を確認。\n",
                numbers.below(500),
                word(numbers)
            ),
            _ => {
                let words: Vec<&str> = (0..12).map(|_| word(numbers)).collect();
                format!("{}.\n", words.join(" "))
            }
        };
        text.push_str(&line);
    }
    text
}

/// Generates an agent's conversation in the format OpenAI Chat, of about `bytes`: a user message every twelve
/// steps, steps with one to three calls, outputs from 200 bytes to 8 kB.
#[must_use]
pub fn agent(bytes: usize) -> String {
    let mut numbers = Numbers::new(0x5eed);
    let mut messages = vec![
        json!({"role": "system", "content": text(&mut numbers, 2_000)}),
        json!({"role": "user", "content": "Move the billing module to the new ledger. Never touch the migrations."}),
    ];
    let (mut size, mut id) = (0, 0);
    for step in 0.. {
        if size >= bytes {
            break;
        }
        let calls = 1 + numbers.below(3);
        let ids: Vec<String> = (id..id + calls).map(|id| format!("call_{id}")).collect();
        id += calls;
        let tool_calls: Vec<Value> = ids
            .iter()
            .map(|id| {
                let arguments = json!({"path": format!("src/{}.rs", word(&mut numbers))}).to_string();
                json!({"id": id, "type": "function", "function": {"name": "read_file", "arguments": arguments}})
            })
            .collect();
        let says = text(&mut numbers, 150);
        size += says.len();
        messages.push(json!({"role": "assistant", "content": says, "tool_calls": tool_calls}));
        for id in ids {
            let length = 200 + numbers.below(90) * numbers.below(90);
            let output = text(&mut numbers, length);
            size += output.len();
            messages.push(json!({"role": "tool", "tool_call_id": id, "content": output}));
        }
        if step % 12 == 11 {
            messages.push(json!({"role": "user", "content": text(&mut numbers, 200)}));
        }
    }
    messages.push(json!({"role": "user", "content": "Go on with the invoices."}));
    json!({"model": "gpt-4o", "messages": messages}).to_string()
}

/// Generates a conversation of `units` short units, for costs that depend on their number.
#[must_use]
pub fn short(units: usize) -> String {
    let messages: Vec<Value> = (0..units)
        .map(|unit| match unit % 2 {
            0 => json!({"role": "user", "content": format!("question {unit}")}),
            _ => json!({"role": "assistant", "content": format!("answer {unit}")}),
        })
        .collect();
    json!({"model": "gpt-4o", "messages": messages}).to_string()
}
