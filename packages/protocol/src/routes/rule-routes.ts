import { ErrorReply } from "../requests/replies.ts";
import { RuleTrial, SetRulesRequest, UserRules, TryRuleRequest } from "../security/rule.ts";
import { invalid, noConversation } from "./responses.ts";
import { ok } from "./ok.ts";
import { routesOf } from "./route.ts";

const changed = {
  409: { description: "They were changed since they were read.", schema: ErrorReply },
} as const;

/** Rules for all conversations of a user. */
export const ruleRoutes = routesOf("Rules", {
  getRules: {
    method: "GET",
    path: "/api/rules",
    summary: "The caller's rules for all conversations, and those of the server",
    auth: true,
    responses: ok("The rules.", UserRules),
  },
  setRules: {
    method: "PUT",
    path: "/api/rules",
    summary: "Replace the caller's rules for all conversations",
    auth: true,
    body: SetRulesRequest,
    responses: { ...ok("The rules.", UserRules), ...changed, ...invalid },
  },
  tryRule: {
    method: "POST",
    path: "/api/rules/try",
    summary: "Which rule would decide about a call, and how its command is read; runs nothing",
    auth: true,
    body: TryRuleRequest,
    responses: { ...ok("The decision.", RuleTrial), ...noConversation, ...invalid },
  },
});
