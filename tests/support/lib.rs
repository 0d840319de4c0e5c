//! What the cross-crate tests share: a suspicious client, a server with a scripted model, a mock model server.
#![expect(clippy::expect_used, reason = "test support fails loudly")]

pub mod client;
pub mod mock_openai;
pub mod mock_rules;
pub mod rig;
pub mod schema;
