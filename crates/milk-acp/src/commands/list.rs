//! `/list [all]`: the earlier name of `/sessions`, which still works and says so.

use super::{CommandCx, Said, sessions};

pub(super) async fn run(argument: String, cx: CommandCx) -> Said {
    let said = sessions::run(argument, cx).await;
    Said::text(format!("/list is called /sessions now.\n\n{}", said.text))
}
