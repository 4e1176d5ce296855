//! Substitutes for a server, for behaviour that a real one cannot be made to show.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// Answers every command of every connection with the first of these replies whose word is in the command.
pub(crate) async fn answering(replies: &'static [(&'static str, &'static str)]) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut buffer = [0; 4096];
                while let Ok(read @ 1..) = stream.read(&mut buffer).await {
                    let text = str::from_utf8(&buffer[..read]).unwrap();
                    for command in text.split('*').skip(1) {
                        let reply = replies.iter().find(|(word, _)| command.contains(word));
                        let (_, reply) = reply.unwrap_or(&("", "-ERR unknown command\r\n"));
                        stream.write_all(reply.as_bytes()).await.unwrap();
                    }
                }
            });
        }
    });
    port
}

/// Closes every connection to a port at once, and counts the connections.
pub(crate) async fn closing(port: u16) -> Arc<AtomicUsize> {
    let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            counted.fetch_add(1, Ordering::SeqCst);
        }
    });
    count
}

/// A connection to a server that can be cut without either side noticing, as by a firewall that drops its state.
pub(crate) struct Wire {
    pub(crate) port: u16,
    cuts: watch::Sender<usize>,
}

impl Wire {
    pub(crate) async fn to(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let cuts = watch::Sender::new(0);
        let cut = cuts.clone();
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let far = TcpStream::connect(("127.0.0.1", server)).await.unwrap();
                tokio::spawn(carry(near, far, cut.subscribe()));
            }
        });
        Self { port, cuts }
    }

    /// Cuts every current connection. New ones pass.
    pub(crate) fn cut(&self) {
        self.cuts.send_modify(|cuts| *cuts += 1);
    }
}

/// Carries bytes both ways until the wire is cut, and then keeps both ends open for ever.
async fn carry(mut near: TcpStream, mut far: TcpStream, mut cuts: watch::Receiver<usize>) {
    tokio::select! {
        _ = tokio::io::copy_bidirectional(&mut near, &mut far) => {}
        _ = cuts.changed() => std::future::pending().await,
    }
}
