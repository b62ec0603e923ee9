import type { Readable } from "node:stream";
import type { Action } from "@convoke/protocol";
import type { Bash, BashQuery, BashRequest } from "../bash/bash.ts";
import type { ExecutionRequest, SessionSpec, ToolHost } from "../host.ts";
import type { DiffBase, LeftOut, Workspace } from "../workspace/workspace.ts";
import type { ProcessSpec } from "../processes/piped-process.ts";
import { obeyInputs, type ShellInput, type ShellSpec } from "../processes/person-shell.ts";
import type { BrowserInput } from "../browser-attachment.ts";
import type { TerminalInput } from "../terminal-attachment.ts";
import type { Channel } from "./channel.ts";
import { FrameTooLargeError } from "./frames.ts";
import type { HostMessage, Method, Methods } from "./messages.ts";
import { fromJsonLines, longestShownLine, toJsonLines } from "./json-lines.ts";
import { readFields } from "./read-fields.ts";
import type { SessionTable } from "./session-table.ts";
import { receiveStream, sendStream } from "./streams.ts";
import type { IncomingStream, OutgoingStream } from "./streams.ts";
import { toWireError } from "./wire-error.ts";

export type ServedRequestDeps = {
  readonly id: number;
  readonly channel: Channel;
  /** The connection, as owner of session handles. */
  readonly owner: object;
  readonly sessions: SessionTable;
  readonly workspace: Workspace;
  readonly bash: Bash;
  readonly host: Promise<ToolHost>;
  readonly onDone: () => void;
};

/** One request of a client, from its arrival to its answer. */
export class ServedRequest {
  incoming: IncomingStream | undefined;
  outgoing: OutgoingStream | undefined;
  readonly #deps: ServedRequestDeps;
  readonly #controller = new AbortController();
  /** Aborts when nobody reads any more, or the client asks to stop. */
  readonly #ended = new AbortController();

  constructor(deps: ServedRequestDeps) {
    this.#deps = deps;
  }

  /** Answers the request; a failure becomes the answer. */
  run(method: unknown, params: unknown): void {
    void this.#answer(method, params).finally(this.#deps.onDone);
  }

  /** The client asks the request to stop. */
  abort(): void {
    this.#controller.abort();
    this.disconnect();
  }

  /** The connection is lost: streams end; an execution continues. */
  disconnect(): void {
    this.#ended.abort();
    this.outgoing?.stop();
    this.incoming?.fail(new Error("The connection broke."));
  }

  async #answer(method: unknown, params: unknown): Promise<void> {
    const { id, channel } = this.#deps;
    try {
      if (typeof method !== "string" || !Object.hasOwn(this.#handlers, method)) {
        throw new Error(`The tool host has no method "${String(method)}".`);
      }
      const handler = this.#handlers[method as Method] as (params: unknown) => Promise<unknown>;
      const result = await handler(params);
      await channel.untilRoom();
      this.#send({ id, result });
    } catch (error) {
      this.#send({ id, error: toWireError(error) });
    }
    await this.outgoing?.done;
  }

