import { ApiError } from "./api-error.ts";
import { Connection, type SocketTarget } from "./connection.ts";
import { ConnectionError } from "./connection-error.ts";
import { askAgain, socketUrl } from "./stream.ts";

export type AttachOptions<Input> = {
  /** What the person does. When it ends, the person detaches. */
  readonly inputs: AsyncIterable<Input>;
  readonly signal?: AbortSignal;
};

/** WebSocket address of what the person attaches to. */
export type AttachPlace = {
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** HTTP address to ask for the reason after a refused handshake. */
  readonly probe: string;
};

/** Longer than the server's interval between two heartbeats. */
const deadAfterMs = 25_000;

/**
 * Attaches a person to something of the agent over one connection. A lost connection gives control back to the agent.
 * Ends when the signal aborts or the inputs end. Rejects with {@link ApiError} when the server refuses the connection,
 * with {@link ConnectionError} when it is lost.
 */
export async function* attach<Frame extends { readonly type: string }, Input>(
  target: SocketTarget,
  { path, query = {}, probe }: AttachPlace,
  { inputs, signal }: AttachOptions<Input>,
): AsyncIterable<Frame> {
  const leaving = new AbortController();
  const over = AbortSignal.any([leaving.signal, ...(signal === undefined ? [] : [signal])]);
  const connection = new Connection(target, socketUrl(target, path, query), over, deadAfterMs);
  let isSending = false;
  try {
    for await (const json of connection.frames()) {
      const frame = JSON.parse(json) as Frame | { readonly kind: "Heartbeat" };
      if (!("type" in frame)) continue;
      if (!isSending) void send(connection, inputs).finally(() => leaving.abort());
      isSending = true;
      yield frame;
    }
  } finally {
    connection.close();
  }
  if (over.aborted) return;
  const { closeCode: code, closeText: text, wasOpen } = connection;
  if (code >= 4000 && code < 5000) throw new ApiError(400 + (code % 100), `${text}.`, null, []);
  // A browser hides the reason of a refused handshake; the same request over HTTP shows it.
  if (!wasOpen) await askAgain(target, probe, over);
  throw new ConnectionError(target.baseUrl, new Error(text === "" ? "the connection broke" : text));
}

async function send(connection: Connection, inputs: AsyncIterable<unknown>): Promise<void> {
  for await (const input of inputs) connection.send(JSON.stringify(input));
}
