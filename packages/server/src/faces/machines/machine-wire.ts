import { Fault, type FaultKind } from "../../lib/fault.ts";

/** The answer of one node to a call of another; `pending` makes the caller ask again. */
export type MachineAnswer =
  | { readonly value: unknown }
  | { readonly pending: true }
  | { readonly fault: { readonly kind: FaultKind; readonly code: string; readonly message: string } };

export const machinePrefix = "/internal/sandboxes";

/** Null for errors other than Faults. */
export function toFaultAnswer(error: unknown): MachineAnswer | null {
  if (!(error instanceof Fault)) return null;
  const { kind, code, message } = error;
  return { fault: { kind, code, message } };
}

/** The value in another node's answer; throws the Fault in it. */
export function readAnswer(answer: MachineAnswer): { readonly value: unknown } | "pending" {
  if ("pending" in answer) return "pending";
  if ("value" in answer) return answer;
  const { kind, code, message } = answer.fault;
  throw new Fault(kind, code, message);
}
