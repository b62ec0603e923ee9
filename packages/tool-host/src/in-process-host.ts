import { constants } from "node:fs";
import { access, mkdir } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { describeError } from "./describe-error.ts";
import { SupersededError, UnknownToolError } from "./host.ts";
import type {
  ExecuteOptions,
  ExecutionRequest,
  SessionLease,
  SessionSpec,
  ToolHost,
  ToolListing,
  ToolSession,
} from "./host.ts";
import { InProcessSession } from "./in-process-session.ts";
import type { Place } from "./in-process-session.ts";
import { startPipedProcess, type PipedProcess, type ProcessSpec } from "./processes/piped-process.ts";
import { listListeningPorts, type ListeningPort } from "./processes/listening-ports.ts";
import type { PersonShell, ShellSpec } from "./processes/person-shell.ts";
import { wantedFaces } from "./list-session.ts";
import { listTool } from "./list-tool.ts";
import type { BrowserInput, BrowserUpdate } from "./browser-attachment.ts";
import type { TerminalInput, TerminalUpdate } from "./terminal-attachment.ts";
import { ToolLane } from "./tool-lane.ts";
import type { Tool, ToolContext, ToolFace, ToolSet } from "./tool.ts";

export type InProcessHostDeps = {
  readonly tools: readonly (Tool | ToolSet)[];
  /** The allow-listed environment that children of tools start with. */
  readonly environment: Readonly<Record<string, string>>;
  readonly onWarning?: (text: string) => void;
  /** Milliseconds that a cancelled tool has to stop before its call is abandoned; 2,000 unless given. */
  readonly cancelGraceMs?: number;
};

/** A tool host that runs its tools in this process. */
export function createInProcessHost(deps: InProcessHostDeps): ToolHost {
  return new InProcessHost(deps);
}

/** One session, shared by all who have it open: a caller that reconnects finds its running executions. */
type OpenSession = {
  readonly spec: SessionSpec;
  readonly executions: InProcessSession;
  readonly lanes: Map<string, ToolLane>;
  /** Lease of the newest caller that has one. */
  lease: SessionLease | undefined;
  readonly callers: Set<Caller>;
};

type Caller = { readonly lease: SessionLease | undefined };

class InProcessHost implements ToolHost {
  readonly catalogue: readonly string[];
  readonly #deps: InProcessHostDeps;
  readonly #tools: ReadonlyMap<string, Tool | ToolSet>;
  readonly #sessions = new Map<string, OpenSession>();
  readonly #closing = new Map<string, Promise<void>>();
  readonly #processes = new Set<PipedProcess | PersonShell>();
  #isClosed = false;

