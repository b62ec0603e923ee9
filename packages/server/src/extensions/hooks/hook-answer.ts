import { withoutFence } from "../../lib/without-fence.ts";
import type { Hook } from "./hook-config.ts";
import { objectOr, textOf, type JsonObject } from "../../lib/json-object.ts";

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
 * Exit code 2 or a denial in JSON blocks, whatever else is said; a failure does what the hook's `on_failure` says. A decision of a
 * command that is not known blocks too, because its author meant more than nothing; one of a model is a failure.
 */
export function readAnswer(hook: Hook, end: HookEnd): HookAnswer {
  const answer = readJson(end.stdout);
  const decision = decisionOf(answer);
  const goesOn = answer["continue"] ?? true;
  const isUnderstood = (decision === null || decisions.includes(decision)) && typeof goesOn === "boolean";
  const isUnknown = hook.type === "command" && !isUnderstood;
  const isDenied = decision === "deny" || goesOn === false || end.exitCode === 2 || isUnknown;
  const isUnclear = hook.type !== "command" && !decisions.includes(decision);
  const isFailed = end.problem !== null || (end.exitCode !== 0 && end.exitCode !== 2) || isUnclear;
  const isBlocked = isDenied || (isFailed && hook.on_failure === "deny");
  const unknown = isUnknown ? unknownDecision : null;
  const reason =
    textOf(answer["reason"]) ?? unknown ?? (isBlocked ? (textOf(end.stderr) ?? end.problem) : null);
  return {
    isBlocked,
    isSuccess: !isFailed && !isBlocked,
    reason: reason ?? (isBlocked ? "A hook of this conversation does not allow it." : null),
    context: textOf(answer["additionalContext"]),
  };
}

const decisions: readonly unknown[] = ["allow", "deny"];
const unknownDecision =
  "A hook of this conversation gave an answer that is not known, so it does not allow it: `decision` is allow or deny, `continue` true or false.";

/** In the form of other programs as well, whose hooks are used here: `block` and `approve`, or a permission inside. */
function decisionOf(answer: JsonObject): unknown {
  const { permissionDecision } = objectOr(answer["hookSpecificOutput"]);
  const given = [answer["decision"], permissionDecision].filter((decision) => (decision ?? null) !== null);
  const plain = given.map((word) => (word === "block" ? "deny" : word === "approve" ? "allow" : word));
  return plain.find((decision) => decision !== "allow") ?? plain[0] ?? null;
}

function readJson(stdout: string): JsonObject {
  const text = withoutFence(stdout.trim());
  if (!text.startsWith("{")) return {};
  try {
    return JSON.parse(text) as JsonObject;
  } catch {
    // Output that is meant for people; the exit code decides then.
    return {};
  }
}
