import type { PersonShell, PipedProcess, RemoteToolHost, ToolHost, ToolSession } from "@convoke/tool-host";

/**
 * A tool host that counts what is open in it, so that its process can be ended when nothing is. Files of the folder are read through it:
 * a link that an agent left then leads nowhere outside.
 */
export class CountedHost implements ToolHost, Pick<RemoteToolHost, "bash" | "workspace"> {
  readonly #host: RemoteToolHost;
  readonly #onChange: (open: number) => void;
  #open = 0;

  constructor(host: RemoteToolHost, onChange: (open: number) => void) {
    this.#host = host;
    this.#onChange = onChange;
  }

  get catalogue(): readonly string[] {
    return this.#host.catalogue;
  }

  get workspace(): RemoteToolHost["workspace"] {
    return this.#host.workspace;
  }

  get bash(): RemoteToolHost["bash"] {
    return this.#host.bash;
  }

  async openSession(...args: Parameters<ToolHost["openSession"]>): Promise<ToolSession> {
    const release = this.#hold();
    try {
      return released(await this.#host.openSession(...args), release);
    } catch (error) {
      release();
      throw error;
    }
  }

  startProcess(...args: Parameters<ToolHost["startProcess"]>): PipedProcess {
    const release = this.#hold();
    const started = this.#host.startProcess(...args);
    started.ended.then(release, release);
    return started;
  }

  async openShell(...args: Parameters<ToolHost["openShell"]>): Promise<PersonShell> {
    const release = this.#hold();
    try {
      const shell = await this.#host.openShell(...args);
      shell.ended.then(release, release);
      return shell;
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

  #hold(): () => void {
    let isHeld = true;
    this.#onChange((this.#open += 1));
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#onChange((this.#open -= 1));
    };
  }
}

/** The same session, which calls `release` when it is closed. */
function released(session: ToolSession, release: () => void): ToolSession {
  return new Proxy(session, {
    get: (target, property) => {
      if (property === Symbol.asyncDispose)
        return async () => {
          try {
            await target[Symbol.asyncDispose]();
          } finally {
            release();
          }
        };
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === "function" ? (value as (...args: unknown[]) => unknown).bind(target) : value;
    },
  });
}
