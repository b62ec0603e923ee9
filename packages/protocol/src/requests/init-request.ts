import { Type, type Static } from "typebox";
import { choice, closedObject, mapOf, orNull } from "../schema.ts";

/** Configuration for a server that was started without one. Source: contract, `POST /api/init`. */
export const InitRequest = closedObject("InitRequest", {
  session_api_keys: orNull(Type.Array(Type.String({ minLength: 1 }), { minItems: 1 })),
  secret_key: orNull(Type.String({ minLength: 1 })),
  conversations_path: orNull(Type.String({ minLength: 1 })),
  bash_events_dir: orNull(Type.String()),
  conversation_worktree_root: orNull(Type.String()),
  webhooks: orNull(Type.Array(Type.Record(Type.String(), Type.Unknown()))),
  web_url: orNull(Type.String({ minLength: 1 })),
  allow_cors_origins: orNull(Type.Array(Type.String())),
  max_concurrent_runs: orNull(Type.Integer({ minimum: 1 })),
  env: orNull(mapOf(Type.String())),
  telemetry: orNull(Type.Record(Type.String(), Type.Unknown())),
});
export type InitRequest = Static<typeof InitRequest>;

export const InitStatus = closedObject("InitStatus", {
  state: choice(["dormant", "initializing", "ready"]),
  error: orNull(Type.String()),
  message: Type.Optional(
    Type.String({
      description: "What whoever sent the configuration still has to know; only in that answer.",
    }),
  ),
});
export type InitStatus = Static<typeof InitStatus>;
