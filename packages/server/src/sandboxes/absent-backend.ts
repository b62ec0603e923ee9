import { SandboxError, type SandboxBackend } from "./sandbox.ts";

/**
 * Stands for a backend that this server does not have, or has no longer: its sandboxes are shown with the reason, and what
 * others can remove of them goes when they are deleted. The rest, containers, goes when their engine is configured again.
 */
export function createAbsentBackend(name: string, others: readonly SandboxBackend[]): SandboxBackend {
  const refuse = async (): Promise<never> => {
    const names = others.map((other) => other.name).join(", ");
    throw new SandboxError(`There are no ${name} sandboxes here, only: ${names}.`);
  };
  return {
    name,
    startDeadlineMs: 1_000,
    start: refuse,
    reattach: refuse,
    listOwned: async () => [],
    remove: async (id) => {
      const outcomes = await Promise.allSettled(others.map((other) => other.remove(id)));
      const failure = outcomes.find((outcome) => outcome.status === "rejected");
      if (failure !== undefined && outcomes.every(({ status }) => status === "rejected")) {
        throw failure.reason;
      }
    },
  };
}
