import type { Rule } from "@convoke/protocol";
import { expect, test } from "vitest";
import { answerApprovals, type AnswerApprovalsDeps } from "./answer-approvals.ts";
import { noRules } from "./ports.ts";

const rule: Rule = { effect: "allow", tool: "terminal", command: ["npm", "test", "**"] };

test("a user's rule is not stored when its answer cannot be", async () => {
  const stored: Rule[] = [];
  const action = { id: "a", toolName: "terminal", toolCallId: "b", gate: "awaiting" };
  const deps = {
    configuration: { config: {} },
    log: { state: { openActions: [action], status: "waiting_for_confirmation" } },
    queue: { post: async (job: () => Promise<void>) => await job() },
    rules: { ...noRules, addForOwner: async (added: readonly Rule[]) => void stored.push(...added) },
    writer: { commit: () => Promise.reject(new Error("the disk is full")) },
  } as unknown as AnswerApprovalsDeps;
  const answers = [{ action_id: "a", accept: true, scope: "rule", rule } as const];
  await expect(answerApprovals(answers, "ada", deps)).rejects.toThrow("the disk is full");
  expect(stored).toEqual([]);
});
