//! A reader of event streams.

use reqwest::Response;
use serde_json::Value;

use crate::world::World;

/// One message of a stream.
#[derive(Debug, PartialEq)]
pub(crate) struct Message {
    pub(crate) id: Option<String>,
    pub(crate) name: String,
    pub(crate) data: Value,
}

/// A stream, read message by message.
pub(crate) struct Stream {
    response: Response,
    text: String,
}

impl Stream {
    pub(crate) async fn open(world: &World, path: &str, last: Option<&str>) -> Self {
        let response = world.follow(path, last).send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { response, text: String::new() }
    }

    /// Returns the next message; `None` when the stream is over. Skips keep-alives.
    pub(crate) async fn next(&mut self) -> Option<Message> {
        loop {
            while let Some((message, rest)) = self.text.split_once("\n\n") {
                let (message, rest) = (read(message), rest.to_owned());
                self.text = rest;
                if message.is_some() {
                    return message;
                }
            }
            let chunk = self.response.chunk().await.unwrap()?;
            self.text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    pub(crate) async fn rest(&mut self) -> Vec<Message> {
        let mut messages = Vec::new();
        while let Some(message) = self.next().await {
            messages.push(message);
        }
        messages
    }
}

fn read(message: &str) -> Option<Message> {
    let field = |name: &str| message.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
    let data: Vec<_> = message.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
    let name = field("event: ")?;
    Some(Message { id: field("id: "), name, data: serde_json::from_str(&data.join("\n")).unwrap() })
}

/// Returns all messages of a stream that has an end.
pub(crate) async fn whole(world: &World, path: &str, last: Option<&str>) -> Vec<Message> {
    Stream::open(world, path, last).await.rest().await
}

pub(crate) fn names(messages: &[Message]) -> Vec<&str> {
    messages.iter().map(|message| message.name.as_str()).collect()
}
