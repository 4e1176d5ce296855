// Logging in with a key and out again. The server keeps the key in a cookie that no script can read.

import { get, post, session, Problem } from "./api.js";

/** Asks who this tab is. */
export async function recall() {
  try {
    session.value = await get("/v1/session");
  } catch (error) {
    if (!(error instanceof Problem && error.status === 401)) throw error;
    session.value = false;
  }
}

export async function logIn(key) {
  await post("/v1/session", {}, { headers: { Authorization: `Bearer ${key}` } });
  await recall();
}

export async function logOut() {
  await post("/v1/session/end");
  session.value = false;
}
