import { isOlderForm, type AnyRule, type RuleDecision, type SourcedRule } from "./rule.ts";

const owners = {
  server: "the server",
  user: "the user",
  project: "the project",
  conversation: "this conversation",
} as const;

/** What the agent and people read about a call that a rule denies. */
export function denialText({ source, rule }: RuleDecision): string {
  const note = isOlderForm(rule) ? undefined : rule.note;
  const text = note === undefined || note.trim() === "" ? "" : ` ${note.trim().replace(/[.!?]?$/u, ".")}`;
  return `Not executed: a rule of ${owners[source]} denies ${describeRule(rule)}.${text} Do not try it in another way.`;
}

/** What people read about a call that a rule asks about. */
export function askReason({ source, rule }: RuleDecision): string {
  const note = isOlderForm(rule) ? undefined : rule.note;
  const text = note === undefined || note.trim() === "" ? "" : `: ${note.trim()}`;
  return `a rule of ${owners[source]} asks about ${describeRule(rule)}${text}`;
}

/** A rule with its effect and note, in one line. */
export function ruleLine({ rule }: SourcedRule): string {
  const { effect, note = "" } = isOlderForm(rule) ? { effect: "allow" } : rule;
  return `${effect} ${describeRule(rule)}${note.trim() === "" ? "" : ` (${note.trim()})`}`.replaceAll(
    "\n",
    " ",
  );
}

/** The calls that a rule fits, in one line. */
function describeRule(rule: AnyRule): string {
  if (isOlderForm(rule)) {
    const named = Object.entries(rule.arguments ?? {}).map(([name, pattern]) => `${name} ${pattern}`);
    return [rule.tool_name, ...named].join(", ");
  }
  const { tool, command, path, host } = rule;
  return [
    tool,
    ...(command === undefined ? [] : [command.join(" ")]),
    ...(path === undefined ? [] : [path]),
    ...(host === undefined ? [] : [host]),
  ].join(": ");
}
