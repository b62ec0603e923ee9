import type { Action, Rule, TryRuleRequest, ruleRoutes } from "@convoke/protocol";
import { noProjectRules, type ProjectRules, type Rules } from "../../../engine/ports.ts";
import { conversationMissing } from "../../../engine/refusals.ts";
import type { ConversationConfig } from "../../../engine/conversation-config.ts";
import type { Handlers } from "../../../http/mount.ts";
import { describeError } from "../../../lib/describe-error.ts";
import { Fault, invalidField } from "../../../lib/fault.ts";
import { ruleProblem } from "../../../security/rules/check-rules.ts";
import { decideByRules } from "../../../security/rules/decide-by-rules.ts";
import { rulesFrom } from "../../../security/rules/rule.ts";
import { isShellTool } from "../../../security/rules/shell-call.ts";
import { showReading } from "../../../security/rules/show-reading.ts";
import type { VersionedRules } from "../../../settings/rule-store.ts";
import type { FaceDeps } from "../../face-deps.ts";
import type { Caller } from "../../../security/caller.ts";

/** The caller's rules for all conversations, and a trial of all rules that count. */
export function ruleHandlers({ directory, ruleSources, workspaceRoot }: FaceDeps) {
  const { server, users } = ruleSources;
  const show = ({ rules, version }: VersionedRules): { json: object } => ({
    json: { rules, version, server_rules: server },
  });

  async function configOf(caller: Caller, id: string): Promise<ConversationConfig> {
    const described = await directory.describe(caller, id);
    if (described === null) throw conversationMissing(id);
    return described.config;
  }

  return {
    getRules: async ({ caller }) => show(await users.load(caller.userId)),

    setRules: async ({ body, caller }) => {
      const { rules, version = null } = body;
      rules.forEach((rule, index) => checkRule(rule, ["body", "rules", index]));
      const stored = await users.change(caller.userId, version, () => rules);
      if (stored !== null) return show(stored);
      const text = "Your rules were changed since they were read. Read them again, and repeat the change.";
      throw new Fault("conflict", "rules_changed", text);
    },

    tryRule: async (request) => {
      const { body } = request;
      const { tool = "terminal", security_risk: risk = "UNKNOWN", conversation_id: id = null } = body;
      const around = directory.rulesOf(request.caller);
      const config = id === null ? null : await configOf(request.caller, id);
      const project = config === null ? noProjectRules : await projectOf(around, config);
      const own = rulesFrom("conversation", config?.allow_rules ?? []);
      const places =
        config === null
          ? { workingDir: body.working_dir ?? workspaceRoot, home: null }
          : around.places(config);
      const { decision, reading } = decideByRules([...around.ofOwner(), ...project.rules, ...own], {
        toolName: tool,
        action: actionOf(tool, body),
        risk,
        places,
      });
      return {
        json: {
          effect: decision?.effect ?? "policy",
          decided_by: decision,
          reading: reading === null ? null : showReading(reading),
          problems: project.problems,
        },
      };
    },
  } satisfies Handlers<typeof ruleRoutes>;
}

/** Fails when a rule would never do what it says. */
export function checkRule(rule: Rule, loc: readonly (string | number)[]): Rule {
  const problem = ruleProblem(rule);
  if (problem !== null) throw invalidField([...loc, problem.field], problem.msg);
  return rule;
}

/** A trial says that the project was not read; a run would say it in its log. */
async function projectOf(rules: Rules, config: ConversationConfig): Promise<ProjectRules> {
  try {
    return await rules.readProject(config);
  } catch (error) {
    return { rules: [], problems: [`The project's rules could not be read: ${describeError(error)}`] };
  }
}

function actionOf(tool: string, { command, path, host }: TryRuleRequest): Action {
  if (isShellTool(tool)) return { kind: "TerminalAction", command: command ?? "" };
  return { kind: "MCPToolAction", data: { ...(path && { path }), ...(host && { host }) } };
}
