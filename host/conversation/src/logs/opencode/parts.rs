//! Parts of OpenCode's messages.

use std::borrow::Cow;

use crate::json::{self, Members};
use crate::logs::turns::blocks::Block;

/// What a part says, if it is anything.
pub(super) fn text<'a>(part: &Members<'a>, signature: Option<&'a str>) -> Option<Block<'a>> {
    Block::text(part.raw_text("text")?, signature)
}

/// Whether a file is a text or a folder.
pub(super) fn is_text_file(part: &Members<'_>) -> bool {
    matches!(
        part.text("mime").as_deref(),
        Some("text/plain" | "application/x-directory")
    )
}

/// A file that is a picture and stands in its part.
pub(super) fn picture<'a>(part: &Members<'a>) -> Option<Block<'a>> {
    let url = part.text("url")?;
    let (mime, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
    let is_picture = mime.starts_with("image/") && !data.is_empty();
    is_picture.then(|| Block::Image {
        data: Cow::Owned(json::encode(data)),
        mime: Cow::Owned(json::encode(mime)),
    })
}
