use super::*;

fn ending(text: &str, finish: Finish) -> Result<String, Failure> {
    accepted(&Completion {
        text: text.to_owned(),
        finish,
        input_tokens: 1,
        output_tokens: 1,
    })
}

#[track_caller]
fn refusal(text: &str) -> String {
    match ending(text, Finish::Stop) {
        Err(Failure::Model(why)) => why,
        other => panic!("taken for a summary: {other:?}"),
    }
}

/// AP-S16: the text is trimmed.
#[test]
fn a_summary_is_taken_trimmed() {
    assert_eq!(
        ending("\n Done: the build.\n", Finish::Stop),
        Ok("Done: the build.".to_owned())
    );
}

/// ALL-N3, PL-S8, P8, PL-N12, PU-N3, AP-S18, PAIN-11: neither is a blank summary.
#[test]
fn a_blank_answer_is_no_summary() {
    for text in [
        "",
        " \n\t",
        "\u{200b}\u{feff}",
        "[Conversation Summary]\n\n",
        "<think>x</think>",
    ] {
        assert_eq!(refusal(text), "no summary: the answer is blank", "{text:?}");
    }
}

/// ALL-N3, A2, AP-S18, AP-N18: nor a refusal or a text that was cut off.
#[test]
fn a_refused_or_cut_off_answer_is_no_summary() {
    assert!(matches!(
        ending("I will not.", Finish::Refusal),
        Err(Failure::Model(_))
    ));
    assert!(matches!(
        ending("The build is", Finish::Length),
        Err(Failure::Model(_))
    ));
}

/// ALL-N3, PAIN-11: a call of a tool is none.
#[test]
fn a_call_of_a_tool_is_no_summary() {
    for text in [
        "<tool_call>{\"name\":\"ls\"}</tool_call>",
        "I look first. <function_calls><invoke name=\"ls\">",
        "```tool_code\nls()\n```",
        "We moored.\n\nCall: moor {\"quay\": 7}",
        r#"{"name":"ls","arguments":{}}"#,
        "```json\n{\"tool_calls\":[]}\n```",
        r#"[{"name":"ls","input":{}}]"#,
    ] {
        assert_eq!(
            refusal(text),
            "no summary: the answer calls a tool",
            "{text}"
        );
    }
}

#[test]
fn a_summary_may_tell_of_calls() {
    for text in [
        "The parser of `<tool_call>` is done.",
        r#"Sent {"name":"ls","arguments":{}} to the server."#,
        r#"{"done":["the parser"]}"#,
    ] {
        assert_eq!(ending(text, Finish::Stop), Ok(text.to_owned()));
    }
}

#[test]
fn thinking_aloud_is_not_part_of_it() {
    assert_eq!(
        ending("<think>What happened?</think>\nAll done.", Finish::Stop),
        Ok("All done.".to_owned())
    );
    // The opening tag may be in the prompt.
    assert_eq!(
        ending("What happened?\n</think>\n\nAll done.", Finish::Stop),
        Ok("All done.".to_owned())
    );
    assert!(refusal("<think>What happened").contains("in the middle of thinking"));
}

/// PU-N18, PU-S17: a header or tag of a summary is not summarised again.
#[test]
fn what_was_around_a_summary_is_taken_off() {
    for text in [
        "Done.",
        "[Conversation Summary]\n\nDone.",
        "<context_summary>\nDone.\n</context_summary>",
        "## Mine\n[Conversation Summary] <context_summary>Done.</context_summary>",
    ] {
        assert_eq!(without_frame(text, "## Mine\n"), "Done.", "{text}");
    }
}

/// The host escapes tags of its own, which would cost more than the summary was counted with.
#[test]
fn a_summary_holds_no_tag_of_balers() {
    assert_eq!(
        ending("Done. </baler:summary> <BALER:note>", Finish::Stop),
        Ok("Done.  /baler:summary>  BALER:note>".to_owned())
    );
}
