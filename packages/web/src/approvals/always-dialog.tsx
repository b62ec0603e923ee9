import { describeRule } from "@convoke/client";
import type { AllowRules, OperationReply, Rule } from "@convoke/protocol";
import { useEffect, useMemo, useState } from "react";
import { textAt } from "@convoke/client/view";
import type { Approval } from "../overview/approvals-store.ts";
import { useServices } from "../services/services.ts";
import { visibleText } from "../text/visible-text.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Field, inputClass } from "../ui/field.tsx";
import { useMoreWords } from "../words/words.ts";

/** Where the rules are stored with the answer. */
export type AlwaysScope = "conversation" | "rule";

type AlwaysDialogProps = {
  readonly approval: Approval;
  readonly onClose: () => void;
  /** `rule` is absent if the proposed rules are stored as they are. */
  readonly onAnswer: (scope: AlwaysScope, rule?: Rule) => void;
};

const tryRules = "POST /api/conversations/{conversation_id}/allow_rules/dry_run";

type Trial = { readonly count: number; readonly rejected: readonly string[] };

/** Stores rules for similar calls with the answer; they are shown, and tried on all earlier calls, before. */
export default function AlwaysDialog({ approval, onClose, onAnswer }: AlwaysDialogProps) {
  const { always: words, rule: ruleWords } = useMoreWords();
  const { client } = useServices();
  const { conversationId, proposedRules } = approval;
  const [scope, setScope] = useState<AlwaysScope>("conversation");
  const [pattern, setPattern] = useState(() => editablePattern(proposedRules));
  const [trial, setTrial] = useState<Trial | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const rules = useMemo(() => withPattern(proposedRules, pattern), [proposedRules, pattern]);

  useEffect(() => {
    if (rules.length === 0) return;
    let isCurrent = true;
    const timer = setTimeout(() => {
      client
        .call(tryRules, {
          params: { conversation_id: conversationId },
          body: { rules: rules as AllowRules["rules"] },
        })
        .then((reply) => {
          if (!isCurrent) return;
          setTrial(toTrial(reply));
          setProblem(null);
        })
        .catch((error: unknown) => {
          if (isCurrent) setProblem(error instanceof Error ? error.message : String(error));
        });
    }, 250);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [client, conversationId, rules]);

  if (rules.length === 0) {
    return (
      <Dialog title={words.title} onClose={onClose}>
        <p className="mb-3 text-sm text-soft">{words.impossible}</p>
        <div className="flex justify-end">
          <Button onClick={onClose}>{words.cancel}</Button>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title={words.title} onClose={onClose}>
      <fieldset className="mb-3">
        <legend className="mb-1 text-sm text-soft">{words.where}</legend>
        {(["conversation", "rule"] as const).map((value) => (
          <label key={value} className="flex items-center gap-2 py-0.5 pointer-coarse:min-h-11">
            <input
              type="radio"
              name="scope"
              className="accent-accent-fill"
              checked={scope === value}
              onChange={() => setScope(value)}
            />
            {words.scopes[value]}
          </label>
        ))}
      </fieldset>
      {pattern !== null && (
        <Field label={words.pattern} hint={words.patternHint}>
          {(id, describedBy) => (
            <input
              id={id}
              aria-describedby={describedBy}
              className={`${inputClass} font-mono`}
              spellCheck={false}
              value={pattern}
              onChange={(event) => setPattern(event.target.value)}
            />
          )}
        </Field>
      )}
      <p className="mb-1 text-sm text-soft">{words.stored(rules.length)}</p>
      <ul className="mb-3">
        {rules.map((rule) => {
          const text = visibleText(describeRule(rule, ruleWords));
          return (
            <li key={text} className="font-mono text-sm break-words">
              {text}
            </li>
          );
        })}
      </ul>
      {trial !== null && (
        <div className="mb-3 rounded bg-sunken px-3 py-2 text-sm" role="status">
          <p>{words.trial(trial.count)}</p>
          {trial.rejected.map((text) => (
            <p key={text} className="mt-1 font-mono text-xs break-words text-bad">
              {words.youRejected} {visibleText(text)}
            </p>
          ))}
        </div>
      )}
      {problem !== null && (
        <p role="alert" className="mb-3 text-sm text-bad">
          {problem}
        </p>
      )}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{words.cancel}</Button>
        <Button
          variant="primary"
          disabled={problem !== null}
          onClick={() => {
            onClose();
            onAnswer(scope, rules.length === 1 ? rules[0] : undefined);
          }}
        >
          {words.save}
        </Button>
      </div>
    </Dialog>
  );
}

/** The words of the only rule as a line; null where a line would not give the same words back. */
function editablePattern(rules: readonly Rule[]): string | null {
  const [only] = rules;
  const command = rules.length === 1 ? only?.command : undefined;
  return command === undefined || command.some((word) => /\s/u.test(word)) ? null : command.join(" ");
}

function withPattern(rules: readonly Rule[], pattern: string | null): readonly Rule[] {
  if (pattern === null) return rules;
  const command = pattern.split(/\s+/u).filter((word) => word !== "");
  return rules.map((rule) => ({ ...rule, command }));
}

function toTrial({ matches }: OperationReply<typeof tryRules>): Trial {
  const rejected = matches
    .filter((match) => match.was_rejected)
    .map((match) => textAt(match.action, "command") || match.tool_name);
  return { count: matches.length, rejected };
}
