import { Fault } from "../lib/fault.ts";

export type MachinePolicyOptions = {
  /** Users who may reach the files and the shell of the server's machine; `*` is everybody. */
  readonly users: readonly string[];
  /** True where the agents of all others run in sandboxes only. */
  readonly isSandboxed: boolean;
};

/** Throws where agents, programs and files of the server's machine are not for this user. */
export type RequireMachine = (userId: string) => void;

export function createMachinePolicy({ users, isSandboxed }: MachinePolicyOptions): RequireMachine {
  return (userId) => {
    if (!isSandboxed || users.includes(userId) || users.includes("*")) return;
    throw new Fault(
      "refused",
      "machine_refused",
      "Your key may not use the server's machine. Start conversations in sandboxes, on /api/v1/app-conversations.",
    );
  };
}

export function mayUseMachine(requireMachine: RequireMachine, userId: string): boolean {
  try {
    requireMachine(userId);
    return true;
  } catch (error) {
    if (error instanceof Fault) return false;
    throw error;
  }
}
