import type { EventTrigger } from "@convoke/protocol";
import { useId, useState } from "react";
import { useResource } from "../settings/use-resource.ts";
import { useMoreWords } from "../words/words.ts";
import { parseKinds } from "./parse-kinds.ts";
import { errorOf, type FormProblem } from "./field-errors.ts";
import { Check, Options, SelectInput, TextInput } from "../ui/form-fields.tsx";

type EventFieldsProps = {
  readonly trigger: EventTrigger;
  readonly problem: FormProblem;
  readonly onChange: (trigger: EventTrigger) => void;
};

const statuses = ["finished", "error", "stuck", "waiting_for_confirmation"] as const;

/** Which changes of which other conversations start it. */
export function EventFields({ trigger, problem, onChange }: EventFieldsProps) {
  const words = useMoreWords().automations.form;
  const [which, setWhich] = useState(() => whichOf(trigger));
  const wanted = trigger.statuses ?? [];
  const { kind, tag: _tag, conversation_id: _conversation, automation_id: _automation, ...rest } = trigger;
  const plain: EventTrigger = { kind, ...rest };
  const statusError = errorOf(problem, "statuses");
  return (
    <>
      <fieldset className="mb-3">
        <legend className="mb-1 text-sm font-medium text-soft">{words.statuses}</legend>
        {statuses.map((status) => (
          <Check
            key={status}
            isOn={wanted.includes(status)}
            onToggle={(isOn) =>
              onChange({
                ...trigger,
                statuses: isOn ? [...wanted, status] : wanted.filter((other) => other !== status),
              })
            }
          >
            {words.statusNames[status]}
          </Check>
        ))}
        {statusError !== undefined && <p className="mt-1 text-xs text-bad">{statusError}</p>}
      </fieldset>
      <EventKinds trigger={trigger} problem={problem} onChange={onChange} />
      <SelectInput
        label={words.which}
        hint={words.whichHint}
        value={which}
        options={{
          any: words.whichAny,
          tag: words.whichTag,
          conversation: words.whichConversation,
          automation: words.whichAutomation,
        }}
        onChange={(next) => {
          setWhich(next);
          onChange(plain);
        }}
      />
      {which === "tag" && (
        <TextInput
          label={words.tag}
          hint={words.tagHint}
          required
          value={trigger.tag ?? ""}
          error={errorOf(problem, "tag")}
          onChange={(tag) => onChange({ ...plain, tag })}
        />
      )}
      {which === "conversation" && (
        <TextInput
          label={words.conversation}
          required
          value={trigger.conversation_id ?? ""}
          error={errorOf(problem, "conversation")}
          onChange={(id) => onChange({ ...plain, conversation_id: id })}
        />
      )}
      {which === "automation" && (
        <OtherAutomation
          value={trigger.automation_id ?? ""}
          error={errorOf(problem, "automation")}
          onChange={(id) => onChange({ ...plain, automation_id: id })}
        />
      )}
    </>
  );
}

/** Kinds that people look for; others can be written. */
const commonKinds = [
  "MessageEvent",
  "ConversationErrorEvent",
  "AgentErrorEvent",
  "UserRejectObservation",
  "Condensation",
  "PauseEvent",
  "HookExecutionEvent",
  "ACPToolCallEvent",
] as const;

/** Names of kinds as text: what is being written stays as it is written. */
function EventKinds({ trigger, problem, onChange }: EventFieldsProps) {
  const words = useMoreWords().automations.form;
  const kinds = trigger.event_kinds ?? [];
  const [text, setText] = useState(kinds.join(", "));
  const listId = useId();
  return (
    <>
      <TextInput
        label={words.eventKinds}
        hint={words.eventKindsHint}
        list={listId}
        value={parseKinds(text).join() === kinds.join() ? text : kinds.join(", ")}
        error={errorOf(problem, "eventKinds")}
        onChange={(next) => {
          setText(next);
          onChange({ ...trigger, event_kinds: parseKinds(next) });
        }}
      />
      <datalist id={listId}>
        {commonKinds.map((kind) => (
          <option key={kind} value={[...kinds.slice(0, -1), kind].join(", ")}>
            {kind}
          </option>
        ))}
      </datalist>
    </>
  );
}

type Which = "any" | "tag" | "conversation" | "automation";

function whichOf(trigger: EventTrigger): Which {
  if (trigger.tag != null) return "tag";
  if (trigger.conversation_id != null) return "conversation";
  return trigger.automation_id == null ? "any" : "automation";
}

type OtherAutomationProps = {
  readonly value: string;
  readonly error: string | undefined;
  readonly onChange: (id: string) => void;
};

function OtherAutomation({ value, error, onChange }: OtherAutomationProps) {
  const words = useMoreWords().automations.form;
  const items = useResource("GET /api/automations").value?.items ?? [];
  const isKnown = value === "" || items.some(({ id }) => id === value);
  return (
    <SelectInput label={words.automation} value={value} error={error} onChange={onChange}>
      {value === "" && <option value="">{words.chooseAutomation}</option>}
      {!isKnown && <option value={value}>{value}</option>}
      <Options of={Object.fromEntries(items.map(({ id, name }) => [id, name]))} />
    </SelectInput>
  );
}
