import { Fault } from "../../../lib/fault.ts";

/** Throws the refusal of another node as a fault of this one. */
export async function throwRefusal(response: Response, usualCode: string): Promise<never> {
  const answer = (await response.json()) as { readonly detail?: unknown; readonly code?: string };
  const { detail, code = usualCode } = answer;
  throw new Fault("not-now", code, typeof detail === "string" ? detail : JSON.stringify(detail));
}
