import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { anthropicWire } from "./anthropic-wire.ts";
import { bedrockWire } from "./bedrock-wire.ts";
import { googleWire } from "./google-wire.ts";
import { openaiResponsesWire } from "./openai-responses-wire.ts";
import { openaiWire } from "./openai-wire.ts";
import { sendRaw } from "./raw-answer.ts";
import { ScriptPlayer, type Played } from "./script-player.ts";
import { parseScript, type Script, type ScriptError } from "./script.ts";
import type { Wire, WireName } from "./wire.ts";

export type ScriptedModelOptions = {
  /** A script, or its JSON text. */
  readonly script: Script | string;
  /** TCP port on 127.0.0.1; any free one unless given. */
  readonly port?: number;
  /** Values for `{{name}}`, which override those of the script. */
  readonly vars?: Readonly<Record<string, string>>;
  /** Whether every request is recorded; a long load would fill the memory. True unless given. */
  readonly keepsRequests?: boolean;
  /** A specific provider; without it every readable request is answered. */
  readonly provider?: ScriptedProvider;
};

/** Deviations of one provider from its wire. */
export type ScriptedProvider = {
  /** The wire, if the path does not determine it. */
  readonly wire: Wire;
  /** Prefix of the wire's paths, e.g. `/openai/v1`. */
  readonly path: string;
  /** The refusal of a request before its turn is played; null when it is accepted. */
  readonly refuse: (request: ScriptedRequest) => { readonly status: number; readonly body: unknown } | null;
};

export type ScriptedRequest = Pick<RecordedRequest, "path" | "headers" | "text" | "body">;

export type ScriptedModelServer = AsyncDisposable & {
  /** Without a trailing slash and without `/v1`, e.g. `http://127.0.0.1:41234`. */
  readonly url: string;
  /** Every request to a model, oldest first; empty when they are not recorded. */
  readonly requests: readonly RecordedRequest[];
};

export type RecordedRequest = {
  readonly wire: WireName;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body as received, and parsed. */
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Position in `turns` of the turn that answered; null after the end of the script. */
  readonly turn: number | null;
};

