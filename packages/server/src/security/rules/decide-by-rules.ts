import type { Rule } from "@convoke/protocol";
import { isAllowed } from "../allow-rules.ts";
import { isWithinRisk } from "../risk-order.ts";
import { coversWords, mayFitCommand } from "./match-command.ts";
import { fitsHost, hostsOf, mayFitHost } from "./match-host.ts";
import { fitsPath, pathsOf } from "./match-path.ts";
import { readCommand, type CommandReading } from "./read-command.ts";
import { isOlderForm, type RuleDecision, type RuledCall, type SourcedRule } from "./rule.ts";
import { isRuleForTool, shellCallOf } from "./shell-call.ts";

/** What rules say about a call, and how its command was read; `reading` is null for calls of other tools than shells. */
export type RuledBy = { readonly decision: RuleDecision | null; readonly reading: CommandReading | null };

/**
 * All rules are one set: a `deny` that fits decides, then an `ask`, then an `allow`; without any the confirmation policy
 * does. An `allow` with a command covers a call only when each part is covered and none is opaque; one with a host only when
 * each host of the call is covered.
 */
export function decideByRules(rules: readonly SourcedRule[], call: RuledCall): RuledBy {
  const shell = shellCallOf(call.toolName, call.action);
  const reading = shell === null ? null : readShellCall(shell, call.places.workingDir);
  const judged: Judged = { call, text: shell?.command ?? "", reading };
  for (const effect of ["deny", "ask"] as const) {
    const found = rules.find(
      ({ rule }) => !isOlderForm(rule) && rule.effect === effect && mayFit(rule, judged),
    );
    if (found !== undefined) return { decision: { ...found, effect }, reading };
  }
  const allowing = findAllowing(rules, judged);
  return { decision: allowing === null ? null : { ...allowing, effect: "allow" }, reading };
}

type Judged = { readonly call: RuledCall; readonly text: string; readonly reading: CommandReading | null };

/** What is typed into a running program is no command. */
function readShellCall(
  { command, isInput }: { command: string; isInput: boolean },
  workingDir: string,
): CommandReading {
  const reading = readCommand(command, workingDir);
  return isInput
    ? { ...reading, opaque: ["it is typed into a running program", ...reading.opaque] }
    : reading;
}

function mayFit(rule: Rule, { call, text, reading }: Judged): boolean {
  const { toolName, action, places } = call;
  if (!isRuleForTool(rule.tool, toolName)) return false;
  const { command, path, host } = rule;
  if (command !== undefined && (reading === null || !mayFitCommand(command, reading, text))) return false;
  if (path !== undefined && !pathsOf(action, places).some((given) => fitsPath(path, given, places)))
    return false;
  if (host === undefined) return true;
  const hosts = hostsOf(action);
  return hosts.length === 0 ? host === "*" : hosts.some((given) => mayFitHost(host, given));
}

/** The first of the rules that together cover the call. */
function findAllowing(rules: readonly SourcedRule[], judged: Judged): SourcedRule | null {
  const { call, reading } = judged;
  const older = rules.find(({ rule }) => isOlderForm(rule) && isAllowed([rule], call));
  if (older !== undefined) return older;
  const allowing = rules.filter(({ rule }) => isAllowFor(rule, judged));
  const hosts = hostsOf(call.action);
  const isWhole = ({ rule }: SourcedRule): boolean =>
    !isOlderForm(rule) &&
    rule.command === undefined &&
    (rule.host === undefined || hosts.every((given) => fitsHost(rule.host!, given)));
  const whole = allowing.find(isWhole) ?? findForHosts(allowing, hosts);
  if (whole !== undefined || reading === null) return whole ?? null;
  if (reading.opaque.length > 0 || reading.parts.some(({ opaque }) => opaque !== null)) return null;
  const named = reading.parts.filter(({ isPlainWrapper }) => !isPlainWrapper);
  const covering = named.map(({ words }) =>
    allowing.find(({ rule }) => !isOlderForm(rule) && coversWords(rule.command!, words)),
  );
  return covering.length > 0 && !covering.includes(undefined) ? covering[0]! : null;
}

/** The first of the rules that together name each host of the call. */
function findForHosts(allowing: readonly SourcedRule[], hosts: readonly string[]): SourcedRule | undefined {
  const covering = hosts.map((given) =>
    allowing.find(({ rule }) => !isOlderForm(rule) && rule.host !== undefined && fitsHost(rule.host, given)),
  );
  return covering.includes(undefined) ? undefined : covering[0];
}

/** Everything but the command fits, and at least one host. */
function isAllowFor(rule: SourcedRule["rule"], { call, reading }: Judged): boolean {
  if (isOlderForm(rule) || rule.effect !== "allow") return false;
  const { toolName, action, risk, places } = call;
  const { tool, command, path, host, up_to: upTo } = rule;
  if (!isRuleForTool(tool, toolName)) return false;
  if (!isWithinRisk(risk, upTo)) return false;
  if (command !== undefined && reading === null) return false;
  if (path !== undefined) {
    const paths = pathsOf(action, places);
    if (paths.length === 0 || !paths.every((given) => fitsPath(path, given, places))) return false;
  }
  return host === undefined || hostsOf(action).some((given) => fitsHost(host, given));
}
