//! `milk doctor`: what is configured, what of it works, who would answer and why, and what to do about the rest.

mod agents;
mod places;
mod programs;
mod report;

use std::sync::Arc;
use std::time::Duration;

use milk_acp::settings::ConfiguredDrivers;
use session_model::source::RandomIds;

use self::report::{Level, Report};
use crate::args::DoctorArgs;
use crate::assemble;
use crate::error::CliError;
use crate::output::{self, Style};
use crate::places::Places;
use crate::store::block_on;

/// Looks at everything and tells.
pub(crate) fn run(args: &DoctorArgs, places: &Places) -> Result<(), CliError> {
    let cwd = places.folder(args.cwd.as_deref())?;
    let report = block_on(async {
        let mut report = Report::default();
        let settings = places::configuration(places, &cwd, &mut report);
        places::data(places, &mut report).await;
        let drivers = drivers(places);
        let limit = Duration::from_secs(args.timeout);
        agents::agents(&drivers, settings.as_ref(), &cwd, limit, &mut report).await;
        Ok(report)
    })?;
    if args.json {
        output::print(format_args!("{:#}\n", report.json()))?;
    } else {
        output::print(report.text(Style::of_stdout()))?;
    }
    match report.count(Level::Bad) {
        0 => Ok(()),
        count => Err(CliError::Problems { count }),
    }
}

fn drivers(places: &Places) -> ConfiguredDrivers {
    assemble::drivers(places, Arc::new(RandomIds::new()), None, None)
}
