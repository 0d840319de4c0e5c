//! Whether one request of the peer's was withdrawn; its token is made only if someone asks for it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio_util::sync::CancellationToken;

/// Shared by the table of running requests and the request's responder.
#[derive(Debug)]
pub(crate) struct Withdrawal {
    life: CancellationToken,
    withdrawn: AtomicBool,
    token: OnceLock<CancellationToken>,
}

impl Withdrawal {
    /// `life` withdraws all requests of the connection.
    pub(crate) fn new(life: CancellationToken) -> Self {
        Self { life, withdrawn: AtomicBool::new(false), token: OnceLock::new() }
    }

    pub(crate) fn withdraw(&self) {
        // The flag first, and read last in `token`: whichever of the two comes second cancels.
        self.withdrawn.store(true, Ordering::SeqCst);
        if let Some(token) = self.token.get() {
            token.cancel();
        }
    }

    pub(crate) fn token(&self) -> &CancellationToken {
        let token = self.token.get_or_init(|| self.life.child_token());
        if self.withdrawn.load(Ordering::SeqCst) {
            token.cancel();
        }
        token
    }

    pub(crate) fn is_withdrawn(&self) -> bool {
        self.withdrawn.load(Ordering::SeqCst)
            || self.life.is_cancelled()
            || self.token.get().is_some_and(CancellationToken::is_cancelled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_withdrawal_reaches_the_token_whether_it_was_asked_for_before_or_after() {
        let before = Withdrawal::new(CancellationToken::new());
        let token = before.token().clone();
        assert!(!token.is_cancelled() && !before.is_withdrawn());
        before.withdraw();
        assert!(token.is_cancelled() && before.is_withdrawn());

        let after = Withdrawal::new(CancellationToken::new());
        after.withdraw();
        assert!(after.token().is_cancelled());
    }

    #[test]
    fn the_end_of_the_connection_withdraws_every_request_and_one_request_no_other() {
        let life = CancellationToken::new();
        let (asked, unasked) = (Withdrawal::new(life.clone()), Withdrawal::new(life.clone()));
        let token = asked.token().clone();
        unasked.withdraw();
        assert!(!token.is_cancelled() && !life.is_cancelled());
        life.cancel();
        assert!(token.is_cancelled() && asked.is_withdrawn());
    }
}
