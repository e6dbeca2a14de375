//! Several edits of one message.

use serde_json::{Value, json};

use baler_conversation::{Conversation, Format};

use crate::accept::accept;
use crate::fault::{Fault, PlanRule};
use crate::plan::{Change, Edit, Piece, Plan, Span};
use crate::request::{Budget, Pins, Policy, Request};
use crate::situation::Situation;
use crate::strategy::Strategy;

/// Returns a conversation whose unit 1 is a step with pictures after its outputs: in its message 1, parts 0
/// to 2 are the outputs, and 3 to 5 the pictures. Unit 3 is a message of two pictures.
fn charts() -> Conversation {
    let picture = |data: &str| {
        let source = json!({"type": "base64", "media_type": "image/png", "data": data});
        json!({"type": "image", "source": source})
    };
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "chart", "input": {}});
    let output = |id: &str| {
        let content = format!("depth of {id} ").repeat(60);
        json!({"type": "tool_result", "tool_use_id": id, "content": content})
    };
    let pictures = ["YQ==", "Yg==", "Yw=="].map(picture);
    let outputs = [["a", "b", "c"].map(output), pictures].concat();
    let body = json!({"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [
        {"role": "user", "content": "How deep is the harbour?"},
        {"role": "assistant", "content": [call("a"), call("b"), call("c")]},
        {"role": "user", "content": outputs},
        {"role": "assistant", "content": "Nine metres."},
        {"role": "user", "content": [picture("ZA=="), picture("ZQ==")]},
        {"role": "assistant", "content": "Two buoys."},
        {"role": "user", "content": "And the quay?"},
    ]});
    crate::sample::conversation(&body.to_string(), Some(Format::Anthropic))
        .expect("a good conversation")
}

/// Returns the messages of the result of these changes of a message's parts.
fn edited(unit: u32, message: u32, changes: Vec<(u32, Change)>) -> Result<Value, PlanRule> {
    edited_by(&Request::default(), unit, message, changes)
}

/// Like [`edited`], with a request.
fn edited_by(
    request: &Request,
    unit: u32,
    message: u32,
    changes: Vec<(u32, Change)>,
) -> Result<Value, PlanRule> {
    let conversation = charts();
    let request = Request {
        budget: Budget::Share(1.0),
        policy: Policy {
            remove_media: true,
            ..Policy::default()
        },
        ..request.clone()
    };
    let situation = Situation::new(&conversation, &request, false);
    let units = u32::try_from(conversation.units().len()).expect("a few");
    let edits = changes
        .into_iter()
        .map(|(part, change)| Edit {
            message,
            part,
            change,
        })
        .collect();
    let keep = |first, end| {
        Piece::Keep(Span {
            first,
            count: end - first,
        })
    };
    let plan = Plan {
        pieces: vec![
            keep(0, unit),
            Piece::Rewrite { unit, edits },
            keep(unit + 1, units),
        ],
        reasons: Vec::new(),
    };
    match accept(plan, &Strategy::truncate(), &situation) {
        Ok(good) => {
            let document = good.conversation.document();
            let mut body: Value = serde_json::from_str(document).expect("JSON");
            Ok(body["messages"].take())
        }
        Err(Fault::InvalidPlan(fault)) => Err(fault.rule),
        Err(other) => panic!("{other:?}"),
    }
}

#[test]
fn each_edit_changes_only_its_own_part() {
    let changes = vec![
        (0, Change::Text("shallow".to_owned())),
        (2, Change::Text("deep".to_owned())),
        (3, Change::Remove),
        (5, Change::Remove),
    ];
    let messages = edited(1, 1, changes).expect("a good plan");
    let before: Value = serde_json::from_str(charts().document()).expect("JSON");
    let (content, before) = (&messages[2]["content"], &before["messages"][2]["content"]);
    let kinds: Vec<&Value> = (0..4_usize).map(|part| &content[part]["type"]).collect();
    assert_eq!(
        kinds,
        ["tool_result", "tool_result", "tool_result", "image"]
    );
    assert_eq!((&content[1], &content[3]), (&before[1], &before[4]));
    assert_eq!(content[4], Value::Null);
    for (part, id, text) in [(0_usize, "a", "shallow"), (2, "c", "deep")] {
        assert_eq!(content[part]["tool_use_id"], id);
        let own = content[part]["content"].to_string();
        assert!(own.contains(text) && !own.contains("depth of"), "{own}");
    }
}

#[test]
fn edits_cannot_remove_all_parts_of_a_message() {
    let both = vec![(0, Change::Remove), (1, Change::Remove)];
    assert_eq!(edited(3, 0, both), Err(PlanRule::EditNotAllowed));
    let one = edited(3, 0, vec![(1, Change::Remove)]).expect("a good plan");
    assert_eq!(one[4]["content"].as_array().map(Vec::len), Some(1));
}

#[test]
fn edits_cannot_change_units_that_the_caller_named() {
    let text = || vec![(0, Change::Text("shallow".to_owned()))];
    let picture = || vec![(0, Change::Remove)];
    let pinned = Request {
        pins: Pins::Units(vec![1, 3]),
        ..Request::default()
    };
    // The message with the outputs has index 2.
    let live = Request {
        live_from: Some(2),
        ..Request::default()
    };
    for request in [pinned, live] {
        let output = edited_by(&request, 1, 1, text());
        assert_eq!(output, Err(PlanRule::EditNotAllowed), "{request:?}");
        let media = edited_by(&request, 3, 0, picture());
        assert_eq!(media, Err(PlanRule::EditNotAllowed), "{request:?}");
    }
    assert!(edited(1, 1, text()).is_ok() && edited(3, 0, picture()).is_ok());
}
