import type { Rule } from "@convoke/protocol";
import { invalidField } from "../lib/fault.ts";
import { proposeRules } from "../security/rules/propose-rules.ts";
import { addRules, roomProblem, type AnyRule } from "../security/rules/rule.ts";
import {
  awaiting,
  callOf,
  decideAnswers,
  type AnswerScope,
  type ApprovalAnswer,
  type RecordedAnswer,
} from "./commands/approvals.ts";
import type { Rules } from "./ports.ts";
import type { SharedParts } from "./shared-parts.ts";
import type { Writer } from "./writer.ts";

export type AnswerApprovalsDeps = Pick<SharedParts, "configuration" | "log" | "queue"> & {
  readonly rules: Pick<Rules, "ofOwner" | "places" | "addForOwner">;
  readonly writer: Writer;
};

/**
 * Accepts or rejects pending actions of a user. Rules of the answers are stored with them: those for the conversation
 * in the same commit, those of the user right behind it. Fails if an action is unknown (404) or settled (409), or if
 * no rule can allow it or there would be too many rules (422); then nothing is stored.
 */
export async function answerApprovals(
  answers: readonly ApprovalAnswer[],
  userId: string,
  deps: AnswerApprovalsDeps,
): Promise<void> {
  const { configuration, log, queue, rules, writer } = deps;
  await queue.post(async () => {
    const waiting = new Set(awaiting(log.state).map(({ id }) => id));
    const areWaiting = answers.every(({ action_id: id }) => waiting.has(id));
    const known = areWaiting ? waiting : await log.knownIds();
    const isKnown = (id: string): boolean => known.has(id);
    // Before any rule is looked for: an action that does not wait has none.
    decideAnswers(log.state, answers, { isKnown, userId, recorded: [] });
    const recorded = await Promise.all(answers.map((answer, index) => withRules(answer, index, deps)));
    const decision = decideAnswers(log.state, answers, { isKnown, userId, recorded });
    const ofUser = rulesIn(recorded, "rule");
    const stored = rules.ofOwner().filter(({ source }) => source === "user");
    requireRoom(
      addRules<AnyRule>(
        stored.map(({ rule }) => rule),
        ofUser,
      ),
      recorded,
      "rule",
    );
    const own = addRules<AnyRule>(configuration.config.allow_rules ?? [], rulesIn(recorded, "conversation"));
    requireRoom(own, recorded, "conversation");
    if (rulesIn(recorded, "conversation").length === 0) await writer.commit(decision);
    else await writer.commitSetting({ allow_rules: own }, decision);
    if (ofUser.length > 0) await rules.addForOwner(ofUser);
  });
}

function rulesIn(recorded: readonly RecordedAnswer[], wanted: AnswerScope): readonly Rule[] {
  return recorded.flatMap(({ scope, rules }) => (scope === wanted ? rules : []));
}

/** Fails when answers of a scope would store more rules than there may be. */
function requireRoom(
  rules: readonly AnyRule[],
  recorded: readonly RecordedAnswer[],
  scope: AnswerScope,
): void {
  const index = recorded.findLastIndex((answer) => answer.scope === scope);
  const problem = index === -1 ? null : roomProblem(rules);
  if (problem !== null) throw invalidField(["body", "answers", index, "scope"], problem);
}

/** An answer with the rules that are stored with it. */
async function withRules(
  { action_id: id, accept, scope = "once", rule }: ApprovalAnswer,
  index: number,
  { configuration: { config }, log, rules }: AnswerApprovalsDeps,
): Promise<RecordedAnswer> {
  const answer = { action_id: id, accept, scope };
  if (scope === "once") return { ...answer, rules: [] };
  if (rule !== undefined) return { ...answer, rules: [rule] };
  const found = await log.find(id);
  const call = found === null ? null : callOf(found, rules.places(config));
  const proposed = call === null ? [] : proposeRules(call);
  if (proposed.length > 0) return { ...answer, rules: proposed };
  const msg =
    "No rule can allow calls like this one: what it runs cannot be read before it runs. Answer it once, or send a rule.";
  throw invalidField(["body", "answers", index, "scope"], msg);
}
