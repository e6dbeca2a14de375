//! What a registry may make this program read, and how long that may take.

use std::time::Duration;

/// Limits of everything that is read from a registry or a layout folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a component.
    pub component: usize,
    /// Bytes of a manifest, an index, a list of tags or any other answer in JSON.
    pub manifest: usize,
    /// Bytes of a signature's bundle.
    pub bundle: usize,
    /// Signatures of one manifest.
    pub referrers: usize,
    /// Pages of a list of tags or referrers.
    pub pages: usize,
    /// How long a server may send nothing.
    pub silence: Duration,
    /// How long a [`Transport`](crate::Transport) may be in use, from when it was opened.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            component: 64 << 20,
            manifest: 1 << 20,
            bundle: 64 << 10,
            referrers: 32,
            pages: 16,
            silence: Duration::from_secs(20),
            time: Duration::from_secs(300),
        }
    }
}
