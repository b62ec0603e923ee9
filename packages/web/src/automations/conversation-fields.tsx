import { repositoryOf } from "../home/fetch-repository.ts";
import { useResource } from "../settings/use-resource.ts";
import { useMoreWords } from "../words/words.ts";
import type { AutomationDraft } from "./automation-draft.ts";
import { errorOf, type FieldName, type FormProblem } from "./field-errors.ts";
import { Check, Options, Row, Section, SelectInput, TextInput } from "../ui/form-fields.tsx";

type ConversationFieldsProps = {
  readonly draft: AutomationDraft;
  readonly problem: FormProblem;
  readonly onChange: (draft: AutomationDraft) => void;
};

/** Where each conversation works, with which model and limits, and what happens while nobody is there. */
export function ConversationFields({ draft, problem, onChange }: ConversationFieldsProps) {
  const words = useMoreWords().automations.form;
  const profiles = useResource("GET /api/profiles").value?.profiles ?? [];
  const text = (name: TextName) => ({
    value: draft[name],
    onChange: (value: string) => onChange({ ...draft, [name]: value }),
  });
  const number = (name: TextName, field: FieldName) => ({
    ...text(name),
    type: "number",
    min: 0,
    step: "any",
    error: errorOf(problem, field),
  });
  const isRepository = repositoryOf(draft.place) !== null;
  const isGone = draft.profile !== "" && !profiles.some(({ name }) => name === draft.profile);
  const { stored: storedNetwork, ...networks } = words.networks;
  return (
    <>
      <Section title={words.where}>
        <TextInput
          label={words.place}
          hint={words.placeHint}
          error={errorOf(problem, "place") ?? errorOf(problem, "repository")}
          className="font-mono"
          {...text("place")}
        />
        {isRepository && (
          <TextInput label={words.branch} error={errorOf(problem, "branch")} {...text("branch")} />
        )}
        {!isRepository && draft.place.trim() !== "" && (
          <Check
            className="mb-3"
            isOn={draft.worktree}
            onToggle={(worktree) => onChange({ ...draft, worktree })}
          >
            {words.worktree}
          </Check>
        )}
        <Row>
          <SelectInput label={words.model} error={errorOf(problem, "profile")} {...text("profile")}>
            <option value="">{words.fromSettings}</option>
            {isGone && <option value={draft.profile}>{draft.profile}</option>}
            <Options of={Object.fromEntries(profiles.map(({ name }) => [name, name]))} />
          </SelectInput>
          <SelectInput
            label={words.network}
            error={errorOf(problem, "network")}
            value={draft.network}
            onChange={(network) => onChange({ ...draft, network })}
          >
            <option value="">{words.fromServer}</option>
            <Options of={draft.network === "stored" ? { ...networks, stored: storedNetwork } : networks} />
          </SelectInput>
        </Row>
      </Section>
      <Section title={words.limits}>
        <Row>
          <TextInput label={words.budget} hint={words.noLimit} {...number("budget", "budget")} />
          <TextInput label={words.maxMinutes} hint={words.noLimit} {...number("maxMinutes", "maxMinutes")} />
        </Row>
      </Section>
      <Section title={words.unattended}>
        <Row>
          <SelectInput
            label={words.ask}
            error={errorOf(problem, "ask")}
            value={draft.ask}
            options={words.asks}
            onChange={(ask) => onChange({ ...draft, ask })}
          />
          <SelectInput
            label={words.onAsk}
            value={draft.onAsk}
            options={words.onAsks}
            onChange={(onAsk) => onChange({ ...draft, onAsk })}
          />
          {draft.onAsk === "wait" && (
            <TextInput label={words.waitHours} required {...number("waitHours", "waitHours")} />
          )}
          <SelectInput
            label={words.overlap}
            value={draft.overlap}
            options={words.overlaps}
            onChange={(overlap) => onChange({ ...draft, overlap })}
          />
          {draft.overlap === "queue" && (
            <TextInput label={words.maxQueued} required {...number("maxQueued", "maxQueued")} />
          )}
          {draft.start.choice !== "webhook" && draft.start.choice !== "event" && (
            <TextInput
              label={words.catchUp}
              hint={words.catchUpHint}
              required
              {...number("catchUp", "catchUp")}
            />
          )}
        </Row>
      </Section>
    </>
  );
}

type TextName =
  | "place"
  | "branch"
  | "profile"
  | "budget"
  | "maxMinutes"
  | "waitHours"
  | "maxQueued"
  | "catchUp";
