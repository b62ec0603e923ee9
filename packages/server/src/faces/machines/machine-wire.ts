import { Fault, type FaultKind } from "../../lib/fault.ts";

/** How one server tells another what came of something that it asked; `pending` has it ask again. */
export type MachineAnswer =
  | { readonly value: unknown }
  | { readonly pending: true }
  | { readonly fault: { readonly kind: FaultKind; readonly code: string; readonly message: string } };

export const machinePrefix = "/internal/sandboxes";

/** Null for what is no failure that a user is told. */
export function toFaultAnswer(error: unknown): MachineAnswer | null {
  if (!(error instanceof Fault)) return null;
  const { kind, code, message } = error;
  return { fault: { kind, code, message } };
}

/** The value of an answer of another server; throws the Fault that it tells. */
export function readAnswer(answer: MachineAnswer): { readonly value: unknown } | "pending" {
  if ("pending" in answer) return "pending";
  if ("value" in answer) return answer;
  const { kind, code, message } = answer.fault;
  throw new Fault(kind, code, message);
}
