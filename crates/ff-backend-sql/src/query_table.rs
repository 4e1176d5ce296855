//! The table of all queries, from every domain.

/// A row has the module of some queries and their names.
macro_rules! queries {
    ($($module:path: $($query:ident)+;)*) => {
        /// Every query with its name. Stores use it to explain their plans.
        pub const QUERIES: &[(&str, &str)] = &[$($({
            use $module as queries;
            (stringify!($query), queries::$query)
        },)+)*];
    };
}

queries! {
    crate::budget: USAGE_BACKLOG_OF;
    crate::engine: NEXT_READY QUEUE;
    crate::explain: AHEAD_BY_AGE AHEAD_BY_PRIORITY;
    crate::fairness: KEYS_AHEAD NEXT_TURNS TURN_QUEUES_ON TURNS TURNS_ON;
    crate::flow::queries: EDGES_AFTER EDGES_IN EDGES_INTO EDGES_OUT FLOW_EVENTS_FROM FLOW_KEYS_OF FLOWS_ON
        LIST_FLOWS MEMBERS_AFTER MEMBERS_FROM;
    crate::queries: API_KEYS_AFTER ATTEMPTS_OF DELIVERIES_FIRST DELIVERIES_FROM DELIVERIES_LAST DEPTH_ACTIVE
        DEPTH_COMPLETED DEPTH_IN_STATE DEPTH_READY DUE DUE_ON EVENTS_FIRST EVENTS_FROM EVENTS_LAST EXECUTION_OF
        EXECUTIONS_ON FEEDS HELD_ON KEYS_ON LANES_ON LEASES_OF LEASES_ON NEXT_CONFIGURED_LANE NEXT_DUE NEXT_LANE
        READY_ON RINGS SIGNAL_KEYS_OF SIGNALS_OF SIGNALS_PAGE SURPLUS_LEASES SUSPEND_KEYS_OF TAGS_ON WAITING
        WAITING_AT WAITING_KINDS WAITING_PRIORITIES WAITPOINTS_OF WALK_LANE WALK_NAMESPACE WALK_TAG
        WORKERS_AFTER WORKERS_BEYOND WORKERS_ON;
    crate::quota: NEXT_QUOTA_NAMESPACE QUOTA_ROWS;
    crate::schedule: DUE_SCHEDULES SCHEDULE_AGENDA SCHEDULES_AFTER;
    crate::singleton: KEY_QUEUES_ON;
    crate::step: STEP_HEADS_OF STEP_SIZES_AFTER STEPS_ON STEPS_TO;
    crate::stream: ATTEMPTS_FROM FRAMES_FROM FRAMES_OF STREAMS_FROM STREAMS_ON;
}
