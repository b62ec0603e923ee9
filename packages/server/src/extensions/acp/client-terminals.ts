import { randomUUID } from "node:crypto";
import { StringDecoder } from "node:string_decoder";
import type { ClientApp, TerminalExitStatus } from "@agentclientprotocol/sdk";
import type { PipedProcess, ToolHost } from "@convoke/tool-host";
import { describeError } from "../../lib/describe-error.ts";
import type { PromptListener, RecordedCall } from "./external-agent.ts";

export type ClientTerminalsDeps = {
  readonly toolHost: Pick<ToolHost, "startProcess">;
  /** Absolute. */
  readonly workspaceDir: string;
};

type Terminal = {
  readonly process: PipedProcess;
  readonly exit: Promise<TerminalExitStatus>;
  output: string;
  isCut: boolean;
  status: TerminalExitStatus | null;
};

const defaultLimit = 1024 * 1024;
const recordedCharacters = 20_000;

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
      const words = [command, ...args].join(" ");
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
      const { output, isCut, status } = this.#find(params.terminalId);
      return { output, truncated: isCut, ...(status === null ? {} : { exitStatus: status }) };
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
      output: "",
      isCut: false,
      status: null,
      exit: process.ended.then(
        async ({ exitCode, signal }) => {
          terminal.status = { exitCode, signal };
          await listener.endCall(call, {
            output: { exit_code: exitCode, signal, output: terminal.output.slice(-recordedCharacters) },
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
      if (terminal.output.length <= limit) return;
      terminal.output = terminal.output.slice(-limit);
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
