//! The answer to a batch: one array, complete when its last entry is answered, in the entries' order.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::oneshot;

/// One place in a batch's answer.
#[derive(Debug)]
pub(crate) struct Slot {
    batch: Arc<Mutex<Batch>>,
    index: usize,
}

#[derive(Debug)]
struct Batch {
    answers: Vec<Vec<u8>>,
    missing: usize,
    written: Vec<oneshot::Sender<()>>,
}

/// A finished batch: its line, and who wants to know that it was written.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) line: Vec<u8>,
    pub(crate) written: Vec<oneshot::Sender<()>>,
}

impl Slot {
    /// The places of a batch with `answers` entries that will be answered.
    pub(crate) fn batch(answers: usize) -> impl Iterator<Item = Self> {
        let batch = Batch { answers: vec![Vec::new(); answers], missing: answers, written: Vec::new() };
        let batch = Arc::new(Mutex::new(batch));
        (0..answers).map(move |index| Self { batch: Arc::clone(&batch), index })
    }

    /// Puts `answer` into its place; the one that fills the last place gets the line to send.
    pub(crate) fn fill(self, answer: &[u8], written: Option<oneshot::Sender<()>>) -> Option<Finished> {
        let mut batch = self.batch.lock().unwrap_or_else(PoisonError::into_inner);
        answer.clone_into(&mut batch.answers[self.index]);
        batch.written.extend(written);
        batch.missing -= 1;
        if batch.missing > 0 {
            return None;
        }
        let mut line = vec![b'['];
        line.extend(batch.answers.join(&b','));
        line.extend_from_slice(b"]\n");
        Some(Finished { line, written: std::mem::take(&mut batch.written) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_answer_completes_the_array_in_the_order_of_the_entries() {
        let mut slots: Vec<_> = Slot::batch(3).collect();
        assert!(slots.remove(1).fill(b"2", None).is_none());
        assert!(slots.remove(1).fill(b"3", None).is_none());
        let finished = slots.remove(0).fill(b"1", None).unwrap();
        assert_eq!(finished.line, b"[1,2,3]\n");
    }
}
