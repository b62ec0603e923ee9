import type { Action, SecurityRisk } from "@convoke/protocol";
import { isWithinRisk } from "./risk-order.ts";

/**
 * Calls that the user has allowed permanently: a tool, and for each named argument a pattern in which `*` matches any
 * text. In a terminal command `*` never matches the beginning of another command. HIGH risk is not covered unless
 * `up_to` says so.
 */
export type AllowRule = {
  readonly tool_name: string;
  readonly arguments?: Readonly<Record<string, string>>;
  readonly up_to?: SecurityRisk;
};

/** Whether one of the rules covers the call. */
export function isAllowed(
  rules: readonly AllowRule[],
  call: { readonly toolName: string; readonly action: Action; readonly risk: SecurityRisk },
): boolean {
  return rules.some((rule) => covers(rule, call));
}

function covers(
  rule: AllowRule,
  { toolName, action, risk }: { toolName: string; action: Action; risk: SecurityRisk },
): boolean {
  if (rule.tool_name !== toolName) return false;
  if (!isWithinRisk(risk, rule.up_to)) return false;
  const values = action as unknown as Readonly<Record<string, unknown>>;
  return Object.entries(rule.arguments ?? {}).every(([name, pattern]) => {
    const value = values[name];
    return (
      typeof value === "string" &&
      fits(value, pattern, action.kind === "TerminalAction" && name === "command")
    );
  });
}

/** Compares the texts between the stars, so every pattern takes linear time. */
function fits(value: string, pattern: string, isCommand: boolean): boolean {
  const [first = "", ...others] = pattern.split("*");
  if (others.length === 0) return value === pattern;
  const last = others.pop()!;
  if (value.length < first.length + last.length) return false;
  if (!value.startsWith(first) || !value.endsWith(last)) return false;
  const middle = value.slice(first.length, value.length - last.length);
  let at = 0;
  // The texts that the stars matched.
  let rest = "";
  for (const fragment of others) {
    const found = middle.indexOf(fragment, at);
    if (found === -1) return false;
    rest += middle.slice(at, found);
    at = found + fragment.length;
  }
  rest += middle.slice(at);
  return !isCommand || !/[;&|<>$`\n\r()\\{}]/.test(rest);
}
