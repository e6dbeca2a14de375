use crate::{Media, PartTraits, ToolOutput};

/// A tool call of a step, with or without its output.
#[derive(Debug, Clone)]
pub struct Call {
    pub(super) name: String,
    pub(super) arguments: String,
    pub(super) output: Option<ToolOutput>,
    /// What a plan may do with the output, and whether an earlier compaction wrote it.
    pub(super) rights: PartTraits,
}

/// Returns a call with its output.
pub fn call(name: &str, arguments: &str, output: &str) -> Call {
    Call {
        output: Some(ToolOutput {
            call_id: String::new(),
            name: name.to_owned(),
            failed: false,
            text: output.to_owned(),
            media: Vec::new(),
        }),
        ..pending(name, arguments)
    }
}

/// Returns a call that failed, with its output.
pub fn failed(name: &str, arguments: &str, output: &str) -> Call {
    let mut call = call(name, arguments, output);
    if let Some(output) = &mut call.output {
        output.failed = true;
    }
    call
}

/// Returns a pending call: it has no output yet.
pub fn pending(name: &str, arguments: &str) -> Call {
    Call {
        name: name.to_owned(),
        arguments: arguments.to_owned(),
        output: None,
        rights: PartTraits::REWRITABLE | PartTraits::EXCERPTABLE,
    }
}

impl Call {
    /// Adds a picture to the output.
    #[must_use]
    pub fn with_picture(mut self) -> Self {
        if let Some(output) = &mut self.output {
            output.media.push(Media {
                kind: "image/png".to_owned(),
                name: None,
                bytes: 4000,
            });
        }
        self
    }

    /// Marks the output as rewritten by an earlier compaction.
    #[must_use]
    pub fn rewritten(mut self) -> Self {
        self.rights |= PartTraits::REWRITTEN;
        self
    }

    /// Makes the output one that a plan may not rewrite.
    #[must_use]
    pub fn fixed(mut self) -> Self {
        self.rights
            .remove(PartTraits::REWRITABLE | PartTraits::EXCERPTABLE);
        self
    }

    /// Makes the output one of which a plan may keep an excerpt, but no other words.
    #[must_use]
    pub fn verbatim(mut self) -> Self {
        self.rights.remove(PartTraits::REWRITABLE);
        self
    }
}
