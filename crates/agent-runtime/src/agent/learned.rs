//! What an agent learns about its model from the model's answers, for all later turns: how large its window is, how
//! it counts tokens, what it would not summarise.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use session_model::SessionId;

/// What was learned; clones share it, so that an agent built anew goes on with it.
#[derive(Debug, Clone, Default)]
pub struct Learned(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// How often its server was asked.
    asked: u32,
    /// Tokens the model can hold, as its server said.
    window: Option<u64>,
    /// The most text the model took, in bytes, once it refused more without saying how much it takes.
    most: Option<usize>,
    /// Sixteenths by which the table's estimates are multiplied.
    factor: Option<u64>,
    /// The user was told that the server cuts requests.
    warned: bool,
    /// How many turns of a session could not be summarised.
    unsummarised: Option<(SessionId, usize)>,
}

/// What a count of the server's says about the estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Counted {
    /// It is as good as an estimate can be, from now on.
    Well,
    /// So far below that the server must have left out most of the request; told once.
    FarBelow,
    /// The same, told already.
    StillFarBelow,
}

/// The whole, of which factors are parts.
const WHOLE: u64 = 16;
/// A factor beyond these is no matter of tokenizers.
const FACTORS: std::ops::RangeInclusive<u64> = 8..=40;
/// After a summary failed, so many more turns have to outgrow the window before another is tried.
const SUMMARY_PAUSE: usize = 8;
/// Smaller requests say little about either.
const TELLING: u64 = 200;
const CUT_TELLING: u64 = 2_000;
const LEAST_COUNT: u64 = 500;

impl Learned {
    /// Tokens the model can hold, as far as its server has said.
    #[must_use]
    pub fn window(&self) -> Option<u64> {
        self.state().window
    }

    /// Whether it is worth asking the server (again) how much the model can hold. Some say it only once the model is
    /// loaded, so that the second turn may know more than the first.
    #[must_use]
    pub fn asks(&self) -> bool {
        const TIMES: u32 = 3;
        let mut state = self.state();
        let asks = state.window.is_none() && state.asked < TIMES;
        state.asked += u32::from(asks);
        asks
    }

    /// The server said that the model can hold so many tokens.
    pub fn holds(&self, tokens: u64) {
        let mut state = self.state();
        state.window = Some(tokens);
        // What was guessed before is of no use any more.
        state.most = None;
    }

    /// The most text the model takes, in bytes, as far as it has said.
    pub(super) fn most(&self) -> usize {
        self.state().most.unwrap_or(usize::MAX)
    }

    /// The model takes no more than so many bytes.
    pub(super) fn at_most(&self, bytes: usize) {
        let mut state = self.state();
        state.most = Some(state.most.map_or(bytes, |most| most.min(bytes)));
    }

    /// An estimate, corrected by the counts of the server.
    pub(super) fn corrected(&self, estimated: u64) -> u64 {
        estimated.saturating_mul(self.state().factor.unwrap_or(WHOLE)) / WHOLE
    }

    /// The server counted so many tokens where the table estimated so many.
    pub(super) fn counted(&self, counted: u64, estimated: u64) -> Counted {
        if counted == 0 || estimated < TELLING {
            return Counted::Well;
        }
        // No window is that small: whoever counts like this does not count at all.
        if estimated >= CUT_TELLING && counted < LEAST_COUNT {
            return Counted::Well;
        }
        let mut state = self.state();
        if estimated >= CUT_TELLING && counted.saturating_mul(5) < estimated.saturating_mul(2) {
            let told = std::mem::replace(&mut state.warned, true);
            return if told { Counted::StillFarBelow } else { Counted::FarBelow };
        }
        let factor =
            counted.saturating_mul(WHOLE).div_ceil(estimated).clamp(*FACTORS.start(), *FACTORS.end());
        // A factor that moved with every count would move the beginning of every request.
        if state.factor.is_none_or(|known| known.abs_diff(factor) > 1) {
            state.factor = Some(factor);
        }
        Counted::Well
    }

    /// Whether so many turns, or hardly fewer, could not be summarised: trying again with every prompt would cost a
    /// request each time.
    pub(super) fn is_unsummarised(&self, session: &SessionId, turns: usize) -> bool {
        let known = &self.state().unsummarised;
        known.as_ref().is_some_and(|(known, failed)| known == session && turns < failed + SUMMARY_PAUSE)
    }

    pub(super) fn not_summarised(&self, session: &SessionId, turns: usize) {
        self.state().unsummarised = Some((session.clone(), turns));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_counts_correct_the_estimates_and_small_differences_change_nothing() {
        let learned = Learned::default();
        assert_eq!(learned.corrected(1_600), 1_600);
        for (counted, estimated, corrected) in [
            (1_500, 1_000, 2_400),
            (1_480, 1_000, 2_400),
            (1_000, 1_000, 1_600),
            // Too small to tell, or nothing counted.
            (10, 100, 1_600),
            (0, 5_000, 1_600),
            (9_000, 1_000, 4_000),
        ] {
            assert_eq!(learned.counted(counted, estimated), Counted::Well);
            assert_eq!(learned.corrected(1_600), corrected, "{counted} for {estimated}");
        }
    }

    #[test]
    fn a_count_far_below_the_estimate_is_told_once_and_corrects_nothing() {
        let learned = Learned::default();
        assert_eq!(learned.counted(2_051, 15_000), Counted::FarBelow);
        assert_eq!(learned.counted(2_051, 16_000), Counted::StillFarBelow);
        assert_eq!(learned.counted(700, 1_900), Counted::Well);
        assert_eq!(learned.corrected(100), 50, "of small requests only");
    }

    #[test]
    fn a_window_the_server_names_replaces_what_was_guessed() {
        let learned = Learned::default();
        learned.at_most(5_000);
        learned.at_most(9_000);
        assert_eq!((learned.most(), learned.window()), (5_000, None));
        learned.clone().holds(8_192);
        assert_eq!((learned.most(), learned.window()), (usize::MAX, Some(8_192)));
        assert!(!learned.asks(), "it is known");
        let silent = Learned::default();
        assert_eq!([(); 4].map(|()| silent.asks()), [true, true, true, false]);
    }
}
