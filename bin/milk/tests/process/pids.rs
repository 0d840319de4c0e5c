//! Processes that should be there, or no more, by their numbers.

use rustix::process::{Pid, test_kill_process};

use crate::program::in_time;

/// Whether there is such a process, be it only to be collected.
pub(crate) fn is_alive(pid: i32) -> bool {
    Pid::from_raw(pid).is_some_and(|pid| test_kill_process(pid).is_ok())
}

/// Waits until a process is gone; its parent, whoever that is by now, still has to collect it.
pub(crate) async fn gone(pid: i32) {
    let mut beat = tokio::time::interval(std::time::Duration::from_millis(5));
    in_time(async {
        while is_alive(pid) && !is_zombie(pid) {
            beat.tick().await;
        }
    })
    .await;
}

/// Whether it has ended and only waits to be collected; false where this cannot be told.
fn is_zombie(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'))
}
