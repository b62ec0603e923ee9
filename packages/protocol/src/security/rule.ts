import { Type, type Static } from "typebox";
import { anyObject, choice, closedObject, mapOf, nullable, object, orAbsent, ref } from "../schema.ts";
import { SecurityRisk } from "./security-risk.ts";

/** Of one source: server, user, project or conversation. */
export const maxRules = 500;
/** Of the pattern of one rule; of the older form, its arguments. */
export const maxPatternWords = 200;

const ruleFields = {
  tool: Type.String({
    minLength: 1,
    maxLength: 200,
    description: "The tool's name. `terminal` stands for named terminals as well.",
  }),
  command: Type.Array(Type.String({ minLength: 1, maxLength: 500 }), {
    minItems: 1,
    maxItems: maxPatternWords,
    description:
      "The words of a shell command: a word, alternatives with `|`, `*` for one word, `**` for the rest.",
  }),
  path: Type.String({
    minLength: 1,
    maxLength: 1_000,
    description: "A glob below the working folder, or one that begins with `/` or `~/`.",
  }),
  host: Type.String({
    minLength: 1,
    maxLength: 260,
    description: "A host, or `*.` and a domain for all hosts below it; with a port where only one counts.",
  }),
  note: Type.String({ maxLength: 500, description: "What the agent and people read with the decision." }),
};

/** What happens to the calls that a rule fits. Unknown fields are refused: a misspelled one would widen the rule. */
export const Rule = closedObject("Rule", {
  effect: choice(["allow", "ask", "deny"]),
  tool: ruleFields.tool,
  command: Type.Optional(ruleFields.command),
  path: Type.Optional(ruleFields.path),
  host: Type.Optional(ruleFields.host),
  up_to: Type.Optional(
    ref(SecurityRisk, { description: "The highest risk that an `allow` covers; MEDIUM unless given." }),
  ),
  note: Type.Optional(ruleFields.note),
});
export type Rule = Static<typeof Rule>;

/**
 * A rule of one conversation, in the form of {@link Rule} or in the older one, which names `tool_name` and only allows.
 * `*` in an argument matches any text that does not begin another command.
 */
export const AllowRule = closedObject("AllowRule", {
  tool_name: Type.Optional(Type.String({ minLength: 1 })),
  arguments: Type.Optional(mapOf(Type.String({ maxLength: 2000 }), { maxProperties: maxPatternWords })),
  effect: Type.Optional(
    Type.String({
      maxLength: 20,
      description: "`allow`, `ask` or `deny`; with `tool_name` only `allow`, which it is without.",
    }),
  ),
  tool: Type.Optional(ruleFields.tool),
  command: Type.Optional(ruleFields.command),
  path: Type.Optional(ruleFields.path),
  host: Type.Optional(ruleFields.host),
  up_to: Type.Optional(ref(SecurityRisk)),
  note: Type.Optional(ruleFields.note),
});
export type AllowRule = Static<typeof AllowRule>;

export const AllowRules = closedObject("AllowRules", {
  rules: Type.Array(ref(AllowRule), { maxItems: maxRules }),
});
export type AllowRules = Static<typeof AllowRules>;

/** A file of rules: that of the server, and `.convoke/rules.json` of a project. */
export const RuleFile = closedObject("RuleFile", { rules: Type.Array(ref(Rule), { maxItems: maxRules }) });
export type RuleFile = Static<typeof RuleFile>;

/** The rules that a user has stored. A change of another version than the stored one is refused with 409. */
export const SetRulesRequest = closedObject("SetRulesRequest", {
  rules: Type.Array(ref(Rule), { maxItems: maxRules }),
  version: orAbsent(
    Type.Integer({ minimum: 0, description: "The version that was read; absent: replace any." }),
  ),
});
export type SetRulesRequest = Static<typeof SetRulesRequest>;

export const UserRules = object("UserRules", {
  rules: Type.Array(ref(Rule), { description: "The caller's own, for all conversations." }),
  version: Type.Integer({ description: "Grows with each change of them." }),
  server_rules: Type.Array(ref(Rule), { description: "Those of the server's operator, for everybody." }),
});
export type UserRules = Static<typeof UserRules>;

/** The rule that decided about a call. */
export const RuleDecision = object("RuleDecision", {
  effect: choice(["allow", "ask", "deny"]),
  source: choice(["server", "user", "project", "conversation"]),
  index: Type.Integer({ description: "Its position among the rules of the source, from 0." }),
  rule: anyObject({ description: "As it was written." }),
});
export type RuleDecision = Static<typeof RuleDecision>;

/** One simple command of a shell text. */
export const CommandPart = object("CommandPart", {
  words: Type.Array(nullable(Type.String()), { description: "null: only known when it runs." }),
  inside: Type.Array(Type.String(), { description: "The programs that start it, outermost first." }),
  opaque: nullable(Type.String(), { description: "Why no allow can cover it." }),
});
export type CommandPart = Static<typeof CommandPart>;

/** How a shell text was read. */
export const CommandReading = object("CommandReading", {
  parts: Type.Array(ref(CommandPart)),
  opaque: Type.Array(Type.String(), { description: "Why no allow can cover the whole text." }),
});
export type CommandReading = Static<typeof CommandReading>;

/** A call to try the rules on. */
export const TryRuleRequest = closedObject("TryRuleRequest", {
  tool: Type.Optional(Type.String({ minLength: 1, maxLength: 200, default: "terminal" })),
  command: orAbsent(Type.String({ maxLength: 100_000 })),
  path: orAbsent(Type.String({ maxLength: 4_096 })),
  host: orAbsent(Type.String({ maxLength: 260 })),
  security_risk: Type.Optional(ref(SecurityRisk, { default: "UNKNOWN" })),
  conversation_id: orAbsent(Type.String({ format: "uuid" }), {
    description: "Its rules and those of its project count as well.",
  }),
  working_dir: orAbsent(Type.String({ maxLength: 4_096 }), {
    description: "What relative paths are below, without a conversation.",
  }),
});
export type TryRuleRequest = Static<typeof TryRuleRequest>;

export const RuleTrial = object("RuleTrial", {
  effect: choice(["allow", "ask", "deny", "policy"], {
    description: "`policy`: no rule fits, so the confirmation policy decides.",
  }),
  decided_by: nullable(ref(RuleDecision)),
  reading: nullable(ref(CommandReading)),
  problems: Type.Array(Type.String(), { description: "Rules of the project that were refused." }),
});
export type RuleTrial = Static<typeof RuleTrial>;
