import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { hasMoreValues, maxJsonValues } from "@convoke/protocol";
import type { PipedProcess } from "@convoke/tool-host";
import { describeError } from "../../lib/describe-error.ts";
import { objectOr } from "../../lib/json-object.ts";

const longestLineBytes = 32 * 1024 * 1024;
/** The maximum of output that is no message, e.g. a greeting, before the program counts as no MCP server. */
const maxJunkBytes = 1024 * 1024;
const floodBytes = 64 * 1024 * 1024;
/** Of messages that nobody asked for. */
const unaskedFloodBytes = 8 * 1024 * 1024;
const floodWindowMs = 10_000;

/** What a program is expected to speak, and how much of it nobody has to have asked for. */
export type Spoken = { readonly protocol: string; readonly unaskedFloodBytes: number };

const mcp: Spoken = { protocol: "MCP", unaskedFloodBytes };

/** JSON-RPC over the standard input and output of a process at the tool host: one JSON message a line. Owns the process. */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #start: () => PipedProcess;
  readonly #spoken: Spoken;
  #process: PipedProcess | null = null;
  #parts: Buffer[] = [];
  #partBytes = 0;
  #junkBytes = 0;
  #window = { startedAtMs: 0, bytes: 0, unaskedBytes: 0 };
  #isClosed = false;
  #end: string | null = null;

  constructor(start: () => PipedProcess, spoken = mcp) {
    this.#start = start;
    this.#spoken = spoken;
  }

  /** How the process ended, once it has; for messages to people. */
  get end(): string | null {
    return this.#end;
  }

  async start(): Promise<void> {
    const started = this.#start();
    this.#process = started;
    started.output.on("data", (bytes: Buffer) => this.#receive(bytes));
    started.ended.then(
      ({ exitCode, signal, errorText }) => {
        const last = errorText.trim().split("\n").slice(-5).join("\n");
        this.#stop(
          `The program ended with ${signal === null ? `exit code ${exitCode}` : `signal ${signal}`}.${last === "" ? "" : ` Its last words: ${last}`}`,
        );
      },
      (error: unknown) => this.#stop(`The program could not be run: ${describeError(error)}`),
    );
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#process === null || this.#isClosed) throw new Error(this.#end ?? "The program is not running.");
    this.#process.input.write(`${JSON.stringify(message)}\n`);
  }

  async close(): Promise<void> {
    this.#stop("The connection was closed.");
    await this.#process?.[Symbol.asyncDispose]();
  }

  #receive(bytes: Buffer): void {
    if (this.#isClosed) return;
    if (this.#isFlood(bytes.length)) return this.#stop("The program writes more than anybody can read.");
    let rest = bytes;
    for (let at = rest.indexOf(10); at !== -1; at = rest.indexOf(10)) {
      const line = Buffer.concat([...this.#parts, rest.subarray(0, at)]);
      this.#parts = [];
      this.#partBytes = 0;
      rest = rest.subarray(at + 1);
      if (hasMoreValues(line, maxJsonValues))
        return this.#stop("The program wrote a message of too many values.");
      this.#read(line.toString("utf8"));
      if (this.#isClosed) return;
    }
    if (rest.length === 0) return;
    this.#parts.push(rest);
    this.#partBytes += rest.length;
    if (this.#partBytes > longestLineBytes) this.#stop("The program wrote a message that is too long.");
  }

  #read(line: string): void {
    if (line.trim() === "") return;
    const message = parseMessage(line);
    if (message === null) {
      this.#junkBytes += line.length;
      if (this.#junkBytes > maxJunkBytes)
        this.#stop(`The program writes something else than ${this.#spoken.protocol} messages.`);
      return;
    }
    this.#junkBytes = 0;
    if (!("id" in message)) this.#window.unaskedBytes += line.length;
    this.onmessage?.(message);
  }

  #isFlood(byteCount: number): boolean {
    const nowMs = performance.now();
    if (nowMs - this.#window.startedAtMs > floodWindowMs)
      this.#window = { startedAtMs: nowMs, bytes: 0, unaskedBytes: 0 };
    this.#window.bytes += byteCount;
    return this.#window.bytes > floodBytes || this.#window.unaskedBytes > this.#spoken.unaskedFloodBytes;
  }

  #stop(reason: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#end = reason;
    this.#parts = [];
    void this.#process?.[Symbol.asyncDispose]();
    this.onclose?.();
  }
}

/** What has the form of a message; the client checks the rest. */
function parseMessage(line: string): JSONRPCMessage | null {
  try {
    const value: unknown = JSON.parse(line);
    return objectOr(value)["jsonrpc"] === "2.0" ? (value as JSONRPCMessage) : null;
  } catch {
    // Programs print banners and logs where only messages belong; those are passed over.
    return null;
  }
}
