import { ApiError } from "./api-error.ts";
import { backOffMs, pause, type BackOffMs } from "./back-off.ts";
import { Connection, type SocketTarget } from "./connection.ts";
import type { ConnectionChange, ConnectionReason } from "./connection-change.ts";
import { ConnectionError } from "./connection-error.ts";
import { callApi } from "./http.ts";

export type StreamOptions = {
  readonly signal?: AbortSignal;
  /** Called on each change of the connection, so that a page can show "reconnecting" apart from the agent's status. */
  readonly onConnection?: (change: ConnectionChange) => void;
  /**
   * Called once with a function that retries immediately: it ends a back-off, or replaces a silent connection. For a page
   * that wakes from sleep. Returns a function that is called at the end of the stream.
   */
  readonly retryNow?: (wake: () => void) => () => void;
  /** Back-off between connections: after the first failure, and the maximum after many in a row. */
  readonly backOffMs?: BackOffMs;
  /**
   * A connection without a frame for this many milliseconds is replaced; 25,000 when not given. Each further silent connection
   * has twice as long, up to eight times, until progress is reported: then an event that a slow line needs longer for
   * arrives in the end.
   */
  readonly deadAfterMs?: number;
};

export type Stream = {
  readonly target: SocketTarget;
  readonly options: StreamOptions;
  /** Resolves with the address to connect to; undefined when it is unknown for now. Rejects when a retry cannot help. */
  readonly url: (signal: AbortSignal) => Promise<string | undefined>;
  /** HTTP address to ask for the reason after a refused handshake. */
  readonly probe: string;
};

const maxSilenceFactor = 8;
/** Close codes from 4000 on are 4000 plus the last digits of an HTTP status. After these the stream reconnects. */
const passingCodes = [4008, 4029];

/**
 * Yields the frames of one socket address, reconnecting as often as needed. Rejects with {@link ApiError} when the server will
 * never serve it; ends when the signal aborts. The caller invokes the listener given to `onProgress` when a frame was a
 * progress.
 */
export async function* frames(
  { target, options, url, probe }: Stream,
  onProgress: (listener: () => void) => void,
): AsyncIterable<string> {
  const { deadAfterMs = 25_000 } = options;
  const signal = options.signal ?? new AbortController().signal;
  let failures = 0;
  let silenceFactor = 1;
  onProgress(() => (silenceFactor = 1));
  let waking = new AbortController();
  let connection: Connection | null = null;
  const stopWaking = options.retryNow?.(() => {
    waking.abort();
    connection?.endIfSilent(deadAfterMs / 2);
  });
  let end: ConnectionReason = { type: "aborted" };
  const report = (
    state: ConnectionChange["state"],
    reason: ConnectionReason | null = null,
    waitMs: number | null = null,
  ): void => {
    const atMs = Date.now();
    options.onConnection?.({ state, atMs, reason, retryAtMs: waitMs === null ? null : atMs + waitMs });
  };
  const retryLater = async (reason: ConnectionReason): Promise<void> => {
    const waitMs = backOffMs(failures++, options.backOffMs);
    report("lost", reason, waitMs);
    waking = new AbortController();
    await pause(waitMs, signal, waking.signal);
  };
  try {
    while (!signal.aborted) {
      report("connecting");
      const address = await url(signal);
      if (address === undefined) {
        await retryLater({ type: "unreachable" });
        continue;
      }
      let isConnected = false;
      connection = new Connection(target, address, signal, deadAfterMs * silenceFactor);
      try {
        for await (const frame of connection.frames()) {
          if (!isConnected) report("connected");
          isConnected = true;
          failures = 0;
          yield frame;
        }
      } finally {
        connection.close();
      }
      if (signal.aborted) return;
      if (connection.wasSilent) silenceFactor = Math.min(silenceFactor * 2, maxSilenceFactor);
      await retryLater(await whyLost(connection, { target, signal, probe }));
    }
  } catch (error) {
    if (error instanceof ApiError) end = { type: "refused", error };
    throw error;
  } finally {
    stopWaking?.();
    report("ended", end);
  }
}

type Lost = Pick<Stream, "target" | "probe"> & { readonly signal: AbortSignal };

/** Rejects when a retry cannot help. */
async function whyLost(
  { closeCode: code, closeText: text, wasOpen, wasSilent, wasBehind }: Connection,
  { target, signal, probe }: Lost,
): Promise<ConnectionReason> {
  if (code >= 4000 && code < 5000 && !passingCodes.includes(code)) {
    const message = text === "" ? `The server closed the socket with code ${code}.` : `${text}.`;
    throw new ApiError(400 + (code % 100), message, null, []);
  }
  if (wasBehind) return { type: "behind" };
  if (wasSilent) return { type: "silent" };
  if (wasOpen) return { type: "closed", code, text };
  // A browser hides the reason of a refused handshake; the same request over HTTP shows it.
  const isThere = (await askAgain(target, probe, signal)) !== undefined;
  return { type: isThere ? "no_socket" : "unreachable" };
}

/** Resolves with undefined when a later retry may help; rejects otherwise. */
export async function askAgain<Reply>(
  target: SocketTarget,
  path: string,
  signal: AbortSignal,
  query?: Readonly<Record<string, unknown>>,
): Promise<Reply | undefined> {
  try {
    return await callApi<Reply>(target, { method: "GET", path, query, signal });
  } catch (error) {
    const isPassing =
      signal.aborted ||
      error instanceof ConnectionError ||
      (error instanceof ApiError && (error.status >= 500 || error.status === 408 || error.status === 429));
    if (!isPassing) throw error;
    return undefined;
  }
}

/** The address of a socket, with heartbeats switched on because a page cannot see ping frames. */
export function socketUrl(
  { baseUrl }: SocketTarget,
  path: string,
  query: Readonly<Record<string, unknown>>,
): string {
  const url = new URL(`${baseUrl.replace(/\/$/, "")}${path}`);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  for (const [name, value] of Object.entries({ heartbeat: true, ...query }))
    if (value !== undefined) url.searchParams.set(name, String(value));
  return url.href;
}
