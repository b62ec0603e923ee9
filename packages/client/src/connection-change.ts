import type { ApiError } from "./api-error.ts";

/** Why the connection was lost or could not be made. */
export type ConnectionReason =
  /** The server did not answer. */
  | { readonly type: "unreachable" }
  /** The server answers over HTTP, but something in between refuses WebSockets. */
  | { readonly type: "no_socket" }
  /** It closed the socket; see `docs/guides/errors.md` for the codes. */
  | { readonly type: "closed"; readonly code: number; readonly text: string }
  /** No frame came for too long, not even a heartbeat. */
  | { readonly type: "silent" }
  /** The reader fell behind. A new connection continues at its cursor. */
  | { readonly type: "behind" }
  /** The server will never serve this stream: wrong key, unknown conversation or unknown event. */
  | { readonly type: "refused"; readonly error: ApiError }
  /** The signal aborted, or the reader stopped reading. */
  | { readonly type: "aborted" };

/** A change of a followed stream's connection, for user interfaces that show it apart from the agent's status (P36). */
export type ConnectionChange = {
  readonly state: "connecting" | "connected" | "lost" | "ended";
  /** Epoch milliseconds. */
  readonly atMs: number;
  /** Set for `lost` and `ended`. */
  readonly reason: ConnectionReason | null;
  /** Set for `lost`: milliseconds until the next automatic try. */
  readonly retryAtMs: number | null;
};
