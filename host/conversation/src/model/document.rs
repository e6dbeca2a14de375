//! The text of a conversation: what was read, and what was appended since.

use std::sync::Arc;

use crate::json::Place;

/// A document that grows at its end. Places count on from piece to piece, and no place spans
/// two of them: what was found in the first stays where it is, whatever is appended.
#[derive(Debug, Clone)]
pub struct Document {
    read: Arc<str>,
    /// Messages that came later, each with its offset.
    appended: Vec<(usize, Arc<str>)>,
    end: usize,
}

impl Document {
    /// A document as it was read.
    pub fn new(read: Arc<str>) -> Self {
        Self {
            end: read.len(),
            read,
            appended: Vec::new(),
        }
    }

    /// Adds a piece, and returns its offset.
    pub fn append(&mut self, piece: Arc<str>) -> usize {
        let offset = self.end;
        self.end += piece.len();
        self.appended.push((offset, piece));
        offset
    }

    /// What lies at a place; `None` if that is in no piece.
    pub fn get(&self, place: Place) -> Option<&str> {
        if place.end <= self.read.len() {
            return self.read.get(place);
        }
        let after = self
            .appended
            .partition_point(|(offset, _)| *offset <= place.start);
        let (offset, piece) = self.appended.get(after.checked_sub(1)?)?;
        piece.get(place.start.checked_sub(*offset)?..place.end.checked_sub(*offset)?)
    }

    /// The same; nothing where there is none.
    pub(crate) fn at(&self, place: &Place) -> &str {
        self.get(place.clone()).unwrap_or_default()
    }

    /// The document that was read, without what was appended.
    pub fn read(&self) -> &Arc<str> {
        &self.read
    }

    /// The offset of what would be appended next.
    pub fn end(&self) -> usize {
        self.end
    }

    /// Whether something was appended.
    pub(crate) fn has_grown(&self) -> bool {
        !self.appended.is_empty()
    }
}

impl From<&str> for Document {
    fn from(text: &str) -> Self {
        Self::new(text.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_stay_where_they_are_while_a_document_grows() {
        let mut document = Document::from("first");
        assert_eq!(document.append("second".into()), 5);
        assert_eq!(document.append("third".into()), 11);
        assert_eq!(document.get(0..5), Some("first"));
        assert_eq!(document.get(5..11), Some("second"));
        assert_eq!(document.get(12..16), Some("hird"));
    }

    #[test]
    fn place_outside_of_a_piece_holds_nothing() {
        let mut document = Document::from("first");
        document.append("second".into());
        for place in [4..6, 10..12, 11..12, 100..101] {
            assert_eq!(document.get(place.clone()), None, "{place:?}");
        }
    }
}
