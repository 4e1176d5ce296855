//! Payloads come back byte for byte.

use ff_core::backend::Perform;
use ff_core::contracts::{CancelArgs, CompleteArgs, FailArgs, Filter, ListArgs, ProgressArgs, SubmitArgs};
use ff_core::execution::{Failure, FinishedBy};
use ff_core::limits;
use ff_core::payload::Payload;
use ff_core::types::{ContentType, IdempotencyKey, Kind, Namespace, TagKey, TagValue};

use crate::{claim, findings, start, work};

/// Text that may break a line protocol, a pattern or a format.
const AWKWARD: &str = "a b\"'\\{fp:1}:*?[]%s %d \u{85}ü 語 🦀 \r\n\t\u{0}end";

#[tokio::test]
async fn payloads_and_results_come_back_byte_for_byte() {
    let (_server, store) = start().await;
    let every_byte: Vec<u8> = (0..=255).collect();
    let twice = [every_byte.clone(), every_byte.iter().rev().copied().collect()].concat();
    let largest: Vec<u8> = every_byte.iter().cycle().take(limits::PAYLOAD_BYTES).copied().collect();
    for bytes in [vec![], vec![0], vec![255], b"1".to_vec(), b"nil".to_vec(), b"\r\n$-1\r\n".to_vec(), twice, largest] {
        for content_type in [ContentType::json(), ContentType::bytes(), ContentType::parse("text/x; a=\"ü\"").unwrap()]
        {
            let payload = Payload::new(content_type, bytes.clone());
            let id = store.submit(SubmitArgs { payload: payload.clone(), ..work() }).await.unwrap().execution_id;
            assert!(store.payload(&id).await.unwrap() == payload, "{payload:?} was changed on its way");
            let claimed = claim(&store, &id).await;
            assert!(claimed.payload == payload, "{payload:?} was changed on its way to the worker");
            let fence = claimed.task.fence;
            let result = Some(payload.clone());
            store.complete(CompleteArgs { execution_id: id, fence, result: result.clone() }).await.unwrap();
            assert!(store.result(&id).await.unwrap().result == result, "the result {payload:?} was changed");
            assert_eq!(store.describe(&id).await.unwrap().payload_bytes, bytes.len() as u64);
        }
    }
    assert_eq!(findings(&store).await, []);
}

#[tokio::test]
async fn every_allowed_text_is_read_back_unchanged() {
    let (_server, store) = start().await;
    let allowed: String = AWKWARD.chars().filter(|c| !c.is_control()).collect();
    let longest = "é".repeat(limits::TEXT_BYTES / 2);
    for text in [allowed.as_str(), "=", " ", "0", &longest] {
        let mut args = SubmitArgs { namespace: Namespace::parse("Team-1.prod_eu").unwrap(), ..work() };
        for nth in 0..limits::TAGS {
            let key = TagKey::parse(&format!("Key-{nth}.of_it")).unwrap();
            args.tags.insert(key, TagValue::parse(text).unwrap());
        }
        args.idempotency_key = Some(IdempotencyKey::parse(text).unwrap());
        let id = store.submit(args.clone()).await.unwrap().execution_id;
        assert!(store.submit(args.clone()).await.unwrap().duplicate, "the key {text:?} meets itself");
        let info = store.describe(&id).await.unwrap();
        assert_eq!((info.tags, info.idempotency_key), (args.tags, args.idempotency_key));
    }
    let args =
        ListArgs { filter: Filter::everything(Namespace::parse("Team-1.prod_eu").unwrap()), after: None, limit: 9 };
    assert_eq!(store.list(args).await.unwrap().executions.len(), 5);
    assert_eq!(findings(&store).await, []);
}

#[tokio::test]
async fn free_text_is_read_back_unchanged() {
    let (_server, store) = start().await;
    for text in [AWKWARD, "", "=", "1"] {
        let given = Some(text.to_owned());
        let id = store.submit(work()).await.unwrap().execution_id;
        let fence = claim(&store, &id).await.task.fence;
        let args = ProgressArgs { execution_id: id, fence, percent: None, message: given.clone() };
        store.progress(args).await.unwrap();
        assert_eq!(store.describe(&id).await.unwrap().progress.unwrap().message, given);
        let failure = Failure { category: Kind::parse("network").unwrap(), message: text.into(), permanent: false };
        store.fail(FailArgs { execution_id: id, fence, failure: failure.clone() }).await.unwrap();
        assert_eq!(store.describe(&id).await.unwrap().failure, Some(failure));
        let stop = CancelArgs { execution_id: id, reason: given.clone(), requested_by: given.clone() };
        store.cancel(stop).await.unwrap();
        assert_eq!(
            store.result(&id).await.unwrap().by,
            FinishedBy::Cancel { reason: given.clone(), requested_by: given }
        );
    }
    assert_eq!(findings(&store).await, []);
}
