//! Handlers with steps, over stores in this process.

mod scenarios;

mod memory {
    use super::scenarios;

    scenarios::all!((ff_sdk::connect("memory:").await.unwrap(), ()));
}

mod sqlite {
    use ff_sdk::FlowFabric;
    use tempfile::TempDir;

    use super::scenarios;

    scenarios::all!(fabric().await);

    /// Connects to a store in a temporary file.
    async fn fabric() -> (FlowFabric, TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("steps.db").display());
        (ff_sdk::connect(&url).await.unwrap(), folder)
    }
}
