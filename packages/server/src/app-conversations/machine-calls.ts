import type { Socket } from "node:net";
import type { BoundSecret, HostTotals, RefusalsSince } from "../egress/egress.ts";
import type { SandboxRow } from "../sandboxes/sandbox-store.ts";
import type { SandboxPlace, SandboxTemplate, SandboxView } from "./sandbox-service.ts";

/** What sandboxes can be made from on a machine. */
export type SandboxOffer = { readonly templates: readonly SandboxTemplate[]; readonly summary: string };

/** What a server is asked to do with a sandbox of its machine, and what it answers. */
export type MachineActs = {
  readonly place: SandboxPlace;
  readonly pause: boolean;
  readonly resume: boolean;
  readonly remove: boolean;
  /** See `SandboxAccess.setGrants`. */
  readonly grant: null;
  /** See `LocalSandboxes.receiveSecrets`. */
  readonly secrets: null;
  readonly refusals: RefusalsSince;
  readonly totals: readonly HostTotals[];
  /** The rest is for the processes beside that server, which share its machine. */
  readonly start: SandboxView;
  readonly row: SandboxRow | null;
  /** Those of one owner, newest first; of no sandbox in particular. */
  readonly rows: readonly SandboxRow[];
  /** Of no sandbox either. */
  readonly offer: SandboxOffer;
};

/** Of which sandbox something is asked, and for whom. */
export type MachineAsked = {
  readonly id: string;
  readonly ownerId: string;
  /** What a start makes it from. */
  readonly templateId?: string;
  readonly network?: NetworkAsked;
};

/** For `grant`, `secrets` and `refusals`. */
export type NetworkAsked = {
  readonly conversationId?: string;
  readonly hosts?: readonly string[];
  readonly secrets?: readonly BoundSecret[];
  readonly mark?: number;
};

/** Which bytes of a sandbox: its tool host's, or a TCP port's inside. */
export type MachineStream = "host" | number;

/** The way to sandboxes of other machines, through the servers there. Rejects with `machine_away` where none lives. */
export interface MachineCalls {
  readonly ownMachine: string;
  /** Those that a server lives on. */
  living(): Promise<{ has(machine: string): boolean }>;
  ask<Act extends keyof MachineActs>(
    machine: string,
    act: Act,
    sandbox: MachineAsked,
  ): Promise<MachineActs[Act]>;
  open(machine: string, id: string, stream: MachineStream): Promise<Socket>;
}
