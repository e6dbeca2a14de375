//! Reads a request body, its list of messages, or a session log into a conversation.

use std::fmt;
use std::sync::Arc;

use crate::conversation::{BodyReader, Conversation, Reported};
use crate::deadline::Deadline;
use crate::formats::Body;
use crate::logs::{self, Log};
use crate::marks::SecretKey;
use crate::model::document::Document;
use crate::model::format::Format;
use crate::model::log::LogError;
use crate::model::message::Message;
use crate::model::read_error::ReadError;
use crate::tokens::{Tokenizer, Tokenizers};

/// Options for reading a document.
#[derive(Default, Clone, Copy)]
#[non_exhaustive]
pub struct ReadOptions<'a> {
    /// The wire format. Default: that of the reader, or else the detected one.
    pub format: Option<Format>,
    /// Tokens that the provider reported for all of it, as input and output of its last
    /// response. Counts are corrected to agree with it. Default: what a log recorded.
    pub used: Option<u32>,
    /// Called after each message with the bytes of messages read so far and in total.
    pub progress: Option<&'a dyn Fn(usize, usize)>,
    /// The deadline of reading, which fails with [`ReadError::OutOfTime`] if it takes longer.
    pub deadline: Option<&'a Deadline>,
    /// The indices of the messages of a body that are summaries by another program. Their texts do not count as
    /// words of the user. In a session log they are recognised without this. Default: empty.
    pub recorded_summaries: &'a [usize],
}

impl<'a> ReadOptions<'a> {
    /// Returns the same options with another [`format`](Self#structfield.format).
    #[must_use]
    pub fn with_format(mut self, format: impl Into<Option<Format>>) -> Self {
        self.format = format.into();
        self
    }

    /// Returns the same options with another [`used`](Self#structfield.used).
    #[must_use]
    pub fn with_used(mut self, used: impl Into<Option<u32>>) -> Self {
        self.used = used.into();
        self
    }

    /// Returns the same options with another [`progress`](Self#structfield.progress).
    #[must_use]
    pub fn with_progress(mut self, progress: Option<&'a dyn Fn(usize, usize)>) -> Self {
        self.progress = progress;
        self
    }

    /// Returns the same options with another [`deadline`](Self#structfield.deadline).
    #[must_use]
    pub fn with_deadline(mut self, deadline: impl Into<Option<&'a Deadline>>) -> Self {
        self.deadline = deadline.into();
        self
    }

    /// Returns the same options with other [`recorded_summaries`](Self#structfield.recorded_summaries).
    #[must_use]
    pub fn with_recorded_summaries(mut self, recorded_summaries: &'a [usize]) -> Self {
        self.recorded_summaries = recorded_summaries;
        self
    }
}

impl fmt::Debug for ReadOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadOptions")
            .field("format", &self.format)
            .field("used", &self.used)
            .field("progress", &self.progress.is_some())
            .field("deadline", &self.deadline)
            .field("recorded_summaries", &self.recorded_summaries)
            .finish()
    }
}

/// Reads documents: request bodies, their lists of messages, and the logs of sessions.
///
/// A reader caches token counts, so a program should use one reader for all its conversations.
#[derive(Debug)]
pub struct Reader {
    format: Option<Format>,
    tokenizer: Option<Tokenizer>,
    tokenizers: Tokenizers,
    key: SecretKey,
}

impl Reader {
    /// Creates a reader. Its conversations recognise the marks that `key` sealed, and seal new ones with it.
    #[must_use]
    pub fn new(key: SecretKey) -> Self {
        Self {
            format: None,
            tokenizer: None,
            tokenizers: Tokenizers::default(),
            key,
        }
    }

    /// Sets the format of all documents. Default: it is detected.
    #[must_use]
    pub fn with_format(mut self, format: Option<Format>) -> Self {
        self.format = format;
        self
    }

    /// Sets the tokenizer for all documents. Default: that of the model that a document names.
    #[must_use]
    pub fn with_tokenizer(mut self, tokenizer: Option<Tokenizer>) -> Self {
        self.tokenizer = tokenizer;
        self
    }

    /// Returns the key that seals marks.
    #[must_use]
    pub fn key(&self) -> &SecretKey {
        &self.key
    }

    /// Returns the format that was set for all documents; `None` if it is detected.
    #[must_use]
    pub fn format(&self) -> Option<Format> {
        self.format
    }

    /// The tokenizer for a model, by the model's name, where none was set.
    #[must_use]
    pub(crate) fn tokenizer_for(&self, model: &str) -> Tokenizer {
        match &self.tokenizer {
            Some(tokenizer) => tokenizer.clone(),
            None => self.tokenizers.for_model(model),
        }
    }

    /// Reads a document: a request body, its list of messages, or a session log of one of the programs
    /// in [`LogKind`](crate::session_logs::LogKind), which becomes the body of the session's next request.
    ///
    /// # Errors
    /// The document is not a conversation in a known format. One that breaks rules of its format is no error:
    /// see [`Conversation::violations`].
    pub fn read(&self, document: impl Into<Arc<str>>) -> Result<Conversation, ReadError> {
        self.read_text(document.into(), ReadOptions::default())
    }

    /// Reads a document from bytes.
    ///
    /// # Errors
    /// As [`Reader::read`]; or the document is not UTF-8.
    pub fn read_bytes(&self, document: Vec<u8>) -> Result<Conversation, ReadError> {
        self.read_with(document, ReadOptions::default())
    }

