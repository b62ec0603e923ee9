import type { Hook } from "./hook-config.ts";

/** What became of carrying a hook out. `problem`: it did not come to an end by itself. */
export type HookEnd = {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly problem: string | null;
};

/** What a hook says. */
export type HookAnswer = {
  readonly isBlocked: boolean;
  readonly isSuccess: boolean;
  readonly reason: string | null;
  readonly context: string | null;
};

/**
 * Exit code 2 or a denial in JSON blocks, whatever else is said; a failure does what the hook's `on_failure` says. Source:
 * reference, agent-loop 10.2.
 */
export function readAnswer(hook: Hook, end: HookEnd): HookAnswer {
  const said = readJson(end.stdout);
  const isDenied = said["decision"] === "deny" || said["continue"] === false || end.exitCode === 2;
  const isUnclear = hook.type !== "command" && said["decision"] !== "allow" && said["decision"] !== "deny";
  const isFailed = end.problem !== null || (end.exitCode !== 0 && end.exitCode !== 2) || isUnclear;
  const isBlocked = isDenied || (isFailed && hook.on_failure === "deny");
  const reason = textOf(said["reason"]) ?? (isBlocked ? (textOf(end.stderr) ?? end.problem) : null);
  return {
    isBlocked,
    isSuccess: !isFailed && !isBlocked,
    reason: reason ?? (isBlocked ? "A hook of this conversation does not allow it." : null),
    context: textOf(said["additionalContext"]),
  };
}

function readJson(stdout: string): Readonly<Record<string, unknown>> {
  const text = withoutFence(stdout.trim());
  if (!text.startsWith("{")) return {};
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    // Output that is meant for people; the exit code decides then.
    return {};
  }
}

/** What stands in a code fence, as models like to answer; by hand, because output may be long and full of blanks. */
function withoutFence(text: string): string {
  const opened = text.startsWith("```json") ? text.slice(7) : text.startsWith("```") ? text.slice(3) : text;
  return (opened.endsWith("```") ? opened.slice(0, -3) : opened).trim();
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : null;
}