/** Starts a model that answers from a script, on 127.0.0.1, over all supported protocols. Throws for an invalid script. */
export async function startScriptedModel(options: ScriptedModelOptions): Promise<ScriptedModelServer> {
  const script = parseScript(options.script);
  const player = new ScriptPlayer(script, options.vars);
  const requests: RecordedRequest[] = [];
  const server = createServer((request, response) => {
    const { keepsRequests = true } = options;
    const { provider } = options;
    handle(request, response, {
      script,
      player,
      requests: keepsRequests ? requests : null,
      ...(provider === undefined ? {} : { provider }),
    }).catch((error: unknown) => {
      // Clients that hang up are part of many tests; other errors are reported to the client.
      if (response.destroyed) return;
      response.writeHead(500, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: String(error), type: "api_error" } }));
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

type Context = {
  readonly script: Script;
  readonly player: ScriptPlayer;
  readonly requests: RecordedRequest[] | null;
  readonly provider?: ScriptedProvider;
};

type Place = { readonly wire: Wire; readonly model?: string; readonly isStreamed?: boolean };

const fixedPlaces: ReadonlyMap<string, Place> = new Map([
  ["/chat/completions", { wire: openaiWire }],
  ["/responses", { wire: openaiResponsesWire }],
  ["/messages", { wire: anthropicWire }],
]);

/** Two protocols have the model and the kind of answer in the path. */
function findPlace(path: string): Place | undefined {
  const google = /\/models\/([^/:]+):(stream)?generateContent$/iu.exec(path);
  if (google !== null) return { wire: googleWire, model: google[1]!, isStreamed: google[2] !== undefined };
  const bedrock = /^\/model\/([^/]+)\/converse(-stream)?$/u.exec(path);
  if (bedrock !== null) {
    return {
      wire: bedrockWire,
      model: decodeURIComponent(bedrock[1]!),
      isStreamed: bedrock[2] !== undefined,
    };
  }
  const own = fixedPlaces.get(path.replace(/^\/v1(?=\/)/u, ""));
  return own !== undefined || !path.startsWith("/openai/") ? own : azurePlace(path);
}

function withoutPrefix(path: string, provider: ScriptedProvider | undefined): string {
  const prefix = provider?.path ?? "";
  return prefix !== "" && path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path;
}

function azurePlace(path: string): Place | undefined {
  return fixedPlaces.get(path.replace(/^\/openai(?:\/deployments\/[^/]+|\/v1)?(?=\/)/u, ""));
}

async function handle(request: IncomingMessage, response: ServerResponse, context: Context): Promise<void> {
  const path = (request.url ?? "/").split("?")[0] ?? "/";
  const model = context.script.model ?? "scripted";
  if (request.method === "GET" && path === "/v1/models") {
    sendJson(response, 200, {
      object: "list",
      data: [{ id: model, object: "model", created: 0, owned_by: "script" }],
    });
    return;
  }
  const place = request.method === "POST" ? findPlace(withoutPrefix(path, context.provider)) : undefined;
  if (place === undefined) {
    request.resume();
    sendJson(response, 404, {
      error: { message: `Nothing is served at ${request.method} ${path}.`, type: "not_found_error" },
    });
    return;
  }
  const wire = context.provider?.wire ?? place.wire;
  const text = await readBody(request);
  const body = JSON.parse(text) as Record<string, unknown>;
  const refusal = context.provider?.refuse({ path, headers: request.headers, text, body }) ?? null;
  if (refusal !== null) {
    sendJson(response, refusal.status, refusal.body);
    return;
  }
  const played = context.player.play(wire.readFacts(body));
  context.requests?.push({ wire: wire.name, path, headers: request.headers, text, body, turn: played.index });
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  await answer(response, {
    wire,
    played,
    model: typeof body["model"] === "string" ? body["model"] : (place.model ?? model),
    isStreamed: place.isStreamed ?? body["stream"] === true,
    signal: gone.signal,
  });
}

type Answering = {
  readonly wire: Wire;
  readonly played: Played;
  readonly model: string;
  readonly isStreamed: boolean;
  readonly signal: AbortSignal;
};

async function answer(response: ServerResponse, answering: Answering): Promise<void> {
  const { wire, played, signal } = answering;
  const { turn } = played;
  if (turn.delay_ms !== undefined) await delay(turn.delay_ms, undefined, { signal });
  if (turn.hang === true) return;
  const error = turn.error ?? (turn.overflow === true ? wire.overflow : undefined);
  if (error !== undefined) {
    sendError(response, wire, error, turn.content_type);
    return;
  }
  if (turn.raw !== undefined) {
    await sendRaw(response, turn.raw, signal);
    return;
  }
  const isEvents = answering.isStreamed && turn.plain_json !== true;
  const type = turn.content_type ?? (isEvents ? (wire.eventType ?? "text/event-stream") : "application/json");
  response.writeHead(200, { ...wire.headers?.(played), "content-type": type, "cache-control": "no-cache" });
  const writer = new ChunkWriter(response, turn, signal);
  if (!isEvents) {
    const text = JSON.stringify(wire.toJson(played, answering.model));
    await writer.write(turn.half_json === true ? text.slice(0, text.length / 2) : text);
  } else {
    const frame = (event: string): string | Uint8Array => wire.toFrame?.(event) ?? `${event}\n\n`;
    const events = wire.toEvents(played, answering.model);
    const lastData = events.findLastIndex((event) => event.includes("{"));
    const half = Math.floor(lastData / 2);
    for (const [index, event] of events.entries()) {
      if (turn.half_json === true && index === half) {
        await writer.write(frame(event.slice(0, event.length - 5)));
        break;
      }
      if (turn.hang === "body" && index === half + 1) return;
      await writer.write(frame(event));
      if (turn.chunk_delay_ms !== undefined) await delay(turn.chunk_delay_ms, undefined, { signal });
    }
  }
  response.end();
}

/** Writes text in chunks of `write_bytes`, and breaks the connection after `cut_after_bytes`. */
class ChunkWriter {
  readonly #response: ServerResponse;
  readonly #turn: Played["turn"];
  readonly #signal: AbortSignal;
  #written = 0;

  constructor(response: ServerResponse, turn: Played["turn"], signal: AbortSignal) {
    this.#response = response;
    this.#turn = turn;
    this.#signal = signal;
  }

  async write(part: string | Uint8Array): Promise<void> {
    const bytes = Buffer.from(part as string);
    const size = this.#turn.write_bytes ?? bytes.length;
    for (let at = 0; at < bytes.length; at += size) {
      this.#signal.throwIfAborted();
      await this.#writeChunk(bytes.subarray(at, at + size));
    }
  }

  async #writeChunk(part: Buffer): Promise<void> {
    const limit = this.#turn.cut_after_bytes;
    const left = limit === undefined ? part.length : Math.min(part.length, limit - this.#written);
    await new Promise<void>((resolve) =>
      this.#response.write(part.subarray(0, Math.max(left, 0)), () => resolve()),
    );
    this.#written += left;
    if (limit !== undefined && this.#written >= limit) this.#response.destroy();
  }
}

function sendError(
  response: ServerResponse,
  wire: Wire,
  error: ScriptError,
  contentType: string | undefined,
): void {
  response.writeHead(error.status, {
    "content-type": contentType ?? "application/json",
    ...(error.retry_after === undefined ? {} : { "retry-after": error.retry_after }),
  });
  response.end(JSON.stringify(wire.toError(error)));
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
