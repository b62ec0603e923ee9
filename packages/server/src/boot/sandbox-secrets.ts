import type { Sandboxes } from "../app-conversations/sandbox-service.ts";
import type { BoundSecretRegistry } from "../egress/bound-secret-registry.ts";
import type { BoundSecret } from "../egress/egress.ts";
import { describeError } from "../lib/describe-error.ts";
import type { Logger } from "../lib/logger.ts";

export type SandboxSecretsDeps = {
  readonly boundSecrets: Pick<BoundSecretRegistry, "byConversation" | "watch">;
  readonly sandboxes: Pick<Sandboxes, "sendSecrets">;
  readonly logger: Logger;
};

type Sending = {
  /** The conversations that the other process has secrets of. */
  sent: ReadonlySet<string>;
  last: Promise<void>;
  readonly unwatch: () => void;
};

/**
 * Tells the processes that manage sandboxes what the conversations of this process bind to hosts, as long as these are loaded. After a
 * failure, the next change or the next opening of tools tries again.
 */
export class SandboxSecrets {
  readonly #deps: SandboxSecretsDeps;
  readonly #sendings = new Map<string, Sending>();

  constructor(deps: SandboxSecretsDeps) {
    this.#deps = deps;
  }

  /** Sends those of the sandbox now, and from here on at each change. */
  async send(sandboxId: string): Promise<void> {
    if (!this.#sendings.has(sandboxId) && this.#deps.boundSecrets.byConversation(sandboxId).size === 0)
      return;
    const sending = this.#sendingOf(sandboxId);
    // One after the other, so that the newest stays.
    sending.last = sending.last.then(() => this.#sendNow(sandboxId, sending));
    await sending.last;
  }

  #sendingOf(sandboxId: string): Sending {
    const sending = this.#sendings.get(sandboxId) ?? {
      sent: new Set(),
      last: Promise.resolve(),
      unwatch: this.#deps.boundSecrets.watch(sandboxId, () => void this.send(sandboxId)),
    };
    this.#sendings.set(sandboxId, sending);
    return sending;
  }

  /** Tools work without the secrets too: a failure is logged. */
  async #sendNow(sandboxId: string, sending: Sending): Promise<void> {
    try {
      await this.#sendAll(sandboxId, sending);
    } catch (error) {
      const fields = { sandbox: sandboxId, error: describeError(error) };
      this.#deps.logger.warn(fields, "bound secrets could not be sent to the process with the sandbox");
    }
  }

  async #sendAll(sandboxId: string, sending: Sending): Promise<void> {
    const { boundSecrets, sandboxes } = this.#deps;
    const now = boundSecrets.byConversation(sandboxId);
    const gone = [...sending.sent].filter((id) => !now.has(id));
    const all: (readonly [string, readonly BoundSecret[]])[] = [
      ...gone.map((id) => [id, []] as const),
      ...now,
    ];
    for (const [id, secrets] of all) await sandboxes.sendSecrets(sandboxId, id, secrets);
    sending.sent = new Set(now.keys());
    if (boundSecrets.byConversation(sandboxId).size > 0) return;
    sending.unwatch();
    this.#sendings.delete(sandboxId);
  }
}
