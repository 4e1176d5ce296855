//! Connecting by URL.

use ff_sdk::{Context, Fault, Job};

#[tokio::test]
async fn a_file_keeps_what_was_submitted() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("jobs.db").display());
    let ff = ff_sdk::connect(&url).await.unwrap();
    let id = ff.client().submit(Job::new("later", &7)).await.unwrap().execution_id;
    ff.shutdown().await;
    drop(ff);

    let ff = ff_sdk::connect(&url).await.unwrap();
    let working = tokio::spawn(ff.worker("w").on("later", |_: Context, n: u8| async move { Ok::<_, Fault>(n) }).run());
    assert_eq!(ff.client().wait(&id).await.unwrap().json::<u8>().unwrap(), 7);
    working.abort();
    ff.shutdown().await;
}

#[tokio::test]
async fn a_file_in_use_is_not_opened_twice() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("jobs.db").display());
    let ff = ff_sdk::connect(&url).await.unwrap();
    let error = ff_sdk::connect(&url).await.err().unwrap().to_string();
    assert!(error.contains("in use") && error.contains("http"), "{error}");
    ff.shutdown().await;
}

#[tokio::test]
async fn a_connection_that_was_shut_down_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("jobs.db").display());
    let ff = ff_sdk::connect(&url).await.unwrap();
    ff.shutdown().await;
    let error = ff.client().submit(Job::new("a", &1)).await.unwrap_err();
    assert_eq!(error.code().unwrap().as_str(), "store_unavailable");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    let error = ff_sdk::connect("http://127.0.0.1:9").await.err().unwrap().to_string();
    assert!(error.contains("127.0.0.1:9"), "{error}");
}
