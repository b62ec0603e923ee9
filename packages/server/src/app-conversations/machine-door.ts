import type { Socket } from "node:net";
import type { SandboxPlace } from "./sandbox-service.ts";

/** What a server is asked to do with a sandbox of its machine, and what it answers. */
export type MachineActs = {
  readonly place: SandboxPlace;
  readonly pause: boolean;
  readonly resume: boolean;
  readonly remove: boolean;
};

/** Which bytes of a sandbox: its tool host's, or a TCP port's inside. */
export type MachineStream = "host" | number;

/** The way to sandboxes of other machines, through the servers there. Rejects with `machine_away` where none lives. */
export interface MachineDoor {
  readonly ownMachine: string;
  /** Those that a server lives on. */
  living(): Promise<{ has(machine: string): boolean }>;
  ask<Act extends keyof MachineActs>(
    machine: string,
    act: Act,
    sandbox: { readonly id: string; readonly ownerId: string },
  ): Promise<MachineActs[Act]>;
  open(machine: string, id: string, stream: MachineStream): Promise<Socket>;
}
