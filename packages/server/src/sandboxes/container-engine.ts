import { request, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { once } from "node:events";
import { ContainerAttachment } from "./container-attachment.ts";
import { remedyOf } from "./engine-facts.ts";
import { SandboxError } from "./sandbox.ts";

const attachMs = 10_000;

/** The reply of an engine; `body` is its JSON, or its text when it is none. */
export type EngineReply = { readonly status: number; readonly body: unknown; readonly bytes: Buffer };

/** The Engine API of Docker or Podman on its unix socket; only the calls that sandboxes need. */
export class ContainerEngine {
  readonly #socketPath: string;

  constructor(socketPath: string) {
    this.#socketPath = socketPath;
  }

  /** Resolves with any status in `accepted`; rejects with the engine's own words on any other. */
  async call(
    method: "GET" | "POST" | "DELETE",
    path: string,
    options: {
      readonly body?: object;
      readonly accepted?: readonly number[];
      readonly signal?: AbortSignal;
    } = {},
  ): Promise<EngineReply> {
    const incoming = await this.#send(method, path, options);
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    const body = parseReply(bytes);
    const status = incoming.statusCode ?? 0;
    if (status < 300 || options.accepted?.includes(status)) return { status, body, bytes };
    const message = (body as { message?: string } | null)?.message ?? String(body);
    throw new SandboxError(`The container engine refused (${status}): ${message}${remedyOf(message)}`);
  }

  /** A call that answers with one JSON value a line for as long as it works. */
  async *follow(method: "POST", path: string, signal: AbortSignal): AsyncGenerator<Record<string, unknown>> {
    const incoming = await this.#send(method, path, { signal });
    let rest = "";
    for await (const chunk of incoming) {
      const lines = (rest + String(chunk)).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line.trim() !== "") yield JSON.parse(line) as Record<string, unknown>;
    }
    if ((incoming.statusCode ?? 0) >= 300) throw new SandboxError(`The container engine refused: ${rest}`);
  }

  /** Connects to the input and the output of a container that was created. Its input ends with the connection. */
  async attach(name: string): Promise<ContainerAttachment> {
    const outgoing = request({
      socketPath: this.#socketPath,
      method: "POST",
      path: `/v1.41/containers/${name}/attach?stream=1&stdin=1&stdout=1&stderr=1`,
      agent: false,
      headers: { connection: "Upgrade", upgrade: "tcp" },
      timeout: attachMs,
    });
    outgoing.once("timeout", () => outgoing.destroy(new Error("the engine did not answer")));
    const refused = once(outgoing, "response").then((answer) => {
      const [{ statusCode }] = answer as [IncomingMessage];
      outgoing.destroy();
      throw new SandboxError(`The container engine refused to attach (${statusCode}).`);
    });
    const upgraded = once(outgoing, "upgrade") as Promise<[IncomingMessage, Socket, Buffer]>;
    outgoing.end();
    const [, socket, head] = await Promise.race([upgraded, refused]);
    socket.setTimeout(0);
    return new ContainerAttachment(socket, head);
  }

  async #send(
    method: string,
    path: string,
    { body, signal }: { readonly body?: object; readonly signal?: AbortSignal },
  ): Promise<IncomingMessage> {
    const outgoing = request({
      socketPath: this.#socketPath,
      method,
      path: `/v1.41${path}`,
      agent: false,
      headers: body === undefined ? {} : { "content-type": "application/json" },
      signal,
    });
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    try {
      const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
      return incoming;
    } catch (error) {
      signal?.throwIfAborted();
      const { code } = error as NodeJS.ErrnoException;
      throw new SandboxError(
        `The container engine at ${this.#socketPath} cannot be reached (${code ?? String(error)}).`,
        { cause: error },
      );
    }
  }
}

function parseReply(bytes: Buffer): unknown {
  const text = bytes.toString("utf8");
  try {
    return text === "" ? null : JSON.parse(text);
  } catch {
    return text; // Logs and errors of proxies are no JSON.
  }
}
