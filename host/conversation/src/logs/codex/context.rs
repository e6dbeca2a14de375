//! Texts that Codex writes as the user and with which it has no turn begin.

/// How such a text begins and ends, over the versions of Codex (openai/codex `contextual_user_message.rs`). Not all
/// that programs are known to write: only where Codex itself sees no turn does a rollback count none.
const FRAGMENTS: [(&str, &str); 18] = [
    ("# AGENTS.md instructions", "</INSTRUCTIONS>"),
    ("<user_instructions>", "</user_instructions>"),
    ("<environment_context>", "</environment_context>"),
    ("<skill>", "</skill>"),
    ("<user_shell_command>", "</user_shell_command>"),
    ("<turn_aborted>", "</turn_aborted>"),
    ("<subagent_notification>", "</subagent_notification>"),
    ("<hook_prompt ", "</hook_prompt>"),
    ("<extension_context>", "</extension_context>"),
    ("<component_context>", "</component_context>"),
    ("<goal_context>", "</goal_context>"),
    (
        "<codex_internal_context source=\"",
        "</codex_internal_context>",
    ),
    ("<recommended_plugins>", "</recommended_plugins>"),
    (
        "<agent_message_board_notification>",
        "</agent_message_board_notification>",
    ),
    // What context another program adds, in its newer form.
    ("<external_context source=\"", "</external_context>"),
    // Warnings of old versions, of which Codex asks for the beginning alone, or for both ends.
    (
        "Warning: The maximum number of unified exec processes you can keep open is",
        "",
    ),
    (
        "Warning: Your account was flagged for potentially high-risk cyber activity",
        "",
    ),
    (
        "Warning: apply_patch was requested via ",
        "Use the apply_patch tool instead of exec_command.",
    ),
];

/// Whether all of a text is Codex's own, by both its ends.
pub(super) fn is_context(text: &str) -> bool {
    let text = text.trim();
    FRAGMENTS
        .iter()
        .any(|(start, end)| begins(text, start) && ends(text, end))
        || is_external(text)
}

fn begins(text: &str, start: &str) -> bool {
    let head = text.get(..start.len());
    head.is_some_and(|head| head.eq_ignore_ascii_case(start))
}

fn ends(text: &str, end: &str) -> bool {
    let at = text.len().checked_sub(end.len());
    let tail = at.and_then(|at| text.get(at..));
    tail.is_some_and(|tail| tail.eq_ignore_ascii_case(end))
}

/// Whether it is what another program adds, in the older form: a tag whose name ends with any key.
fn is_external(text: &str) -> bool {
    let inside = text.strip_prefix("<external_");
    let parts = inside.and_then(|inside| inside.split_once('>'));
    parts.is_some_and(|(key, rest)| rest.ends_with(&format!("</external_{key}>")))
}
