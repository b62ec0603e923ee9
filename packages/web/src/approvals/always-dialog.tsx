import type { AllowRules, OperationReply } from "@convoke/protocol";
import { useEffect, useState } from "react";
import { textAt } from "../lib/unknown-record.ts";
import type { Approval } from "../overview/approvals-store.ts";
import { useServices } from "../services/services.ts";
import { visibleText } from "../text/visible-text.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Field, inputClass } from "../ui/field.tsx";
import { useMoreWords } from "../words/words.ts";

type AlwaysDialogProps = {
  readonly approval: Approval;
  readonly onClose: () => void;
  readonly onSaved: () => void;
};

const tryRules = "POST /api/conversations/{conversation_id}/allow_rules/dry_run";

type Trial = { readonly count: number; readonly rejected: readonly string[] };

/** Creates an allow rule for similar calls; it is tried on all earlier calls first. */
export default function AlwaysDialog({ approval, onClose, onSaved }: AlwaysDialogProps) {
  const words = useMoreWords().always;
  const { client } = useServices();
  const { conversationId } = approval;
  const [pattern, setPattern] = useState(() => textAt(approval.action, "command"));
  const [trial, setTrial] = useState<Trial | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const hasPattern = textAt(approval.action, "command") !== "";

  useEffect(() => {
    let isCurrent = true;
    const timer = setTimeout(() => {
      client
        .call(tryRules, {
          params: { conversation_id: conversationId },
          body: { rules: [ruleOf(approval, pattern, hasPattern)] },
        })
        .then((reply) => isCurrent && setTrial(toTrial(reply)))
        .catch((error: unknown) => isCurrent && setProblem(String(error)));
    }, 250);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [client, conversationId, approval, pattern, hasPattern]);

  const save = async (): Promise<void> => {
    try {
      const params = { conversation_id: conversationId };
      const { rules } = await client.call("GET /api/conversations/{conversation_id}/allow_rules", { params });
      await client.call("PUT /api/conversations/{conversation_id}/allow_rules", {
        params,
        body: { rules: [...rules, ruleOf(approval, pattern, hasPattern)] },
      });
      onClose();
      onSaved();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };

  return (
    <Dialog title={words.title} onClose={onClose}>
      <p className="mb-3 text-sm text-soft">{words.explanation(approval.tool)}</p>
      {hasPattern && (
        <Field label={words.pattern} hint={words.patternHint}>
          {(id, describedBy) => (
            <input
              id={id}
              aria-describedby={describedBy}
              className={`${inputClass} font-mono`}
              value={pattern}
              onChange={(event) => setPattern(event.target.value)}
            />
          )}
        </Field>
      )}
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
        <Button variant="primary" onClick={() => void save()}>
          {words.save}
        </Button>
      </div>
    </Dialog>
  );
}

/** A high-risk call needs a rule that allows high risk. */
function ruleOf({ tool, risk }: Approval, pattern: string, hasPattern: boolean): AllowRules["rules"][number] {
  return {
    tool_name: tool,
    ...(hasPattern ? { arguments: { command: pattern } } : {}),
    ...(risk === "HIGH" ? { up_to: "HIGH" } : {}),
  };
}

function toTrial({ matches }: OperationReply<typeof tryRules>): Trial {
  const rejected = matches
    .filter((match) => match.was_rejected)
    .map((match) => textAt(match.action, "command") || match.tool_name);
  return { count: matches.length, rejected };
}
