import type { PermissionCall } from "./permission-call.ts";

/** Calls that the agent was allowed in this prompt. Each covers one act that the agent then has us do: the same command, or the same file. */
export class GrantedCalls {
  readonly #keys: string[] = [];

  add(call: PermissionCall): void {
    const key = keyOf(call);
    if (key !== null) this.#keys.push(key);
  }

  /** True where the call was allowed; once. */
  take(call: PermissionCall): boolean {
    const key = keyOf(call);
    const index = key === null ? -1 : this.#keys.indexOf(key);
    if (index >= 0) this.#keys.splice(index, 1);
    return index >= 0;
  }
}

function keyOf({ action, toolName }: PermissionCall): string | null {
  const values = action as { readonly command?: unknown; readonly path?: unknown };
  const subject = toolName === "terminal" ? values.command : values.path;
  return typeof subject === "string" ? JSON.stringify([toolName, subject]) : null;
}
