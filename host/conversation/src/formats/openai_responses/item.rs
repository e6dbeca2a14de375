//! The types of items, as far as baler has to tell them apart.

use crate::formats::meaning;
use crate::model::message::Meaning;
pub(crate) use crate::model::message::{FUNCTION, LOCAL_SHELL, TOOL_SEARCH};

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Message,
    Reasoning,
    /// A call that the client answers.
    Call,
    /// An answer to such a call.
    Output,
    /// Tools or settings that change on the way.
    Tools,
    /// A request for approval, which names itself by `id`.
    ApprovalRequest,
    ApprovalResponse,
    Compaction,
    /// Anything else: the provider's own tools, references, and what came after this was
    /// written.
    Other,
}

/// The type of items that stand for others, which the provider stored.
pub(super) const REFERENCE: &str = "item_reference";

/// How the provider's ids of reasoning begin.
pub(super) const REASONING: &str = "rs_";

/// How those of messages begin.
const MESSAGE: &str = "msg_";

/// How those of compactions begin.
const COMPACTION_ID: &str = "cmp_";

/// How those of calls of the client's own tools begin.
const CALLS: [&str; 2] = ["fc_", "ctc_"];

/// How the id begins that OpenAI's Agents SDK gives to all items of models that are not asked through
/// Responses.
const MADE_UP: &str = "__fake_id__";

/// Whether an id is not a provider's: many items have the same, and it is taken off before they are sent.
pub(super) fn is_made_up(id: &str) -> bool {
    id.starts_with(MADE_UP)
}

/// Whether an item is a reference to a call, by which the model has seen what came before.
pub(super) fn refers_to_call(kind: &str, id: &str) -> bool {
    kind == REFERENCE && CALLS.iter().any(|start| id.starts_with(start))
}

/// Whether an item is a reference to what the provider's own compaction left.
pub(super) fn refers_to_compaction(kind: &str, id: &str) -> bool {
    kind == REFERENCE && id.starts_with(COMPACTION_ID)
}

/// Whether an item is a reference whose id does not say what it stands for. Most ids of calls and of
/// outputs begin alike.
pub(super) fn refers_to_anything(kind: &str, id: &str) -> bool {
    let is_known = [REASONING, MESSAGE, COMPACTION_ID]
        .iter()
        .any(|start| id.starts_with(start));
    kind == REFERENCE && !is_known
}

/// The type of a compaction by the provider.
pub(super) const COMPACTION: &str = "compaction";

/// The member of reasoning that only the provider can read.
pub(super) const ENCRYPTED: &str = "encrypted_content";

/// The type of a picture that the provider made. The item holds its data.
const GENERATED_PICTURE: &str = "image_generation_call";

/// The type of a request that the user approve a call.
const APPROVAL_REQUEST: &str = "mcp_approval_request";

/// The kind of programs.
pub(crate) const PROGRAM: &str = "program";

/// Types of items that other formats do not have.
pub(super) fn is_known(kind: &str) -> bool {
    !kind.is_empty()
        && !matches!(kind, "text")
        && (kind == "message" || of(kind, false) != Kind::Other || is_hosted(kind))
}

/// What an item of this type is. `has_call_id` distinguishes the client's searches from the provider's
/// own, and helps with types of a later time.
pub(crate) fn of(kind: &str, has_call_id: bool) -> Kind {
    match kind {
        "message" => Kind::Message,
        "reasoning" => Kind::Reasoning,
        "additional_tools" | "configuration_update" => Kind::Tools,
        APPROVAL_REQUEST => Kind::ApprovalRequest,
        "mcp_approval_response" => Kind::ApprovalResponse,
        COMPACTION | "compaction_summary" => Kind::Compaction,
        "function_call" | "custom_tool_call" | "local_shell_call" | "shell_call"
        | "computer_call" | "apply_patch_call" | "program" => Kind::Call,
        "tool_search_call" if has_call_id => Kind::Call,
        "tool_search_output" if has_call_id => Kind::Output,
        "function_call_output"
        | "custom_tool_call_output"
        | "local_shell_call_output"
        | "shell_call_output"
        | "computer_call_output"
        | "apply_patch_call_output"
        | "program_output" => Kind::Output,
        // Some servers give these a `call_id` too.
        _ if is_hosted(kind) => Kind::Other,
        _ if has_call_id && kind.ends_with("_output") => Kind::Output,
        _ if has_call_id && kind.ends_with("_call") => Kind::Call,
        _ => Kind::Other,
    }
}

/// The meaning of an item or part that is not read, by its type.
pub(super) fn meaning(kind: &str) -> Meaning {
    match kind {
        GENERATED_PICTURE => Meaning::Picture,
        APPROVAL_REQUEST => Meaning::ApprovalRequest,
        "compaction_trigger" => Meaning::CompactionRequest,
        _ => meaning::of_type(kind),
    }
}

/// The kind of a call, or that of the calls that an output answers; empty where the type tells of
/// none. The provider looks for a call of the output's own kind ("No tool call found for custom
/// tool call output").
pub(crate) fn answers(kind: &str) -> &'static str {
    match kind {
        "function_call" | "function_call_output" => FUNCTION,
        "custom_tool_call" | "custom_tool_call_output" => "custom tool",
        "local_shell_call" | "local_shell_call_output" => LOCAL_SHELL,
        "shell_call" | "shell_call_output" => "shell",
        "computer_call" | "computer_call_output" => "computer",
        "apply_patch_call" | "apply_patch_call_output" => "patch",
        "program" | "program_output" => PROGRAM,
        "tool_search_call" | "tool_search_output" => TOOL_SEARCH,
        _ => "",
    }
}

/// Whether an item that is not read is something that the model did: it used a tool of the
/// provider's own, whose output it saw. A list of tools, a reference and a type of a later time tell
/// of nothing that it did.
pub(super) fn is_act(kind: &str) -> bool {
    is_hosted(kind) && !matches!(kind, "mcp_list_tools" | REFERENCE)
}

/// Whether an item holds what a tool of the provider's own returned, for the model to go on with. A
/// picture that it made is for the user.
pub(super) fn gives_back(kind: &str) -> bool {
    is_act(kind) && kind != GENERATED_PICTURE
}

/// Tools that the provider runs itself: no output of the client's answers them.
fn is_hosted(kind: &str) -> bool {
    matches!(
        kind,
        "web_search_call"
            | "file_search_call"
            | "code_interpreter_call"
            | GENERATED_PICTURE
            | "mcp_list_tools"
            | "mcp_call"
            | "tool_search_call"
            | "tool_search_output"
            | REFERENCE
    )
}