    /// Reads a document with options.
    ///
    /// # Errors
    /// As [`Reader::read_bytes`].
    pub fn read_with(
        &self,
        document: Vec<u8>,
        options: ReadOptions<'_>,
    ) -> Result<Conversation, ReadError> {
        let document = match String::from_utf8(document) {
            Ok(document) => document,
            Err(error) => return self.read_damaged(error, options),
        };
        self.read_text(document, options)
    }

    fn read_text(
        &self,
        document: impl AsRef<str> + Into<Arc<str>>,
        options: ReadOptions<'_>,
    ) -> Result<Conversation, ReadError> {
        let document: Arc<str> = match self.read_log(document.as_ref(), options.deadline) {
            Some(log) => {
                drop(document);
                return self.read_of_log(log?, options);
            }
            None => document.into(),
        };
        match self.read_body(Arc::clone(&document), None, options) {
            // JSON lines of a program that is not known get an error of their own.
            Err(ReadError::NotJson { .. }) if logs::is_lines(&document) => {
                Err(ReadError::Log(LogError::UnknownProgram))
            }
            read => read,
        }
    }

    /// A log may hold a line that was damaged, or end inside of a character, since its program is still
    /// writing. Nothing else may.
    fn read_damaged(
        &self,
        error: std::string::FromUtf8Error,
        options: ReadOptions<'_>,
    ) -> Result<Conversation, ReadError> {
        let offset = error.utf8_error().valid_up_to();
        let text = with_broken_lines(&error.into_bytes());
        match self.read_log(&text, options.deadline) {
            None | Some(Err(ReadError::Log(_))) => Err(ReadError::NotUtf8 { offset }),
            Some(log) => {
                drop(text);
                self.read_of_log(log?, options)
            }
        }
    }

    fn read_log(&self, text: &str, deadline: Option<&Deadline>) -> Option<Result<Log, ReadError>> {
        let log = logs::read(text, deadline)?.map_err(|error| match error {
            LogError::OutOfTime => ReadError::OutOfTime,
            error => ReadError::Log(error),
        });
        Some(log.and_then(
            |log| match self.format.filter(|wanted| *wanted != log.format) {
                None => Ok(log),
                Some(wanted) => Err(ReadError::Shape {
                    what: format!(
                        "a log of {} becomes a request of {}, not of {wanted}; leave the format out",
                        log.kind, log.format
                    ),
                }),
            },
        ))
    }

    fn read_of_log(
        &self,
        mut log: Log,
        options: ReadOptions<'_>,
    ) -> Result<Conversation, ReadError> {
        let document = std::mem::take(&mut log.document);
        self.read_body(document.into(), Some(log), options)
    }

    /// Reads a request body in the given format.
    ///
    /// # Errors
    /// As [`Reader::read`].
    pub fn read_body_as(
        &self,
        document: Arc<str>,
        format: Format,
    ) -> Result<Conversation, ReadError> {
        let options = ReadOptions {
            format: Some(format),
            ..ReadOptions::default()
        };
        self.read_body(document, None, options)
    }

    fn read_body(
        &self,
        document: Arc<str>,
        log: Option<Log>,
        options: ReadOptions<'_>,
    ) -> Result<Conversation, ReadError> {
        let used = options.used.map(Reported::of_all);
        let by_log = log.as_ref().and_then(|log| {
            let (tokens, messages) = log.reported?;
            Some(Reported {
                tokens,
                messages,
                by_log: true,
            })
        });
        // A log that names no model has none, whatever its document says.
        let model = log
            .as_ref()
            .map(|log| log.model.as_deref().unwrap_or_default());
        let conversation = BodyReader {
            format: log
                .as_ref()
                .map(|log| log.format)
                .or(options.format)
                .or(self.format),
            tokenizer: &|named| self.tokenizer_for(model.unwrap_or(named)),
            key: &self.key,
            reported: used.or(by_log),
            progress: options.progress,
            deadline: options.deadline,
        }
        .read(document)?;
        Ok(match log {
            Some(log) => conversation
                .with_recorded_summaries(&log.summaries)
                .with_late_results(&log.late)
                .of_log(log.kind, log.facts),
            None => conversation.with_recorded_summaries(options.recorded_summaries),
        })
    }
}

impl Document {
    /// The messages of a body or of a list of messages, without what was appended.
    ///
    /// # Errors
    /// The document is not a conversation in a known format.
    pub fn messages(&self) -> Result<Vec<Message>, ReadError> {
        let mut body = Body::parse(self.read(), None)?;
        Format::detect(&body).wire().messages(&mut body)
    }
}

/// Bytes as text. Bytes that are no character make their line broken JSON, as it would be if it were cut there: in
/// their place stands a character that JSON holds nowhere. The last line, which may be incomplete, ends there.
fn with_broken_lines(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let is_ended = line.ends_with(b"\n");
        for chunk in line.utf8_chunks() {
            text.push_str(chunk.valid());
            if chunk.invalid().is_empty() {
                continue;
            }
            if !is_ended {
                // Where the line is whole up to there, it is broken all the same.
                text.push(char::REPLACEMENT_CHARACTER);
                break;
            }
            text.push('\u{0}');
        }
    }
    text
}
