import type { Action } from "@convoke/protocol";
import { ToolInputError } from "../../tool.ts";

type Arguments = Readonly<Record<string, unknown>>;

/** The arguments of a call whose action kind has no schema for them; throws {@link ToolInputError} on names that are not `known`. */
export function argumentsOf(action: Action, known: readonly string[]): Arguments {
  const given = action.kind === "MCPToolAction" ? (action.data ?? {}) : {};
  const unknown = Object.keys(given).filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new ToolInputError(`${unknown.join(", ")}: not known here. Use ${known.join(", ")}.`);
  return given;
}

/** A text; empty when absent. */
export function readText(given: Arguments, name: string): string {
  const value = given[name] ?? "";
  if (typeof value !== "string") throw new ToolInputError(`${name}: must be text.`);
  return value;
}

/** A flag; false when absent. */
export function readFlag(given: Arguments, name: string): boolean {
  const value = given[name] ?? false;
  if (typeof value !== "boolean") throw new ToolInputError(`${name}: must be true or false.`);
  return value;
}

/** A number; null when absent. */
export function readNumber(given: Arguments, name: string): number | null {
  const value = given[name] ?? null;
  if (value !== null && !(typeof value === "number" && value >= 0))
    throw new ToolInputError(`${name}: must be a number, 0 or more.`);
  return value;
}
