import type { SandboxStatus } from "@convoke/protocol";
import { Fault } from "../lib/fault.ts";

/** Refusals that have to do with sandboxes and that more than one place gives. */

export function sandboxesNotServed(): Fault {
  return new Fault(
    "not-now",
    "sandboxes_not_served",
    "This server has no sandboxes: they are switched off, or another server on the same data folder has them.",
  );
}

export function specMissing(wanted: string, templates: readonly { readonly id: string }[]): Fault {
  const known = templates.map(({ id }) => id).join(", ");
  return new Fault(
    "missing",
    "sandbox_spec_not_found",
    `There is no sandbox spec "${wanted}", only: ${known}.`,
  );
}

/** Nobody knows how a sandbox stands whose machine has no living server. */
export function machineUnavailable(options: ErrorOptions = {}): Fault {
  return new Fault(
    "not-now",
    "machine_away",
    "The sandbox is on a machine that no server lives on at the moment. Try again when it is back; what is in the sandbox stays there.",
    [],
    options,
  );
}

export function isMachineUnavailable(error: unknown): boolean {
  return error instanceof Fault && error.code === "machine_away";
}

/** Why a conversation's sandbox cannot be used now. */
export function sandboxUnavailable(status: Exclude<SandboxStatus, "RUNNING">, detail: string | null): Fault {
  const why = detail === null || detail === "" ? "" : ` (${detail})`;
  if (status === "MISSING") {
    return new Fault(
      "gone",
      "sandbox_gone",
      "Sandbox is MISSING: nothing is left of it. Start a new conversation.",
    );
  }
  if (status === "ERROR") {
    return new Fault(
      "not-now",
      "sandbox_failed",
      `Sandbox is ERROR${why}. Resume it to start it again over its files.`,
    );
  }
  const fix = status === "PAUSED" ? "Resume it first." : "Wait until it runs, or send a pending message.";
  return new Fault("conflict", "sandbox_not_ready", `Sandbox is ${status}${why}. ${fix}`);
}

export function sandboxMissing(id: string): Fault {
  return new Fault("missing", "sandbox_not_found", `There is no sandbox ${id}.`);
}
