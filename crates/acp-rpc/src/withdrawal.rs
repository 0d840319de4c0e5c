//! Whether one request of the peer's was withdrawn; its token is made only if someone asks for it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio_util::sync::CancellationToken;

/// Shared by the table of running requests, the request's responder and its handler. Where one is asked about the
/// connection's end too, `life` is the token that ends all its requests.
#[derive(Debug, Default)]
pub(crate) struct Withdrawal {
    withdrawn: AtomicBool,
    token: OnceLock<CancellationToken>,
}

impl Withdrawal {
    pub(crate) fn withdraw(&self) {
        // The flag first, and read last in `token`: whichever of the two comes second cancels.
        self.withdrawn.store(true, Ordering::SeqCst);
        if let Some(token) = self.token.get() {
            token.cancel();
        }
    }

    pub(crate) fn token(&self, life: &CancellationToken) -> &CancellationToken {
        let token = self.token.get_or_init(|| life.child_token());
        if self.withdrawn.load(Ordering::SeqCst) {
            token.cancel();
        }
        token
    }

    pub(crate) fn is_withdrawn(&self, life: &CancellationToken) -> bool {
        self.withdrawn.load(Ordering::SeqCst)
            || life.is_cancelled()
            || self.token.get().is_some_and(CancellationToken::is_cancelled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_withdrawal_reaches_the_token_whether_it_was_asked_for_before_or_after() {
        let life = CancellationToken::new();
        let before = Withdrawal::default();
        let token = before.token(&life).clone();
        assert!(!token.is_cancelled() && !before.is_withdrawn(&life));
        before.withdraw();
        assert!(token.is_cancelled() && before.is_withdrawn(&life));

        let after = Withdrawal::default();
        after.withdraw();
        assert!(after.token(&life).is_cancelled());
    }

    #[test]
    fn the_end_of_the_connection_withdraws_every_request_and_one_request_no_other() {
        let life = CancellationToken::new();
        let (asked, unasked) = (Withdrawal::default(), Withdrawal::default());
        let token = asked.token(&life).clone();
        unasked.withdraw();
        assert!(!token.is_cancelled() && !life.is_cancelled());
        life.cancel();
        assert!(token.is_cancelled() && asked.is_withdrawn(&life));
    }
}
