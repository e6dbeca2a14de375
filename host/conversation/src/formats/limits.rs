//! What providers accept, beside tokens. Sources: docs/wire-formats.md, "Limits".

use crate::model::document::Document;
use crate::model::message::Media;

/// The limits of a provider for one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProviderLimits {
    /// Bytes of the body.
    pub body_bytes: usize,
    /// Number of pictures.
    pub pictures: u32,
    /// Bytes of one picture as the request carries it (base64).
    pub picture_bytes: usize,
    /// Pixels of the longer side of a picture.
    pub picture_side: u32,
    /// The same in a request with more than [`ProviderLimits::MANY_PICTURES`].
    pub picture_side_of_many: u32,
}

/// In which requests a provider accepts a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fit {
    Always,
    /// In those with at most [`ProviderLimits::MANY_PICTURES`].
    AmongFew,
    Never,
}

impl ProviderLimits {
    /// With more pictures than this, Anthropic accepts only smaller ones.
    pub const MANY_PICTURES: u32 = 20;

    /// The bytes of a picture that has too many of them.
    pub(crate) fn bytes_above(&self, picture: &Media, document: &Document) -> Option<usize> {
        // The place in the document is at least as long, and nothing has to be decoded for it.
        if picture.data.as_ref()?.len() <= self.picture_bytes {
            return None;
        }
        let bytes = picture.digits(document)?.len();
        (bytes > self.picture_bytes).then_some(bytes)
    }

    /// In which requests the provider accepts a picture.
    pub(crate) fn fit(&self, picture: &Media, document: &Document) -> Fit {
        if self.bytes_above(picture, document).is_some() {
            return Fit::Never;
        }
        if self.picture_side_of_many == u32::MAX {
            return Fit::Always;
        }
        match picture
            .pixels(document)
            .map(|(width, height)| width.max(height))
        {
            Some(side) if side > self.picture_side => Fit::Never,
            Some(side) if side > self.picture_side_of_many => Fit::AmongFew,
            _ => Fit::Always,
        }
    }

    pub(crate) const OPENAI: Self = Self {
        body_bytes: 512 << 20,
        pictures: 1_500,
        picture_bytes: 512 << 20,
        picture_side: u32::MAX,
        picture_side_of_many: u32::MAX,
    };

    /// The number of pictures is that of models with a window of 200,000 tokens; others take
    /// 600. Through Bedrock and Google Cloud a picture may have half as many bytes.
    pub(crate) const ANTHROPIC: Self = Self {
        body_bytes: 32 << 20,
        pictures: 100,
        picture_bytes: 10 << 20,
        picture_side: 8_000,
        picture_side_of_many: 2_000,
    };

    /// The service counts the bytes of a picture in base64. The number of pictures is that of Anthropic's
    /// models; for older ones it was 20.
    pub(crate) const BEDROCK: Self = Self {
        body_bytes: 25_000_000,
        picture_bytes: 5 << 20,
        ..Self::ANTHROPIC
    };

    pub(crate) const GEMINI: Self = Self {
        body_bytes: 100 << 20,
        pictures: 3_600,
        picture_bytes: 100 << 20,
        ..Self::OPENAI
    };
}
