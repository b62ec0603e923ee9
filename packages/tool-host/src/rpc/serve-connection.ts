import type { Socket } from "node:net";
import { describeError } from "../describe-error.ts";
import type { ToolHost } from "../host.ts";
import type { Bash } from "../bash/bash.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { Channel } from "./channel.ts";
import { FrameError } from "./frames.ts";
import type { Frame } from "./frames.ts";
import { protocolNumber } from "./messages.ts";
import type { HostMessage, Welcome } from "./messages.ts";
import { createNonce, isSameProof, proveKey } from "./prove-key.ts";
import { release } from "./release.ts";
import { ServedRequest } from "./served-request.ts";
import type { SessionTable } from "./session-table.ts";

export type ConnectionDeps = {
  readonly host: Promise<ToolHost>;
  readonly workspace: Workspace;
  readonly bash: Bash;
  readonly sessions: SessionTable;
  readonly key: string;
  readonly bootId: string;
  readonly onWarning: (text: string) => void;
  readonly limits: ConnectionLimits;
};

export type ConnectionLimits = {
  readonly maxFrameBytes: number;
  /** Maximum number of requests of one connection that run at the same time. */
  readonly maxRequests: number;
  /** Milliseconds that a client has to prove that it has the key. */
  readonly greetingMs: number;
  /** Milliseconds without a frame after which a client counts as lost; it pings much more often. */
  readonly silentMs: number;
};

/** A client is dropped after this many checks in a row without a frame. */
const maxSilentChecks = 4;

/** State of a connection: new, challenged, authenticated, or refused. */
type Stage =
  | { readonly type: "silent" }
  | { readonly type: "challenged"; readonly expected: string }
  | { readonly type: "open" }
  | { readonly type: "refused" };

/** One client of a served host, from its first byte to its last. */
export class ServedConnection {
  readonly closed: Promise<void>;
  readonly #deps: ConnectionDeps;
  readonly #channel: Channel;
  readonly #requests = new Map<number, ServedRequest>();
  readonly #timers: NodeJS.Timeout[] = [];
  #stage: Stage = { type: "silent" };

  constructor(socket: Socket, deps: ConnectionDeps) {
    this.#deps = deps;
    const closed = Promise.withResolvers<void>();
    this.closed = closed.promise;
    this.#channel = new Channel({
      socket,
      maxFrameBytes: deps.limits.maxFrameBytes,
      onFrame: (frame) => this.#receive(frame),
      onClose: (reason) => {
        this.#close(reason);
        closed.resolve();
      },
    });
    const { greetingMs } = deps.limits;
    this.#timers.push(setTimeout(() => this.#expire("showed no key in time"), greetingMs).unref());
  }

  /** Closes the connection; executions continue. */
  destroy(): void {
    this.#channel.destroy();
  }

  #receive(frame: Frame): void {
    if (this.#stage.type === "refused") return;
    if (this.#stage.type === "open") return this.#serve(frame);
    if (frame.type !== "message") throw new FrameError("The first frame is not a greeting.");
    if (this.#stage.type === "silent") this.#challenge(frame.message);
    else this.#admit(frame.message, this.#stage.expected);
  }

  #challenge(hello: Readonly<Record<string, unknown>>): void {
    const { protocol, version, clientNonce } = hello;
    if (protocol !== protocolNumber) {
      return this.#refuse(
        "version",
        `The tool host (Convoke ${release}) speaks version ${protocolNumber} of its protocol, the client (Convoke ${String(version)}) speaks ${String(protocol)}. Run both from the same release.`,
      );
    }
    if (typeof clientNonce !== "string") throw new FrameError("The first frame is not a greeting.");
    const greeting = { clientNonce, serverNonce: createNonce() };
    const { key } = this.#deps;
    this.#stage = { type: "challenged", expected: proveKey(key, "client", greeting) };
    this.#channel.send({ serverNonce: greeting.serverNonce, proof: proveKey(key, "host", greeting) });
  }

  #admit(answer: Readonly<Record<string, unknown>>, expected: string): void {
    if (!isSameProof(expected, answer["proof"])) {
      this.#deps.onWarning("A connection was refused: it has another key.");
      return this.#refuse("key", "The tool host has another key.");
    }
    for (const timer of this.#timers) clearTimeout(timer);
    this.#stage = { type: "open" };
    this.#channel.trust();
    const { silentMs } = this.#deps.limits;
    this.#timers.push(
      setInterval(() => {
        if (this.#channel.countSilence() >= maxSilentChecks) this.#expire("was silent for too long");
      }, silentMs / maxSilentChecks).unref(),
    );
    this.#deps.host.then(
      ({ catalogue }) => {
        const { bootId } = this.#deps;
        this.#channel.send({ bootId, version: release, catalogue } satisfies Welcome);
      },
      (error: unknown) => this.#channel.destroy(describeError(error)), // The server's owner sees the rejection itself.
    );
  }

  #refuse(code: "version" | "key", message: string): void {
    this.#channel.send({ refused: code, message });
    this.#channel.end();
    // The other side may never read; it is disconnected all the same.
    this.#timers.push(setTimeout(() => this.#channel.destroy(), 1_000).unref());
    this.#stage = { type: "refused" };
  }

  #serve(frame: Frame): void {
    if (frame.type === "chunk") return this.#requests.get(frame.id)?.incoming?.take(frame.bytes);
    const { message } = frame;
    if (typeof message["ping"] === "number") {
      // When bytes wait to be sent, the client receives something anyway.
      return this.#channel.hasRoom ? this.#send({ pong: message["ping"] }) : undefined;
    }
    if (typeof message["abort"] === "number") return this.#requests.get(message["abort"])?.abort();
    const { id } = message;
    if (typeof id !== "number") throw new FrameError("A message has no id.");
    if ("method" in message) return this.#start(id, message);
    const request = this.#requests.get(id);
    if (typeof message["credit"] === "number") request?.outgoing?.allow(message["credit"]);
    else if (message["end"] === true) request?.incoming?.end(readError(message["error"]));
  }

  #start(id: number, message: Readonly<Record<string, unknown>>): void {
    if (this.#requests.has(id)) throw new FrameError("Two requests have one id.");
    if (this.#requests.size >= this.#deps.limits.maxRequests) {
      const text = `The tool host answers ${this.#requests.size} requests already; ask again later.`;
      return this.#send({ id, error: { code: "busy", message: text } });
    }
    const { sessions, workspace, bash, host } = this.#deps;
    const request = new ServedRequest({
      id,
      channel: this.#channel,
      owner: this,
      sessions,
      workspace,
      bash,
      host,
      onDone: () => this.#requests.delete(id),
    });
    this.#requests.set(id, request);
    request.run(message["method"], message["params"]);
  }

  #send(message: HostMessage): void {
    this.#channel.send(message);
  }

  #expire(what: string): void {
    this.#channel.destroy(`The client ${what}.`);
  }

  #close(reason: string | undefined): void {
    for (const timer of this.#timers) clearTimeout(timer);
    if (reason !== undefined) this.#deps.onWarning(`A connection was cut: ${reason}`);
    this.#deps.sessions.detach(this);
    for (const request of this.#requests.values()) request.disconnect();
  }
}

function readError(value: unknown): { code: string; message: string } | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  return {
    code: "code" in value ? String(value.code) : "failed",
    message: "message" in value ? String(value.message) : "",
  };
}
