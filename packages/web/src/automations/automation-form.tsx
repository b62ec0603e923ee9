import type { Automation, CreatedAutomation } from "@convoke/protocol";
import { useEffect, useRef, useState } from "react";
import { useServices } from "../services/services.ts";
import { Button } from "../ui/button.tsx";
import { Problem } from "../ui/problem.tsx";
import { useMoreWords, useWords } from "../words/words.ts";
import { fromAutomation, newDraft, toChange, toRequest } from "./automation-draft.ts";
import { ConversationFields } from "./conversation-fields.tsx";
import { errorOf, noProblem, toProblem } from "./field-errors.ts";
import { AreaInput, Section, TextInput } from "../ui/form-fields.tsx";
import { StartFields } from "./start-fields.tsx";

type AutomationFormProps = {
  /** Null for a new one. */
  readonly stored: Automation | null;
  readonly onDone: (saved: Automation | CreatedAutomation) => void;
  readonly onCancel: () => void;
};

const one = "/api/automations/{automation_id}";

/** Creates or changes an automation. What the server refuses is shown beside its field. */
export function AutomationForm({ stored, onDone, onCancel }: AutomationFormProps) {
  const { common } = useWords();
  const { form: words } = useMoreWords().automations;
  const { client } = useServices();
  const [before] = useState(() => {
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
    return stored === null ? newDraft(new Date(), timeZone) : fromAutomation(stored, new Date(), timeZone);
  });
  const [draft, setDraft] = useState(before);
  const [problem, setProblem] = useState(noProblem);
  const [isBusy, setIsBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (problem !== noProblem) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [problem]);
  const save = async (): Promise<void> => {
    setIsBusy(true);
    try {
      onDone(
        stored === null
          ? await client.call("POST /api/automations", { body: toRequest(draft, null) })
          : await client.call(`PATCH ${one}`, {
              params: { automation_id: stored.id },
              body: toChange(before, draft, stored),
            }),
      );
    } catch (error) {
      setProblem(toProblem(error));
      setIsBusy(false);
    }
  };
  const { choice } = draft.start;
  const hint =
    choice === "webhook"
      ? words.promptHookHint
      : choice === "event"
        ? words.promptEventHint
        : words.promptHint;
  return (
    <form
      ref={form}
      className="max-w-2xl"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <Problem text={problem.rest} />
      <TextInput
        label={words.name}
        required
        maxLength={200}
        value={draft.name}
        error={errorOf(problem, "name")}
        onChange={(name) => setDraft({ ...draft, name })}
      />
      <AreaInput
        label={words.prompt}
        hint={hint}
        rows={5}
        isRequired
        value={draft.prompt}
        error={errorOf(problem, "prompt")}
        onChange={(prompt) => setDraft({ ...draft, prompt })}
      />
      <Section title={words.when}>
        <StartFields
          draft={draft.start}
          problem={problem}
          onChange={(start) => setDraft({ ...draft, start })}
        />
      </Section>
      <ConversationFields draft={draft} problem={problem} onChange={setDraft} />
      <div className="mt-4 flex justify-end gap-2 border-t border-line pt-3">
        <Button onClick={onCancel}>{common.cancel}</Button>
        <Button type="submit" variant="primary" disabled={isBusy}>
          {stored === null ? words.create : words.save}
        </Button>
      </div>
    </form>
  );
}
