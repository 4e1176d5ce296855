//! A stream token reads the stream of one execution until the token expires, on every server of the store.

use crate::prelude::*;

pub(crate) async fn a_token_reads_one_stream_for_as_long_as_it_says(world: World) {
    let (id, other) = (world.held().await.id(), world.held().await.id());
    let token = make(&world, id, 1_000).await.unwrap();
    assert_eq!(token.expires_at, world.clock.now() + 1_000);
    assert_eq!(verify(&world, &token, id).await, Ok(()));
    assert_eq!(verify(&world, &token, other).await, Err(Code::InvalidToken));
    world.clock.advance(ms(999)).await;
    assert_eq!(verify(&world, &token, id).await, Ok(()));
    world.clock.advance(ms(1)).await;
    assert_eq!(verify(&world, &token, id).await, Err(Code::TokenExpired));
}

pub(crate) async fn a_token_that_reads_outlasts_a_rotation_for_its_grace(world: World) {
    let id = world.held().await.id();
    let before = make(&world, id, 60_000).await.unwrap();
    let args = RotateSecretArgs::parse("k2", &"c0ffee".repeat(16), 1_000).unwrap();
    assert!(world.backend.rotate_secret(args).await.unwrap().is_complete());
    let after = make(&world, id, 60_000).await.unwrap();
    assert_eq!((before.kid.as_str(), after.kid.as_str()), ("k1", "k2"));
    assert_eq!((verify(&world, &before, id).await, verify(&world, &after, id).await), (Ok(()), Ok(())));
    world.clock.advance(ms(1_000)).await;
    assert_eq!(
        (verify(&world, &before, id).await, verify(&world, &after, id).await),
        (Err(Code::TokenExpired), Ok(()))
    );
}

pub(crate) async fn a_token_is_made_for_an_execution_that_is_there_and_for_a_day_at_most(world: World) {
    let id = world.held().await.id();
    let before = world.contents().await;
    let nowhere = ExecutionId::new(id.partition(), Uuid::new_v4());
    assert_refused!(make(&world, nowhere, 1_000).await, "execution_not_found");
    for refused in [0, limits::STREAM_TOKEN_MS + 1] {
        assert_refused!(make(&world, id, refused).await, "invalid_input", "expires_in_ms");
    }
    assert!(make(&world, id, limits::STREAM_TOKEN_MS).await.is_ok());
    assert_eq!(world.contents().await, before, "a token is not stored");
}

async fn make(world: &World, execution_id: ExecutionId, expires_in_ms: u64) -> Answer<StreamToken> {
    world.backend.stream_token(StreamTokenArgs { execution_id, expires_in_ms }).await
}

/// Verifies a stream token like a server of the store.
async fn verify(world: &World, token: &StreamToken, id: ExecutionId) -> Result<(), Code> {
    let (ring, now) = (world.engine_store.key_ring(id.partition()).await, world.engine_store.now().await);
    ring.unwrap().verify_for_stream(&PresentedToken::new(token.expose()), &id, now.unwrap())
}
