//! What every store must do, run against each; and what the one on disk must do beside.

#[cfg(test)]
mod contract;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod disk;
#[cfg(test)]
mod history;
#[cfg(test)]
mod migration;
#[cfg(test)]
mod processes;
#[cfg(test)]
mod property;
#[cfg(test)]
mod search;
#[cfg(test)]
mod support;
