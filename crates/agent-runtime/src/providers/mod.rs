//! The model APIs milk speaks, each a [`Provider`](crate::provider::Provider), and what they share: event
//! streams, HTTP clients, credentials. Nothing here knows sessions or tools' insides.

pub mod auth;
pub mod http;
pub mod openai_chat;
pub mod sse;
