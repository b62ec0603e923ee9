import { randomUUID } from "node:crypto";
import type { PersonShell, ShellInput, TerminalSize, TerminalUpdate, ToolSecret } from "@convoke/tool-host";
import type { Clock } from "../../lib/clock.ts";
import { describeError } from "../../lib/describe-error.ts";
import { Fault } from "../../lib/fault.ts";
import { toFault } from "../../workspaces/to-fault.ts";
import type { ConversationSessions } from "../conversation-sessions.ts";
import type { Conversation } from "../../engine/conversation.ts";
import type { ConversationSecrets } from "../../engine/conversation-config.ts";
import { conversationClosing } from "../../engine/refusals.ts";
import { secretValues } from "../../engine/secret-values.ts";
import { RunningShell, type ShellInfo } from "./running-shell.ts";

export type { ShellInfo } from "./running-shell.ts";

export type PersonShellsDeps = {
  readonly sessions: Pick<ConversationSessions, "openShell">;
  /** Of the conversation. */
  readonly ownerId: string;
  readonly clock: Clock;
};

/** The conversation whose shells they are. */
type Owner = Pick<Conversation, "id" | "configuration">;

/** Maximum number of shells in one conversation. */
const maxShells = 4;

/** The shells that people have in the workspace of one conversation; they end with its actor. */
export class PersonShells implements AsyncDisposable {
  readonly #deps: PersonShellsDeps;
  readonly #shells = new Map<string, RunningShell>();
  #opening = 0;
  #isClosed = false;

  constructor(deps: PersonShellsDeps) {
    this.#deps = deps;
  }

  get isAnyRunning(): boolean {
    return this.#opening > 0 || this.list().some(({ isRunning }) => isRunning);
  }

  /** The oldest first; those that have ended too, until there is no more room for them. */
  list(): ShellInfo[] {
    return [...this.#shells.values()].map(({ info }) => info);
  }

  /** `hidden` is what its output never shows, besides the secrets of the conversation. Fails where there are enough (409). */
  async open(conversation: Owner, size: TerminalSize, hidden: readonly ToolSecret[]): Promise<ShellInfo> {
    if (this.#isClosed) throw conversationClosing();
    this.#opening += 1;
    try {
      await this.#makeRoom();
      const shell = await this.#start(conversation, size);
      const id = randomUUID();
      const secrets = hiding(conversation, hidden);
      const opened = new RunningShell({ id, shell, size, createdAtMs: this.#deps.clock.nowMs(), secrets });
      this.#shells.set(id, opened);
      return opened.info;
    } finally {
      this.#opening -= 1;
    }
  }

  /** Fails for one that is not there (404). */
  attach(id: string, inputs: AsyncIterable<ShellInput>, signal: AbortSignal): AsyncIterable<TerminalUpdate> {
    return this.#find(id).attach(inputs, signal);
  }

  /** Null for one that is not there. */
  find(id: string): ShellInfo | null {
    return this.#shells.get(id)?.info ?? null;
  }

  /** Ends one with everything that it started, and forgets what it showed; fails for one that is not there (404). */
  async end(id: string): Promise<void> {
    const opened = this.#find(id);
    this.#shells.delete(id);
    await opened[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#shells.values()].map((opened) => opened[Symbol.asyncDispose]()));
    this.#shells.clear();
  }

  async #start({ id, configuration }: Owner, size: TerminalSize): Promise<PersonShell> {
    const { ownerId, sessions } = this.#deps;
    const shell = await sessions
      .openShell({ id, ownerId, config: configuration.config }, size)
      .catch((error: unknown) => {
        const known = toFault(error);
        if (known instanceof Fault) throw known;
        const reason = `The shell could not be started: ${describeError(error)}`;
        throw new Fault("conflict", "shell_not_started", reason);
      });
    if (!this.#isClosed) return shell;
    await shell[Symbol.asyncDispose]();
    throw conversationClosing();
  }

  /** Those that have ended make room for those that are being opened. */
  async #makeRoom(): Promise<void> {
    if (this.#shells.size + this.#opening <= maxShells) return;
    const ended = this.list().find(({ isRunning }) => !isRunning);
    if (ended !== undefined) return await this.end(ended.id);
    throw new Fault(
      "conflict",
      "too_many_shells",
      `The conversation has ${maxShells} shells already. End one of them first.`,
    );
  }

  #find(id: string): RunningShell {
    const opened = this.#shells.get(id);
    if (opened === undefined) throw new Fault("missing", "shell_not_found", `There is no shell ${id}.`);
    return opened;
  }
}

/** The same array as long as the secrets of the conversation are. */
function hiding(
  conversation: Pick<Conversation, "configuration">,
  hidden: readonly ToolSecret[],
): () => readonly ToolSecret[] {
  let known: ConversationSecrets | null = null;
  let all: readonly ToolSecret[] = hidden;
  return () => {
    const now = conversation.configuration.secrets;
    if (now !== known) all = [...hidden, ...secretValues(now).map((value) => ({ name: "", value }))];
    known = now;
    return all;
  };
}
