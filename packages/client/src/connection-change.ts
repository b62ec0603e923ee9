import type { ApiError } from "./api-error.ts";

/** Why there is no connection, or none any more. */
export type ConnectionReason =
  /** The server, or the way to it, gives no answer. */
  | { readonly type: "unreachable" }
  /** It answers over HTTP, but what is between refuses sockets. */
  | { readonly type: "no_socket" }
  /** It closed the socket; see `docs/guides/errors.md` for the codes. */
  | { readonly type: "closed"; readonly code: number; readonly text: string }
  /** Nothing came for too long, not even a heartbeat. */
  | { readonly type: "silent" }
  /** The reader fell behind: a new connection goes on at its place. */
  | { readonly type: "behind" }
  /** The server will never serve this stream: not the right key, no such conversation, no such event. */
  | { readonly type: "refused"; readonly error: ApiError }
  /** The signal aborted, or the reader left. */
  | { readonly type: "aborted" };

/** One step in the life of a followed stream, for whoever shows the connection apart from what the agent does (P36). */
export type ConnectionChange = {
  readonly state: "connecting" | "connected" | "lost" | "ended";
  /** Epoch milliseconds. */
  readonly atMs: number;
  /** For `lost` and `ended`. */
  readonly reason: ConnectionReason | null;
  /** For `lost`: when it is tried again by itself. */
  readonly retryAtMs: number | null;
};
