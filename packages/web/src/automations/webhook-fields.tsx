import { useMoreWords } from "../words/words.ts";
import { errorOf, type FieldName, type FormProblem } from "./field-errors.ts";
import { AreaInput, Row, SelectInput, TextInput } from "../ui/form-fields.tsx";
import type { WebhookDraft } from "./webhook-draft.ts";

type WebhookFieldsProps = {
  readonly draft: WebhookDraft;
  readonly problem: FormProblem;
  readonly onChange: (draft: WebhookDraft) => void;
};

/** Who sends the webhook, and which of its posts start something. */
export function WebhookFields({ draft, problem, onChange }: WebhookFieldsProps) {
  const { form: words, hook } = useMoreWords().automations;
  const field = (name: Exclude<keyof WebhookDraft, "form"> & FieldName) => ({
    value: draft[name],
    error: errorOf(problem, name),
    onChange: (value: string) => onChange({ ...draft, [name]: value }),
  });
  return (
    <>
      <SelectInput
        label={words.sender}
        hint={hook.setUp[draft.form]}
        value={draft.form}
        options={words.senders}
        onChange={(form) => onChange({ ...draft, form })}
      />
      {draft.form === "hmac" && (
        <fieldset>
          <legend className="mb-1 text-sm font-medium text-soft">{words.headers}</legend>
          <Row>
            <TextInput label={words.signatureHeader} hint={words.headerHint} {...field("signatureHeader")} />
            <TextInput
              label={words.timestampHeader}
              hint={words.noHeaderHint}
              {...field("timestampHeader")}
            />
            <TextInput label={words.idHeader} hint={words.noHeaderHint} {...field("idHeader")} />
            <TextInput label={words.eventHeader} hint={words.noHeaderHint} {...field("eventHeader")} />
          </Row>
        </fieldset>
      )}
      <Row>
        <TextInput label={words.events} hint={words.eventsHint} {...field("events")} />
        <TextInput label={words.branches} hint={words.branchesHint} {...field("branches")} />
      </Row>
      <AreaInput label={words.fields} hint={words.fieldsHint} rows={2} isCode {...field("fields")} />
    </>
  );
}
