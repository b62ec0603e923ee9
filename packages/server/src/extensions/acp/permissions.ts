import type { PermissionOption, RequestPermissionOutcome } from "@agentclientprotocol/sdk";

type Pending = {
  readonly options: readonly PermissionOption[];
  readonly resolve: (outcome: RequestPermissionOutcome) => void;
};

const cancelled: RequestPermissionOutcome = { outcome: "cancelled" };

/** The permissions that the agent has asked for and waits for, by the action that stands for each in the log. */
export class Permissions {
  readonly #pending = new Map<string, Pending>();

  get ids(): readonly string[] {
    return [...this.#pending.keys()];
  }

  /** Resolves with the answer. */
  async wait(actionId: string, options: readonly PermissionOption[]): Promise<RequestPermissionOutcome> {
    const { promise, resolve } = Promise.withResolvers<RequestPermissionOutcome>();
    this.#pending.set(actionId, { options, resolve });
    return await promise;
  }

  /** Lets the agent go on; the name of the option that was chosen, or null where nobody waits for this action. */
  allow(actionId: string): string | null {
    const pending = this.#take(actionId);
    if (pending === null) return null;
    const option = findOption(pending.options, ["allow_once", "allow_always"]);
    pending.resolve(option === null ? cancelled : selected(option));
    return option?.name ?? "";
  }

  reject(actionId: string): void {
    const pending = this.#take(actionId);
    pending?.resolve(rejectionOf(pending.options));
  }

  cancelAll(): void {
    for (const { resolve } of this.#pending.values()) resolve(cancelled);
    this.#pending.clear();
  }

  #take(actionId: string): Pending | null {
    const pending = this.#pending.get(actionId) ?? null;
    this.#pending.delete(actionId);
    return pending;
  }
}

/** The agent's own way to be told no; an agent without one takes its request as cancelled. */
export function rejectionOf(options: readonly PermissionOption[]): RequestPermissionOutcome {
  const option = findOption(options, ["reject_once", "reject_always"]);
  return option === null ? cancelled : selected(option);
}

/** True where the agent may go on. */
export function isAllowed(options: readonly PermissionOption[], outcome: RequestPermissionOutcome): boolean {
  if (outcome.outcome !== "selected") return false;
  const kind = options.find(({ optionId }) => optionId === outcome.optionId)?.kind;
  return kind === "allow_once" || kind === "allow_always";
}

function selected({ optionId }: PermissionOption): RequestPermissionOutcome {
  return { outcome: "selected", optionId };
}

/** Once is enough: what is allowed for longer is a rule of ours. */
function findOption(
  options: readonly PermissionOption[],
  kinds: readonly PermissionOption["kind"][],
): PermissionOption | null {
  for (const kind of kinds) {
    const found = options.find((option) => option.kind === kind);
    if (found !== undefined) return found;
  }
  return null;
}
