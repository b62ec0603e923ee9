import { Fault } from "./fault.ts";

/**
 * The header with the number of conversations that a new one was started through: an agent that starts another one by `convoke mcp`
 * stands one above it.
 */
const startDepthHeader = "x-convoke-start-depth";

/** A chain of three is allowed; a longer one is an agent that starts itself. */
const maxStartDepth = 3;

/** 0 for a conversation that no conversation has started. Throws a fault for one behind too many. */
export function readStartDepth(headers: Readonly<Record<string, string | string[] | undefined>>): number {
  const { [startDepthHeader]: text } = headers;
  const depth = text === undefined ? 0 : Number(text);
  if (Number.isInteger(depth) && depth >= 0 && depth <= maxStartDepth) return depth;
  throw new Fault(
    "unusable",
    "started_too_deep",
    `This conversation would be started through more than ${maxStartDepth} others. Do the work here, or ask a person.`,
  );
}
