//! Drives a [`Reader`] with the bytes of a connection: silence that lasts too long, sockets left open after
//! the end, connections that break. Knows nothing of requests.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use reqwest::Response;
use tokio::time::timeout;

use super::error::{self, Failure};
use super::http::root_cause;
use super::reader::{Answer, Reader};
use crate::provider::{ModelDelta, ModelStream, ProviderError};

/// How long the end of the body is waited for after `[DONE]`, so that the connection can serve again.
const DRAIN: Duration = Duration::from_millis(25);

/// One answer being read.
pub(super) struct Reading<A> {
    /// Until it has ended or been given up.
    body: Option<BoxStream<'static, Result<Bytes, String>>>,
    reader: Reader<A>,
    agent: String,
    idle: Duration,
    ready: VecDeque<ModelDelta>,
    failure: Option<Failure>,
    reads: usize,
}

impl<A: Answer> Reading<A> {
    /// Begins with a response whose head has come.
    pub(super) fn new(response: Response, reader: Reader<A>, agent: &str, idle: Duration) -> Self {
        let body = response.bytes_stream().map(|read| read.map_err(|cause| root_cause(&cause)));
        let agent = agent.to_owned();
        Self {
            body: Some(body.boxed()),
            reader,
            agent,
            idle,
            ready: VecDeque::new(),
            failure: None,
            reads: 0,
        }
    }

    /// Reads until there is something to hand out.
    ///
    /// # Errors
    /// The answer failed before anything of it was seen.
    pub(super) async fn begin(&mut self) -> Result<(), Failure> {
        while self.ready.is_empty() {
            if let Some(failure) = self.failure.take() {
                return Err(failure);
            }
            self.read().await;
        }
        Ok(())
    }

    /// The answer as a stream. Dropping it closes the connection.
    pub(super) fn into_stream(self) -> ModelStream {
        stream::unfold(self, |mut reading| async move {
            let next = reading.next().await?;
            Some((next, reading))
        })
        .boxed()
    }

    /// The next piece of the answer.
    pub(super) async fn next(&mut self) -> Option<Result<ModelDelta, ProviderError>> {
        loop {
            if let Some(delta) = self.ready.pop_front() {
                if matches!(delta, ModelDelta::Finish(_)) {
                    self.drain().await;
                }
                return Some(Ok(delta));
            }
            if let Some(failure) = self.failure.take() {
                self.body = None;
                return Some(Err(failure.error));
            }
            if self.reader.answer.is_done() || self.body.is_none() {
                return None;
            }
            self.read().await;
        }
    }

    /// Whether the body is an event stream, as far as it has come.
    pub(super) fn is_event_stream(&self) -> bool {
        self.reader.is_event_stream()
    }

    /// How often something came from the connection.
    pub(super) fn reads(&self) -> usize {
        self.reads
    }

    /// One read from the connection.
    async fn read(&mut self) {
        let lingers = self.reader.answer.lingers();
        let patience = lingers.map_or(self.idle, |lingers| lingers.min(self.idle));
        let mut deltas = Vec::new();
        let Some(body) = &mut self.body else { return };
        let result = match timeout(patience, body.next()).await {
            Ok(Some(Ok(bytes))) => {
                self.reads += 1;
                self.reader.push(&bytes, &mut deltas)
            }
            Ok(Some(Err(cause))) => match self.reader.end(&mut deltas) {
                Err(_) => Err(error::truncated(&self.agent, &cause)),
                Ok(()) => Ok(()),
            },
            Ok(None) => self.reader.end(&mut deltas),
            Err(_) if lingers.is_some() => self.reader.end(&mut deltas),
            Err(_) => {
                let (agent, seconds) = (self.agent.clone(), self.idle.as_secs());
                Err(Failure::lasting(ProviderError::TimedOut { agent, seconds }))
            }
        };
        self.ready.extend(deltas);
        self.failure = result.err();
    }

    async fn drain(&mut self) {
        let Some(mut body) = self.body.take() else { return };
        let rest = async { while let Some(Ok(_)) = body.next().await {} };
        // When it does not end, the connection is given up.
        drop(timeout(DRAIN, rest).await);
    }
}
