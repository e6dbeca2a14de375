//! Pictures, documents and the like, as the formats spell them.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::body::Body;
use crate::json::{self, Members, Place};
use crate::model::document::Document;
use crate::model::message::Media;

/// Base64 digits of a picture that are read to find its size in pixels: enough for the headers
/// of all formats, and for the data that cameras put before them.
const HEADER: usize = 128 * 1024;

/// What comes before the digits in a URL that holds them.
const SCHEME_END: &str = ";base64,";

/// A word from the document, for a message or a list: short and without control characters.
pub(super) fn printable(word: &str) -> String {
    word.chars().filter(|c| !c.is_control()).take(40).collect()
}

/// A part of OpenAI Chat: `image_url`, `input_audio`, `file`.
pub(super) fn chat(body: &Body<'_>, kind: &str, part: &Members<'_>, place: &Place) -> Media {
    let inner = part.object(kind);
    let inner = inner.as_ref();
    let data = inner.and_then(|inner| inner.first(&["url", "data", "file_data"]));
    let name = inner.and_then(|inner| inner.text("filename"));
    media(body, kind, name, data, place)
}

/// A part of OpenAI Responses: `input_image`, `input_file`, `input_audio`, `computer_screenshot`.
pub(super) fn responses(body: &Body<'_>, kind: &str, part: &Members<'_>, place: &Place) -> Media {
    let kind = if kind == "computer_screenshot" {
        "image"
    } else {
        kind
    };
    let data = part.first(&["image_url", "file_data", "data", "file_url"]);
    media(body, kind, part.text("filename"), data, place)
}

/// A block of Anthropic's: `image`, `document`, and what else has a `source`.
pub(super) fn anthropic(body: &Body<'_>, kind: &str, block: &Members<'_>, place: &Place) -> Media {
    let source = block.object("source");
    let kind = source
        .as_ref()
        .and_then(|source| source.text("media_type"))
        .unwrap_or(Cow::Borrowed(kind));
    let data = source
        .as_ref()
        .and_then(|source| source.first(&["data", "url"]));
    media(body, &kind, block.text("title"), data, place)
}

/// `inlineData` or `fileData` of Gemini, in either spelling.
pub(super) fn gemini(body: &Body<'_>, data: Option<&RawValue>, place: &Place) -> Media {
    let inner = data.and_then(|data| json::members(data.get()));
    let get = |names: [&str; 2]| {
        inner
            .as_ref()
            .and_then(|inner| names.into_iter().find_map(|name| inner.text(name)))
    };
    let kind = get(["mimeType", "mime_type"]).unwrap_or(Cow::Borrowed("file"));
    let name = get(["displayName", "display_name"]);
    let data = inner.as_ref().and_then(|inner| inner.present("data"));
    media(body, &kind, name, data, place)
}

/// A block of Bedrock Converse: the value of its `image`, `document`, `video` or `audio`.
pub(super) fn bedrock(body: &Body<'_>, kind: &str, block: &Members<'_>, place: &Place) -> Media {
    let source = block.object("source");
    let data = source.as_ref().and_then(|source| source.present("bytes"));
    media(body, kind, block.text("name"), data, place)
}

fn media(
    body: &Body<'_>,
    kind: &str,
    name: Option<Cow<'_, str>>,
    data: Option<&RawValue>,
    place: &Place,
) -> Media {
    let begins =
        |raw: &RawValue, with: &str| json::chars(raw.get()).take(with.len()).eq(with.chars());
    let is_data =
        |raw: &&RawValue| json::is_text(raw.get()) && !begins(raw, "http") && !begins(raw, "gs:");
    Media {
        kind: printable(kind),
        name: name.map(Cow::into_owned),
        bytes: u32::try_from(place.len()).unwrap_or(u32::MAX),
        data: data.filter(is_data).map(|raw| body.place(raw)),
        is_thought: false,
    }
}

impl Media {
    /// The base64 digits in the document; `None` if the data is elsewhere.
    pub(crate) fn digits<'a>(&self, document: &'a Document) -> Option<Cow<'a, str>> {
        // Some encoders write `\/` for the slashes among the digits.
        let mut digits = json::decode(document.get(self.data.clone()?)?);
        match digits.find(SCHEME_END) {
            Some(at) => match &mut digits {
                Cow::Borrowed(text) => *text = &text[at + SCHEME_END.len()..],
                Cow::Owned(text) => text.replace_range(..at + SCHEME_END.len(), ""),
            },
            None if digits.starts_with("data:") => return None,
            None => {}
        }
        Some(digits)
    }

    /// Width and height in pixels, of a picture whose data the document holds.
    pub(crate) fn pixels(&self, document: &Document) -> Option<(u32, u32)> {
        use base64::Engine as _;
        let digits = self.digits(document)?;
        let head = digits.get(..digits.len().min(HEADER) / 4 * 4)?;
        // Clients of Google write the alphabet of URLs.
        let head = head.replace('-', "+").replace('_', "/");
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(head)
            .ok()?;
        let size = imagesize::blob_size(&bytes).ok()?;
        Some((
            u32::try_from(size.width).ok()?,
            u32::try_from(size.height).ok()?,
        ))
    }
}
