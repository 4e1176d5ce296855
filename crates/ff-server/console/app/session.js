// Log-in with an API key, and log-out. The server puts the key into a cookie that scripts cannot read.

import { get, post, session, ApiError } from "./api.js";

/** Loads the session of this browser. */
export async function loadSession() {
  try {
    session.value = await get("/v1/session");
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 401)) throw error;
    session.value = false;
  }
}

export async function logIn(key) {
  await post("/v1/session", {}, { headers: { Authorization: `Bearer ${key}` } });
  await loadSession();
}

export async function logOut() {
  await post("/v1/session/end");
  session.value = false;
}