  constructor(deps: InProcessHostDeps) {
    this.#deps = deps;
    const usable = deps.tools.filter(
      (tool) => !("isUsable" in tool) || (tool.isUsable?.(deps.environment) ?? true),
    );
    this.#tools = new Map(usable.map((tool) => [tool.name, tool]));
    this.catalogue = [...this.#tools.keys()].sort();
  }

  async openSession(spec: SessionSpec): Promise<ToolSession> {
    const tools = this.#resolve(spec);
    await prepareDirectories(spec);
    while (this.#closing.has(spec.sessionId)) await this.#closing.get(spec.sessionId);
    if (this.#isClosed) throw new Error("The tool host is closed.");
    const caller: Caller = { lease: spec.lease };
    const session = this.#attach(spec, caller);
    const places = new Map(tools.flatMap((entry) => this.#places(session, entry)));
    const listings = tools.flatMap(({ faces, context }) => faces.map((face) => listTool(face, context)));
    const isSuperseded = (): boolean => isBefore(caller.lease, session.lease);
    return new SessionHandle({
      places,
      listings,
      session,
      isSuperseded,
      detach: () => this.#detach(session, caller),
    });
  }

  startProcess(spec: ProcessSpec): PipedProcess {
    const started = startPipedProcess(spec, this.#deps.environment);
    return this.#keep(started, () => started.endRest());
  }

  async openShell(spec: ShellSpec): Promise<PersonShell> {
    // Terminals are slow to load, so they are loaded on first use.
    const { openLocalShell } = await import("./processes/local-shell.ts");
    const shell = await openLocalShell(spec, this.#deps.environment);
    return this.#keep(shell, async () => shell[Symbol.asyncDispose]());
  }

  async listPorts(folder: string): Promise<readonly ListeningPort[]> {
    return listListeningPorts(folder, this.#deps.environment);
  }

  /** `endRest` ends descendants that outlive the process; its starter may still be reading their output. */
  #keep<Started extends PipedProcess | PersonShell>(started: Started, endRest: () => Promise<void>): Started {
    this.#processes.add(started);
    const forget = (): void => void endRest().then(() => this.#processes.delete(started));
    started.ended.then(forget, forget);
    if (this.#isClosed) void started[Symbol.asyncDispose]();
    return started;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    for (const session of this.#sessions.values()) this.#close(session);
    await Promise.all([
      ...this.#closing.values(),
      ...[...this.#processes].map((started) => started[Symbol.asyncDispose]()),
    ]);
    await Promise.all(
      [...this.#tools.values()].map(async (tool) => ("close" in tool ? tool.close?.() : undefined)),
    );
  }

  #resolve(spec: SessionSpec): ResolvedTool[] {
    const seen = new Set<string>();
    return spec.tools.map((wanted) => {
      const { name, params = {} } = wanted;
      const tool = this.#tools.get(name);
      if (tool === undefined) throw new UnknownToolError(name, this.catalogue);
      const faces = wantedFaces(tool, wanted);
      for (const face of faces) {
        if (seen.has(face.name)) throw new Error(`The tool ${face.name} is listed twice.`);
        seen.add(face.name);
      }
      const { sessionId, workspaceDir, stateDir, canSee = false } = spec;
      const { environment } = this.#deps;
      return { tool, faces, context: { sessionId, workspaceDir, stateDir, environment, params, canSee } };
    });
  }

  #attach(spec: SessionSpec, caller: Caller): OpenSession {
    const open = this.#sessions.get(spec.sessionId);
    if (open !== undefined) {
      if (open.spec.stateDir !== spec.stateDir || open.spec.workspaceDir !== spec.workspaceDir) {
        throw new Error(`Session ${spec.sessionId} is already open with other directories.`);
      }
      if (isBefore(spec.lease, open.lease)) throw new SupersededError();
      open.lease = spec.lease ?? open.lease;
      // Older callers lose their hold.
      for (const other of open.callers) if (isBefore(other.lease, open.lease)) open.callers.delete(other);
      open.callers.add(caller);
      return open;
    }
    const executions = new InProcessSession({
      stateDir: spec.stateDir,
      workspaceDir: spec.workspaceDir,
      onWarning: this.#warn,
      cancelGraceMs: this.#deps.cancelGraceMs ?? 2_000,
    });
    const { lease } = spec;
    const session: OpenSession = { spec, executions, lanes: new Map(), lease, callers: new Set([caller]) };
    this.#sessions.set(spec.sessionId, session);
    return session;
  }

  /** The same tool with the same parameters keeps its instance when a session is opened again. */
  #places(session: OpenSession, { tool, faces, context }: ResolvedTool): [string, Place][] {
    const key = JSON.stringify([tool.name, context.params]);
    let lane = session.lanes.get(key);
    if (lane === undefined) {
      lane = new ToolLane({ tool, context, onWarning: this.#warn });
      session.lanes.set(key, lane);
    }
    return faces.map((face) => [face.name, { face, lane }]);
  }

  async #detach(session: OpenSession, caller: Caller): Promise<void> {
    if (!session.callers.delete(caller)) return;
    if (session.callers.size === 0) this.#close(session);
    await this.#closing.get(session.spec.sessionId);
  }

  #close(session: OpenSession): void {
    const { sessionId } = session.spec;
    if (!this.#sessions.delete(sessionId)) return;
    const closing = closeSession(session).finally(() => this.#closing.delete(sessionId));
    this.#closing.set(sessionId, closing);
  }

  readonly #warn = (text: string): void => this.#deps.onWarning?.(text);
}

/** The hold of one caller of `openSession`; disposing it twice counts once. */
class SessionHandle implements ToolSession {
  readonly tools: readonly ToolListing[];
  readonly #places: ReadonlyMap<string, Place>;
  readonly #executions: InProcessSession;
  readonly #lanes: ReadonlyMap<string, ToolLane>;
  readonly #isSuperseded: () => boolean;
  readonly #detach: () => Promise<void>;
  #closing: Promise<void> | undefined;

  constructor({ places, listings, session, isSuperseded, detach }: HandleDeps) {
    this.#places = places;
    this.tools = listings;
    this.#executions = session.executions;
    this.#lanes = session.lanes;
    this.#isSuperseded = isSuperseded;
    this.#detach = detach;
  }

  async execute(request: ExecutionRequest, options: ExecuteOptions = {}) {
    const place = this.#places.get(request.tool);
    if (place === undefined) {
      const available = this.tools.map((tool) => tool.name).join(", ");
      return failure(`This session has no tool "${request.tool}". Available tools: ${available}.`);
    }
    if (request.action.kind !== place.face.actionKind) {
      return failure(`The tool ${request.tool} takes ${place.face.actionKind}, not ${request.action.kind}.`);
    }
    if (this.#isSuperseded()) return failure(new SupersededError().message);
    const stop = new AbortController();
    const onAbort = (): void => {
      if (!this.#isSuperseded()) stop.abort();
    };
    const { signal } = options;
    if (signal?.aborted === true) onAbort();
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      return await this.#executions.execute(place, request, { ...options, signal: stop.signal });
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
  }

  announce(actionId: string, tool: string) {
    const place = this.#places.get(tool);
    if (place !== undefined && !this.#isSuperseded()) this.#executions.announce(place, actionId, tool);
  }

  async state(actionId: string) {
    return this.#executions.state(actionId);
  }

  async cancel(actionId: string) {
    if (this.#isSuperseded()) throw new SupersededError();
    await this.#executions.cancel(actionId);
  }

  async terminals() {
    const open = await Promise.all([...this.#lanes.values()].map(async (lane) => lane.terminals()));
    return open.flat().toSorted((left, right) => (left.name < right.name ? -1 : 1));
  }

  async *attach(name: string, inputs: AsyncIterable<TerminalInput>, signal: AbortSignal) {
    if (this.#isSuperseded()) throw new SupersededError();
    for (const lane of this.#lanes.values()) {
      const attach = await lane.terminal(name);
      if (attach === undefined) continue;
      yield* attach(inputs, signal);
      return;
    }
    const open = (await this.terminals()).map((terminal) => terminal.name).join(", ") || "none";
    const reason = `There is no terminal "${name}". Open: ${open}.`;
    yield { type: "refused", reason } satisfies TerminalUpdate;
  }

  async *attachBrowser(inputs: AsyncIterable<BrowserInput>, signal: AbortSignal) {
    if (this.#isSuperseded()) throw new SupersededError();
    for (const lane of this.#lanes.values()) {
      const attach = await lane.browser();
      if (attach === undefined) continue;
      yield* attach(inputs, signal);
      return;
    }
    yield { type: "refused", reason: "The agent has no tools of a browser." } satisfies BrowserUpdate;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (this.#closing ??= this.#detach());
  }
}

type HandleDeps = {
  readonly places: ReadonlyMap<string, Place>;
  readonly listings: readonly ToolListing[];
  readonly session: Pick<OpenSession, "executions" | "lanes">;
  readonly isSuperseded: () => boolean;
  readonly detach: () => Promise<void>;
};

/** Between different eras the order is unknown. */
function isBefore(one: SessionLease | undefined, other: SessionLease | undefined): boolean {
  return (
    one !== undefined && other !== undefined && one.era === other.era && one.generation < other.generation
  );
}

type ResolvedTool = {
  readonly tool: Tool | ToolSet;
  readonly faces: readonly ToolFace[];
  readonly context: ToolContext;
};

async function closeSession(session: OpenSession): Promise<void> {
  await session.executions[Symbol.asyncDispose]();
  await Promise.all([...session.lanes.values()].map((lane) => lane[Symbol.asyncDispose]()));
}

const { R_OK, W_OK } = constants;

/** Reports an unusable directory when the session opens, with its path, instead of at the first write. */
async function prepareDirectories({ workspaceDir, stateDir }: SessionSpec): Promise<void> {
  await Promise.all([
    prepareDirectory("workspace", workspaceDir, { mode: 0o777, access: R_OK }),
    prepareStateDirectory(stateDir),
  ]);
}

/** Most sessions are new: then one call creates the directory, and its creator may use it. */
async function prepareStateDirectory(path: string): Promise<void> {
  try {
    if (isAbsolute(path)) return await mkdir(path, { mode: 0o700 });
  } catch {
    // It exists or cannot be created; the check below finds the reason.
  }
  await prepareDirectory("state", path, { mode: 0o700, access: R_OK | W_OK });
}

async function prepareDirectory(
  role: string,
  path: string,
  wanted: { readonly mode: number; readonly access: number },
): Promise<void> {
  if (!isAbsolute(path)) throw new Error(`The ${role} directory must be an absolute path, not ${path}.`);
  try {
    // With a trailing dot only a directory is accessible.
    await access(join(path, "/") + ".", wanted.access);
  } catch {
    // It is missing or not accessible; the check below finds the reason.
    try {
      await mkdir(path, { recursive: true, mode: wanted.mode });
      await access(path, wanted.access);
    } catch (error) {
      throw new Error(
        `The ${role} directory ${path} cannot be used (${describeError(error)}). Make it accessible to the user that runs the tool host.`,
        { cause: error },
      );
    }
  }
}

function failure(text: string) {
  return { type: "error", text } as const;
}
