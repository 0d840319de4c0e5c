//! How long to wait before a request is sent again, and how often. Knows what servers say about it, nothing of how a
//! request is sent.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::time::Duration;

use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc2822;

use super::error::Failure;

/// The first wait before asking again; doubled each time.
const BACK_OFF: Duration = Duration::from_millis(500);

/// The longest wait a server can ask for; when it wants more, the user is told instead.
const MAX_RETRY_AFTER: Duration = Duration::from_mins(1);

/// How long a server that says it is loading its model is waited for, in tries a second apart.
const LOADING_TRIES: u32 = 120;

/// The tries of one request.
#[derive(Debug)]
pub(super) struct Wait {
    retries: u32,
    most: u32,
    loading: u32,
}

impl Wait {
    /// None yet; at most so many.
    pub(super) fn new(most: u32) -> Self {
        Self { retries: 0, most, loading: 0 }
    }

    /// How long to wait before the next try after this failure; `None` when it would be in vain.
    pub(super) fn after(&mut self, failure: &Failure) -> Option<Duration> {
        if !failure.is_transient || self.retries >= self.most {
            return None;
        }
        let wait = match failure.retry_after {
            Some(asked) => (asked <= MAX_RETRY_AFTER).then_some(asked.max(BACK_OFF / 2))?,
            None => (BACK_OFF * 2u32.saturating_pow(self.retries)).mul_f64(jitter()),
        };
        self.retries += 1;
        Some(wait)
    }

    /// The same for a server that is loading its model.
    pub(super) fn for_loading(&mut self) -> Option<Duration> {
        self.loading += 1;
        (self.loading <= LOADING_TRIES).then_some(2 * BACK_OFF)
    }

    /// Whether it was found loading once.
    pub(super) fn is_first_of_loading(&self) -> bool {
        self.loading == 1
    }
}

/// Whether a refusal means that the model is on its way, which takes longer than any back-off.
pub(super) fn is_loading(status: u16, message: &str) -> bool {
    let message = message.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|words| message.contains(words));
    status == 503
        && says(&["loading", "warming up", "starting up", "being loaded"])
        && !says(&["error loading", "failed"])
}

/// How long the server wants to be left alone, by its headers or its words. A date counts from the server's own clock.
pub(super) fn retry_after(headers: &HeaderMap, message: &str) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let number = |text: &str| text.parse::<f64>().ok();
    if let Some(millis) = text("retry-after-ms").and_then(number) {
        return Duration::try_from_secs_f64(millis / 1_000.0).ok();
    }
    let asked = text(RETRY_AFTER.as_str());
    if let Some(seconds) = asked.and_then(number) {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = |text: &str| OffsetDateTime::parse(&text.replace("GMT", "+0000"), &Rfc2822).ok();
    let now = text(DATE.as_str()).and_then(date);
    if let Some(until) = asked.and_then(date) {
        return (until - now?).try_into().ok();
    }
    if let Some(reset) = text("x-ratelimit-reset").and_then(number) {
        return until_reset(reset, now);
    }
    in_words(message)
}

/// `reset` in milliseconds or seconds since 1970, or in seconds from now.
fn until_reset(reset: f64, now: Option<OffsetDateTime>) -> Option<Duration> {
    let seconds = match reset {
        _ if reset > 1e12 => reset / 1_000.0 - epoch(now?),
        _ if reset > 1e9 => reset - epoch(now?),
        _ => reset,
    };
    Duration::try_from_secs_f64(seconds).ok()
}

#[expect(clippy::cast_precision_loss, reason = "seconds since 1970 are far below 2^53")]
fn epoch(now: OffsetDateTime) -> f64 {
    now.unix_timestamp() as f64
}

/// "Please try again in 1m2.5s", "retry after 6 seconds", `"retryDelay": "13s"`.
fn in_words(message: &str) -> Option<Duration> {
    let message = message.to_lowercase();
    let rest =
        ["try again in ", "retry in ", "retry after ", "retrydelay\": \""].iter().find_map(|words| {
            let (_, rest) = message.split_once(words)?;
            Some(rest)
        })?;
    let mut seconds = 0.0;
    let mut rest = rest;
    while rest.starts_with(|c: char| c.is_ascii_digit()) {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at(end);
        let number: f64 = number.parse().ok()?;
        let unit: String = after.trim_start().chars().take_while(char::is_ascii_alphabetic).collect();
        let factor = match unit.as_str() {
            "ms" | "milliseconds" => 0.001,
            "s" | "sec" | "second" | "seconds" => 1.0,
            "m" | "min" | "minute" | "minutes" => 60.0,
            "h" | "hour" | "hours" => 3_600.0,
            _ => return None,
        };
        seconds += number * factor;
        rest = &after.trim_start()[unit.len()..];
    }
    (seconds > 0.0).then(|| Duration::try_from_secs_f64(seconds).ok())?
}

/// Between 0.75 and 1.25, so that many clients of one server do not come back together.
fn jitter() -> f64 {
    let random = u8::try_from(RandomState::new().build_hasher().finish() % 128).unwrap_or(64);
    0.75 + f64::from(random) / 256.0
}

#[cfg(test)]
mod tests {
    use super::*;

    type Row<'t> = (&'t [(&'static str, &'t str)], &'t str, Option<u128>);

    fn asked(headers: &[(&'static str, &str)], message: &str) -> Option<u128> {
        let headers =
            headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        retry_after(&headers, message).map(|wait| wait.as_millis())
    }

    #[test]
    fn servers_say_in_many_ways_how_long_they_want_to_be_left_alone() {
        let now = ("date", "Mon, 05 Jan 2026 10:00:00 GMT");
        let table: &[Row<'_>] = &[
            (&[("retry-after", "3")], "", Some(3_000)),
            (&[("retry-after", "0.5")], "", Some(500)),
            (&[("retry-after", "Mon, 05 Jan 2026 10:00:07 GMT"), now], "", Some(7_000)),
            (&[("retry-after", "Mon, 05 Jan 2026 10:00:07 GMT")], "", None),
            (&[("retry-after-ms", "250"), ("retry-after", "1")], "", Some(250)),
            (&[("x-ratelimit-reset", "1767607205000"), now], "", Some(5_000)),
            (&[("x-ratelimit-reset", "1767607205"), now], "", Some(5_000)),
            (&[("x-ratelimit-reset", "12")], "", Some(12_000)),
            (&[("x-ratelimit-reset", "1767607205000")], "", None),
            (&[], "Rate limit reached … Please try again in 7.66s. Visit …", Some(7_660)),
            (&[], "Please try again in 350ms.", Some(350)),
            (&[], "Please try again in 1m2.5s.", Some(62_500)),
            (&[], "Please retry after 6 seconds.", Some(6_000)),
            (&[], "Please retry in 13.5s.", Some(13_500)),
            (&[], "Please try again in a while", None),
            (&[], "slow down", None),
        ];
        for (headers, message, expected) in table {
            assert_eq!(asked(headers, message), *expected, "{headers:?} {message}");
        }
    }

    #[test]
    fn a_model_on_its_way_is_told_from_one_that_does_not_come() {
        let table = [
            (503, "Loading model", true),
            (503, "Model x is currently loading", true),
            (503, "the model is warming up", true),
            (503, "error loading model", false),
            (503, "busy", false),
            (500, "Loading model", false),
        ];
        for (status, message, expected) in table {
            assert_eq!(is_loading(status, message), expected, "{status} {message}");
        }
    }
}
