import type { AllowRules, AnswerApprovalsRequest, SetRulesRequest } from "@convoke/protocol";

/** What the audit log has of the bodies of some operations: decisions of people about what agents may do. */
const notes: Readonly<Record<string, (body: never) => object>> = {
  // Without the reasons, which are texts for the agent.
  answerApprovals: ({ answers }: AnswerApprovalsRequest) => ({
    answers: answers.map(({ action_id, accept, scope = "once", rule }) => ({
      action_id,
      accept,
      scope,
      ...(rule === undefined ? {} : { rule }),
    })),
  }),
  setAllowRules: ({ rules }: AllowRules) => ({ rules }),
  setRules: ({ rules }: SetRulesRequest) => ({ rules }),
};

/** The note about an operation with a body that was checked; null for most operations. */
export function auditNoteOf(operation: string, body: unknown): object | null {
  const note = Object.hasOwn(notes, operation) ? notes[operation] : undefined;
  return note === undefined ? null : note(body as never);
}
