//! Payloads and results are returned unchanged.

use ff_core::backend::Perform;
use ff_core::contracts::{CompleteArgs, SubmitArgs};
use ff_core::payload::Payload;
use ff_core::types::ContentType;

use crate::{StoreLocation, claim_on, work};

#[tokio::test]
async fn every_byte_value_comes_back_as_it_was() {
    let place = StoreLocation::new();
    let store = place.open();
    let all: Vec<u8> = (0..=255).collect();
    for bytes in [vec![], vec![0], all.clone(), all.repeat(4_096)] {
        let payload = Payload::new(ContentType::parse("image/x-own; q=\"ü\"").unwrap(), bytes);
        let args = SubmitArgs { payload: payload.clone(), ..work() };
        let id = store.submit(args).await.unwrap().execution_id;
        assert_eq!(store.payload(&id).await.unwrap(), payload);
        let claimed = store.claim(claim_on(&id)).await.unwrap().claimed.remove(0);
        assert_eq!(claimed.payload, payload);
        let result = Some(payload.clone());
        store.complete(CompleteArgs { execution_id: id, fence: claimed.task.fence, result }).await.unwrap();
        assert_eq!(store.result(&id).await.unwrap().result, Some(payload));
    }
}