  readonly #handlers: { [Name in Method]: (params: unknown) => Promise<Methods[Name]["result"]> } = {
    openSession: async (params) => {
      const { handle, spec } = readFields(params, { handle: "string", spec: "object" });
      const { session, recordsId } = await this.#deps.sessions.open(handle, readSpec(spec), this.#deps.owner);
      return { tools: session.tools, recordsId };
    },
    closeSession: async (params) => {
      await this.#deps.sessions.close(readFields(params, { handle: "string" }).handle);
      return null;
    },
    execute: async (params) => {
      const { handle, request } = readFields(params, { handle: "string", request: "object" });
      const session = await this.#deps.sessions.session(handle);
      if (readFields(params, { isAborted: "boolean" }).isAborted) this.#controller.abort();
      return session.execute(readRequest(request), {
        signal: this.#controller.signal,
        onProgress: (text) => this.#offer(text),
      });
    },
    state: async (params) => {
      const { handle, actionId } = readFields(params, { handle: "string", actionId: "string" });
      return (await this.#deps.sessions.session(handle)).state(actionId);
    },
    cancel: async (params) => {
      const { handle, actionId } = readFields(params, { handle: "string", actionId: "string" });
      await (await this.#deps.sessions.session(handle)).cancel(actionId);
      return null;
    },
    terminals: async (params) => {
      const { handle } = readFields(params, { handle: "string" });
      return (await this.#deps.sessions.session(handle)).terminals();
    },
    attachTerminal: async (params) => {
      const { handle, name } = readFields(params, { handle: "string", name: "string" });
      const inputs = fromJsonLines<TerminalInput>(this.#receive(), longestShownLine);
      const session = await this.#deps.sessions.session(handle);
      return this.#converse(session.attach(name, inputs, this.#ended.signal));
    },
    attachBrowser: async (params) => {
      const { handle } = readFields(params, { handle: "string" });
      const inputs = fromJsonLines<BrowserInput>(this.#receive(), longestShownLine);
      const session = await this.#deps.sessions.session(handle);
      return this.#converse(session.attachBrowser(inputs, this.#ended.signal));
    },
    stat: async (params) => this.#workspace(params).stat(readPath(params)),
    list: async (params) => this.#workspace(params).list(readPath(params)),
    createDirectory: async (params) => {
      await this.#workspace(params).createDirectory(readPath(params));
      return null;
    },
    readFile: async (params) => {
      const range = readRange(params);
      const { stat, content } = await this.#workspace(params).readFile(readPath(params), range);
      this.#stream(content);
      return stat;
    },
    writeFile: async (params) => {
      await this.#workspace(params).writeFile(readPath(params), this.#receive());
      return null;
    },
    gitChanges: async (params) => this.#workspace(params).gitChanges(readPath(params), readRef(params)),
    gitDiff: async (params) => this.#workspace(params).gitDiff(readPath(params), readDiffBase(params)),
    gitPatch: async (params) => {
      const { content, ...ends } = await this.#workspace(params).gitPatch(
        readPath(params),
        readRef(params),
        readLeftOut(params),
      );
      this.#stream(content);
      return ends;
    },
    gitCommits: async (params) => {
      const { path, limit } = readFields(params, { path: "string", limit: "number" });
      return this.#workspace(params).gitCommits(path, limit);
    },
    gitCommitChanges: async (params) => {
      const { path, sha } = readFields(params, { path: "string", sha: "string" });
      return this.#workspace(params).gitCommitChanges(path, sha);
    },
    gitRestore: async (params) => {
      await this.#workspace(params).gitRestore(readPath(params), readRef(params));
      return null;
    },
    archive: async (params) => {
      const isZip = hasField(params, "format") && readFields(params, { format: "string" }).format === "zip";
      const { content, format, repository } = await this.#workspace(params).archive(
        readPath(params),
        readExclude(params),
        isZip ? "zip" : "tar.gz",
      );
      this.#stream(content);
      return { format, repository };
    },
    home: async () => this.#deps.workspace.home(),
    bashStart: async (params) =>
      this.#deps.bash.start(readFields(params, { request: "object" }).request as BashRequest),
    bashResult: async (params) => {
      const { owner, commandId } = readFields(params, { owner: "string", commandId: "string" });
      return this.#deps.bash.result(owner, commandId, this.#controller.signal);
    },
    bashStop: async (params) => {
      const { owner, commandId } = readFields(params, { owner: "string", commandId: "string" });
      return this.#deps.bash.stop(owner, commandId);
    },
    bashSearch: async (params) =>
      this.#deps.bash.search(readFields(params, { query: "object" }).query as BashQuery),
    bashGet: async (params) => {
      const { owner, ids } = readFields(params, { owner: "string", ids: "array" });
      return this.#deps.bash.get(owner, ids.map(String));
    },
    bashClear: async (params) => this.#deps.bash.clear(readFields(params, { owner: "string" }).owner),
    bashLastSeq: async () => this.#deps.bash.lastSeq(),
    bashFollow: async (params) => {
      const { owner, afterSeq } = readFields(params, { owner: "string", afterSeq: "number" });
      this.#stream(toJsonLines(this.#deps.bash.follow(owner, afterSeq, this.#ended.signal)));
      return null;
    },
    runProcess: async (params) => {
      const { spec } = readFields(params, { spec: "object" });
      const input = this.#receive();
      const started = (await this.#deps.host).startProcess(readProcessSpec(spec));
      // A broken connection or an abort fails the input: nobody is left to write to the process or to read from it.
      const left = new AbortController();
      const leave = (): void => {
        left.abort();
        void started[Symbol.asyncDispose]();
      };
      input.once("error", leave);
      this.#ended.signal.addEventListener("abort", leave);
      if (input.errored !== null || this.#ended.signal.aborted) leave();
      input.pipe(started.input);
      this.#stream(started.output);
      try {
        const end = await started.ended;
        if (left.signal.aborted) await started[Symbol.asyncDispose]();
        // Otherwise its output is still being sent to the client, which may be slower than the process.
        return end;
      } catch (error) {
        await started[Symbol.asyncDispose]();
        throw error;
      }
    },
    listPorts: async (params) =>
      (await this.#deps.host).listPorts(readFields(params, { folder: "string" }).folder),
    runShell: async (params) => {
      const { spec } = readFields(params, { spec: "object" });
      const inputs = fromJsonLines<ShellInput>(this.#receive(), longestShownLine);
      const shell = await (await this.#deps.host).openShell(readShellSpec(spec));
      // Inputs that end, or break with their connection, mean that the caller left.
      void obeyInputs(shell, inputs).then(async () => shell[Symbol.asyncDispose]());
      this.#stream(shell.output);
      return await shell.ended;
    },
  };

  /** The machine, confined to the roots that the client names. */
  #workspace(params: unknown): Workspace {
    const { roots = [] } = params as { readonly roots?: readonly string[] };
    return roots.reduce((workspace, root) => workspace.within(root), this.#deps.workspace);
  }

  #receive(): Readable {
    const { id, channel } = this.#deps;
    this.incoming = receiveStream({
      onRead: (credit) => channel.send({ id, credit }),
      onAbandon: () => {}, // The answer tells the client to stop.
    });
    return this.incoming.content;
  }

  #stream(content: AsyncIterable<Uint8Array>): void {
    this.outgoing = sendStream(this.#deps.channel, this.#deps.id, content);
    if (this.#controller.signal.aborted || !this.#deps.channel.isOpen) this.outgoing.stop();
  }

  /** Updates for a person. The answer ends their inputs, so it comes last. */
  async #converse(updates: AsyncIterable<unknown>): Promise<null> {
    this.#stream(toJsonLines(updates));
    await this.outgoing?.done;
    return null;
  }

  /** Progress is only for live display: a slow client misses some of it. */
  #offer(progress: string): void {
    const { id, channel } = this.#deps;
    if (!channel.hasRoom) return;
    try {
      channel.send({ id, progress } satisfies HostMessage);
    } catch (error) {
      if (!(error instanceof FrameTooLargeError)) throw error;
    }
  }

  #send(message: HostMessage): void {
    this.#deps.channel.send(message);
  }
}

/** The client is authenticated; only fields that another release may lack are checked. */
function readSpec(value: object): SessionSpec {
  const { sessionId, workspaceDir, stateDir, tools } = readFields(value, {
    sessionId: "string",
    workspaceDir: "string",
    stateDir: "string",
    tools: "array",
  });
  const { canSee, lease } = value as Partial<SessionSpec>;
  return {
    sessionId,
    workspaceDir,
    stateDir,
    tools: tools as SessionSpec["tools"],
    canSee: canSee === true,
    ...(lease === undefined ? {} : { lease }),
  };
}

function readRequest(value: object): ExecutionRequest {
  const { actionId, tool, action, secrets } = readFields(value, {
    actionId: "string",
    tool: "string",
    action: "object",
    secrets: "array",
  });
  return { actionId, tool, action: action as Action, secrets: secrets as ExecutionRequest["secrets"] };
}

function readProcessSpec(value: object): ProcessSpec {
  const fields = { command: "string", args: "array", environment: "object", workingDir: "string" } as const;
  const { command, args, environment, workingDir } = readFields(value, fields);
  return {
    command,
    args: args as string[],
    environment: environment as ProcessSpec["environment"],
    workingDir,
  };
}

function readShellSpec(value: object): ShellSpec {
  return readFields(value, { workingDir: "string", columns: "number", rows: "number" });
}

function readPath(params: unknown): string {
  return readFields(params, { path: "string" }).path;
}

function readRef(params: unknown): string | undefined {
  return hasField(params, "ref") ? readFields(params, { ref: "string" }).ref : undefined;
}

function readDiffBase(params: unknown): DiffBase {
  if (hasField(params, "commit")) return { commit: readFields(params, { commit: "string" }).commit };
  const ref = readRef(params);
  return ref === undefined ? {} : { ref };
}

function readExclude(params: unknown): string[] {
  return hasField(params, "exclude") ? readFields(params, { exclude: "array" }).exclude.map(String) : [];
}

function readLeftOut(params: unknown): LeftOut {
  if (!hasField(params, "leftOut")) return {};
  const { leftOut } = readFields(params, { leftOut: "object" });
  const listOf = (name: "all" | "untracked"): string[] => {
    const given = (leftOut as Record<string, unknown>)[name];
    return Array.isArray(given) ? given.map(String) : [];
  };
  return { all: listOf("all"), untracked: listOf("untracked") };
}

function readRange(params: unknown) {
  if (!hasField(params, "range")) return undefined;
  const { range } = readFields(params, { range: "object" });
  const { start } = readFields(range, { start: "number" });
  return hasField(range, "end") ? { start, end: readFields(range, { end: "number" }).end } : { start };
}

function hasField(value: unknown, name: string): boolean {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name);
}
