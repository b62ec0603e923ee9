import type { AllowRule, AllowRules, AnswerApprovalsRequest } from "@convoke/protocol";
import type { RouteRequest } from "../../../http/mount.ts";
import { invalidField } from "../../../lib/fault.ts";
import type { AnyRule } from "../../../security/rules/rule.ts";
import { checkRule } from "../settings/rule-routes.ts";

type Location = (string | number)[];

/** The rules of a request, each in one of the two patterns. */
export function readRules({ body }: Pick<RouteRequest, "body">): AnyRule[] {
  return (body as AllowRules).rules.map((rule, index) => readRule(rule, ["body", "rules", index]));
}

/** Fails when an action is answered twice, or an answer and its rule do not fit each other. */
export function checkAnswers({ answers }: AnswerApprovalsRequest): void {
  const ids = answers.map(({ action_id: id }) => id);
  const second = ids.findIndex((id, index) => ids.indexOf(id) < index);
  if (second !== -1)
    throw invalidField(
      ["body", "answers", second, "action_id"],
      "This action has an answer before: give one for each.",
    );
  answers.forEach(checkAnswer);
}

/** Fails when an answer and the rule that comes with it do not fit each other. */
function checkAnswer(
  { accept, scope = "once", rule }: AnswerApprovalsRequest["answers"][number],
  index: number,
): void {
  const loc = ["body", "answers", index];
  if (rule === undefined) {
    if (scope === "once" || accept) return;
    throw invalidField([...loc, "rule"], "Say which calls are to be denied or asked about.");
  }
  if (scope === "once")
    throw invalidField([...loc, "scope"], "A rule is stored with the scope conversation or rule.");
  if (accept !== (rule.effect === "allow"))
    throw invalidField(
      [...loc, "rule", "effect"],
      "An accepted call goes with allow, a rejected one with ask or deny.",
    );
  checkRule(rule, [...loc, "rule"]);
}

/** The older form names `tool_name`, and only allows: one that is meant to deny must not be stored as one that allows. */
function readRule(given: AllowRule, loc: Location): AnyRule {
  const { tool_name: toolName, arguments: patterns, effect, tool, command, path, host, up_to, note } = given;
  const risk = up_to === undefined ? {} : { up_to };
  if (toolName === undefined) {
    if (tool === undefined) throw invalidField([...loc, "tool"], "Name the tool.", "missing");
    if (effect !== "allow" && effect !== "ask" && effect !== "deny")
      throw invalidField([...loc, "effect"], "Use allow, ask or deny.", "enum");
    if (patterns !== undefined)
      throw invalidField([...loc, "arguments"], "With tool, name the command, the path or the host instead.");
    const rest = {
      ...(command && { command }),
      ...(path && { path }),
      ...(host && { host }),
      ...(note && { note }),
    };
    return checkRule({ effect, tool, ...rest, ...risk }, loc);
  }
  for (const [field, value] of Object.entries({ tool, command, path, host, note }))
    if (value !== undefined) throw invalidField([...loc, field], "With tool_name, use arguments.");
  if (effect !== undefined && effect !== "allow") {
    const msg =
      "Rules with tool_name only allow. Write it as a rule with tool, as tool terminal and command [git, push, **].";
    throw invalidField([...loc, "effect"], msg, "not_supported");
  }
  return { tool_name: toolName, ...(patterns && { arguments: patterns }), ...risk };
}
