import {
  ToolHostRefusedError,
  type SessionSpec,
  type PersonShell,
  type PipedProcess,
  type LateToolHost,
  type RemoteToolHost,
  type ToolHost,
  type ToolSession,
} from "@convoke/tool-host";
import type { KnownTools } from "./known-tools.ts";

export type HostUse = {
  /** Called with the number of sessions, programs and shells that are open. */
  readonly onChange: (open: number) => void;
  /** Does work that needs the wall: starts it before where it does not run, and keeps it from being ended for another one. */
  readonly run: <Result>(work: () => Promise<Result>) => Promise<Result>;
  readonly tools: Pick<KnownTools, "catalogue" | "list">;
};

/**
 * A tool host that counts what is open in it, so that its process can be ended when nothing is. Files of the folder are read through it:
 * a link that an agent left then leads nowhere outside.
 */
export class CountedHost implements ToolHost, Pick<RemoteToolHost, "bash" | "workspace"> {
  readonly #host: LateToolHost;
  readonly #use: HostUse;
  #open = 0;

  constructor(host: LateToolHost, use: HostUse) {
    this.#host = host;
    this.#use = use;
  }

  get catalogue(): readonly string[] {
    return this.#use.tools.catalogue;
  }

  get workspace(): RemoteToolHost["workspace"] {
    this.#startBeside();
    return this.#host.workspace;
  }

  get bash(): RemoteToolHost["bash"] {
    this.#startBeside();
    return this.#host.bash;
  }

  /** Waits for nothing: its calls do. */
  async openSession(spec: SessionSpec): Promise<ToolSession> {
    const tools = this.#use.tools.list(spec);
    return this.#counted(this.#host.openKnownSession(spec, tools), this.#hold());
  }

  startProcess(...args: Parameters<ToolHost["startProcess"]>): PipedProcess {
    const release = this.#hold();
    const started = this.#host.startProcess(...args);
    // It waits for the wall itself, and says what became of it.
    void this.#use.run(() => started.ended).catch(() => undefined);
    started.ended.then(release, release);
    return started;
  }

  async openShell(...args: Parameters<ToolHost["openShell"]>): Promise<PersonShell> {
    const release = this.#hold();
    try {
      const opened = Promise.withResolvers<PersonShell>();
      const ended = this.#use.run(async () => {
        const shell = await this.#host.openShell(...args);
        opened.resolve(shell);
        await shell.ended;
      });
      ended.then(release, (error: unknown) => {
        release();
        opened.reject(error);
      });
      return await opened.promise;
    } catch (error) {
      release();
      throw error;
    }
  }

  async listPorts(folder: string): ReturnType<ToolHost["listPorts"]> {
    return await this.#host.listPorts(folder);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#host[Symbol.asyncDispose]();
  }

  /** For calls that do not start it: they say themselves that the host cannot be reached. */
  #startBeside(): void {
    this.#use.run(async () => {}).catch(() => {});
  }

  #hold(): () => void {
    let isHeld = true;
    this.#use.onChange((this.#open += 1));
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#use.onChange((this.#open -= 1));
    };
  }

  /** The same session, which is in use while it executes, and calls `release` when it is closed. */
  #counted(session: ToolSession, release: () => void): ToolSession {
    const execute: ToolSession["execute"] = async (...args) => {
      try {
        return await this.#use.run(() => session.execute(...args));
      } catch (error) {
        if (error instanceof ToolHostRefusedError) return { type: "error", text: error.message };
        throw error;
      }
    };
    const close = async (): Promise<void> => {
      try {
        await session[Symbol.asyncDispose]();
      } finally {
        release();
      }
    };
    return new Proxy(session, {
      get: (target, property) => {
        if (property === "execute") return execute;
        if (property === Symbol.asyncDispose) return close;
        const value: unknown = Reflect.get(target, property, target);
        return typeof value === "function" ? (value as (...args: unknown[]) => unknown).bind(target) : value;
      },
    });
  }
}
