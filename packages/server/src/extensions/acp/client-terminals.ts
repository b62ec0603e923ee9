import { randomUUID } from "node:crypto";
import { StringDecoder } from "node:string_decoder";
import type { ClientApp, TerminalExitStatus } from "@agentclientprotocol/sdk";
import type { PipedProcess, ToolHost } from "@convoke/tool-host";
import { describeError } from "../../lib/describe-error.ts";
import { toCommandLine } from "../../lib/quote-word.ts";
import type { PromptListener, RecordedCall } from "./external-agent.ts";

export type ClientTerminalsDeps = {
  readonly toolHost: Pick<ToolHost, "startProcess">;
  /** Absolute. */
  readonly workspaceDir: string;
};

type Terminal = {
  readonly process: PipedProcess;
  readonly exit: Promise<TerminalExitStatus>;
  readonly maxBytes: number;
  /** At least the last `maxBytes` of it. */
  output: string;
  isCut: boolean;
  status: TerminalExitStatus | null;
};

const defaultLimit = 1024 * 1024;
const recordedBytes = 20_000;

const spareCharacters = 64 * 1024;

/** Both outputs in one, as in a terminal. */
const merged = 'exec 2>&1; exec "$@"';
/** A command without arguments may be a whole line for a shell. */
const line = 'exec 2>&1; eval "$1"';

/** Commands that an agent runs through us: at the tool host like everything of the conversation, and recorded before they start. */
export class ClientTerminals {
  readonly #deps: ClientTerminalsDeps;
  readonly #terminals = new Map<string, Terminal>();

  constructor(deps: ClientTerminalsDeps) {
    this.#deps = deps;
  }

  serve(app: ClientApp, listener: () => PromptListener): void {
    app.onRequest("terminal/create", async ({ params }) => {
      const { command, args = [], env = [], cwd, outputByteLimit } = params;
      const terminalId = `terminal-${randomUUID()}`;
      // Alone it is a line for a shell.
      const words = args.length === 0 ? command : toCommandLine([command, ...args]);
      const call = {
        toolCallId: terminalId,
        title: words,
        kind: "execute",
        rawInput: { command: words, cwd },
      };
      const current = listener();
      const refusal = await current.beginCall(call);
      if (refusal !== null) throw new Error(refusal);
      const process = this.#deps.toolHost.startProcess({
        command: "/bin/sh",
        args: args.length === 0 ? ["-c", line, "sh", command] : ["-c", merged, "sh", command, ...args],
        environment: Object.fromEntries(env.map(({ name, value }) => [name, value])),
        workingDir: cwd ?? this.#deps.workspaceDir,
      });
      const limit = outputByteLimit ?? defaultLimit;
      this.#terminals.set(terminalId, this.#follow(process, Math.min(limit, defaultLimit), call, current));
      return { terminalId };
    });
    app.onRequest("terminal/output", ({ params }) => {
      const { output, isCut, maxBytes, status } = this.#find(params.terminalId);
      const shown = lastBytes(output, maxBytes);
      const truncated = isCut || shown.length < output.length;
      return { output: shown, truncated, ...(status === null ? {} : { exitStatus: status }) };
    });
    app.onRequest("terminal/wait_for_exit", async ({ params }) => await this.#find(params.terminalId).exit);
    app.onRequest("terminal/kill", async ({ params }) => {
      await this.#find(params.terminalId).process[Symbol.asyncDispose]();
      return {};
    });
    app.onRequest("terminal/release", async ({ params }) => {
      const terminal = this.#find(params.terminalId);
      this.#terminals.delete(params.terminalId);
      await terminal.process[Symbol.asyncDispose]();
      return {};
    });
  }

  /** Ends what is still running, and waits until that is recorded. */
  async endAll(): Promise<void> {
    const left = [...this.#terminals.values()];
    this.#terminals.clear();
    await Promise.all(
      left.map(async ({ process, exit }) => {
        await process[Symbol.asyncDispose]();
        await exit;
      }),
    );
  }

  #follow(process: PipedProcess, limit: number, call: RecordedCall, listener: PromptListener): Terminal {
    const decoder = new StringDecoder("utf8");
    const terminal: Terminal = {
      process,
      maxBytes: limit,
      output: "",
      isCut: false,
      status: null,
      exit: process.ended.then(
        async ({ exitCode, signal }) => {
          terminal.status = { exitCode, signal };
          await listener.endCall(call, {
            output: { exit_code: exitCode, signal, output: lastBytes(terminal.output, recordedBytes) },
            isError: exitCode !== 0,
          });
          return terminal.status;
        },
        async (error: unknown) => {
          terminal.status = { exitCode: 127, signal: null };
          terminal.output += describeError(error);
          await listener.endCall(call, { output: describeError(error), isError: true });
          return terminal.status;
        },
      ),
    };
    process.output.on("data", (bytes: Buffer) => {
      terminal.output += decoder.write(bytes);
      // Not at each piece: the text is copied then.
      if (terminal.output.length <= 2 * limit + spareCharacters) return;
      terminal.output = terminal.output.slice(-limit).toWellFormed();
      terminal.isCut = true;
    });
    return terminal;
  }

  #find(id: string): Terminal {
    const terminal = this.#terminals.get(id);
    if (terminal === undefined) throw new Error(`There is no terminal ${id}.`);
    return terminal;
  }
}

/** The end of a text, in whole characters. */
function lastBytes(text: string, count: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= count) return text;
  let start = bytes.length - count;
  while (start < bytes.length && (bytes[start]! & 0xc0) === 0x80) start += 1;
  return bytes.toString("utf8", start);
}
