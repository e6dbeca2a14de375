//! Checks content against what names it.

use crate::error::RegistryError;
use crate::{Descriptor, Digest};

/// Checks that content is what its descriptor says.
pub(crate) fn check(descriptor: &Descriptor, content: &[u8]) -> Result<(), RegistryError> {
    if content.len() as u64 != descriptor.size {
        return Err(RegistryError::Size {
            what: described(descriptor),
            expected: descriptor.size,
            found: content.len().to_string(),
        });
    }
    check_digest(described(descriptor), descriptor.digest, content)
}

/// Checks that content has this hash.
pub(crate) fn check_digest(
    what: String,
    expected: Digest,
    content: &[u8],
) -> Result<(), RegistryError> {
    match Digest::of(content) {
        found if found == expected => Ok(()),
        found => Err(RegistryError::Digest {
            what,
            expected,
            found,
        }),
    }
}

/// Checks that content may be read at all.
pub(crate) fn check_limit(descriptor: &Descriptor, limit: usize) -> Result<(), RegistryError> {
    let limit = limit as u64;
    if descriptor.size > limit {
        return Err(RegistryError::TooLarge {
            what: described(descriptor),
            limit,
            found: descriptor.size.to_string(),
        });
    }
    Ok(())
}

/// Names content in errors.
pub(crate) fn described(descriptor: &Descriptor) -> String {
    format!("the blob {}", descriptor.digest)
}
