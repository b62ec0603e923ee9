import { useId, useMemo } from "react";
import { useServices } from "../services/services.ts";
import { useMoreWords } from "../words/words.ts";
import { EventFields } from "./event-fields.tsx";
import { errorOf, type FieldName, type FormProblem } from "./field-errors.ts";
import { Options, Row, SelectInput, TextInput } from "../ui/form-fields.tsx";
import { shownDue, timeZones, weekdayNames } from "./shown-due.ts";
import {
  scheduleChoices,
  startChoices,
  toTrigger,
  type StartChoice,
  type StartDraft,
} from "./start-choice.ts";
import { usePreview } from "./use-preview.ts";
import { WebhookFields } from "./webhook-fields.tsx";

export type StartFieldsProps = {
  readonly draft: StartDraft;
  readonly problem: FormProblem;
  readonly onChange: (draft: StartDraft) => void;
};

const triggers = startChoices.filter((choice) => !scheduleChoices.some((schedule) => schedule === choice));

/** When the automation starts: plain choices, with the fields of the chosen one. */
export function StartFields(props: StartFieldsProps) {
  const { draft, problem, onChange } = props;
  const words = useMoreWords().automations.form;
  const { choice } = draft;
  const choicesOf = (names: readonly StartChoice[]): Readonly<Record<string, string>> =>
    Object.fromEntries(names.map((name) => [name, words.choices[name]]));
  return (
    <>
      <SelectInput
        label={words.choice}
        value={choice}
        onChange={(next) => onChange({ ...draft, choice: next })}
      >
        <optgroup label={words.schedules}>
          <Options of={choicesOf(scheduleChoices)} />
        </optgroup>
        <optgroup label={words.triggers}>
          <Options of={choicesOf(triggers)} />
        </optgroup>
      </SelectInput>
      {choice === "webhook" ? (
        <WebhookFields
          draft={draft.webhook}
          problem={problem}
          onChange={(webhook) => onChange({ ...draft, webhook })}
        />
      ) : choice === "event" ? (
        <EventFields
          trigger={draft.event}
          problem={problem}
          onChange={(event) => onChange({ ...draft, event })}
        />
      ) : (
        <ScheduleFields {...props} />
      )}
    </>
  );
}

function ScheduleFields({ draft, problem, onChange }: StartFieldsProps) {
  const words = useMoreWords().automations.form;
  const preview = usePreview(toTrigger(draft));
  const { choice } = draft;
  const errorAt = (name: FieldName): string | undefined =>
    errorOf(preview.problem, name) ?? errorOf(problem, name);
  const field = (name: "minute" | "monthDay" | "time" | "every" | "onceAt" | "expression") => ({
    value: draft[name],
    required: true,
    onChange: (value: string) => onChange({ ...draft, [name]: value }),
  });
  const time = <TextInput label={words.time} type="time" {...field("time")} />;
  return (
    <>
      {choice === "weekly" && <Weekdays draft={draft} onChange={onChange} />}
      <Row>
        {choice === "hourly" && (
          <TextInput label={words.minute} type="number" min={0} max={59} {...field("minute")} />
        )}
        {choice === "monthly" && (
          <TextInput
            label={words.monthDay}
            hint={words.monthDayHint}
            type="number"
            min={1}
            max={31}
            {...field("monthDay")}
          />
        )}
        {(choice === "daily" || choice === "weekly" || choice === "monthly") && time}
        {choice === "interval" && (
          <>
            <TextInput
              label={words.every}
              type="number"
              min={1}
              error={errorAt("every")}
              {...field("every")}
            />
            <SelectInput
              label={words.unit}
              value={draft.unit}
              options={words.units}
              onChange={(unit) => onChange({ ...draft, unit })}
            />
          </>
        )}
        {choice === "once" && (
          <TextInput
            label={words.onceAt}
            hint={words.onceHint}
            type="datetime-local"
            error={errorAt("onceAt")}
            {...field("onceAt")}
          />
        )}
        {choice === "cron" && (
          <TextInput
            label={words.expression}
            hint={words.expressionHint}
            error={errorAt("expression")}
            className="font-mono"
            {...field("expression")}
          />
        )}
        {choice !== "interval" && choice !== "once" && (
          <ZoneInput
            value={draft.timeZone}
            error={errorAt("timeZone")}
            onChange={(timeZone) => onChange({ ...draft, timeZone })}
          />
        )}
      </Row>
      <PreviewList
        times={preview.times}
        timeZone={choice === "interval" || choice === "once" ? undefined : draft.timeZone}
        problem={choice === "cron" ? null : (errorOf(preview.problem, "expression") ?? preview.problem.rest)}
      />
    </>
  );
}

function Weekdays({ draft, onChange }: Pick<StartFieldsProps, "draft" | "onChange">) {
  const words = useMoreWords().automations.form;
  const names = weekdayNames(useServices().language);
  const { weekdays } = draft;
  const toggled = (day: number): readonly number[] =>
    weekdays.includes(day) ? weekdays.filter((other) => other !== day) : [...weekdays, day];
  return (
    <fieldset className="mb-3">
      <legend className="mb-1 text-sm font-medium text-soft">{words.weekdays}</legend>
      <div className="flex flex-wrap gap-1.5">
        {/* A week begins on Monday. */}
        {[1, 2, 3, 4, 5, 6, 0].map((day) => (
          <label
            key={day}
            className="flex h-8 items-center gap-1.5 rounded-md border border-line px-2 text-sm has-checked:border-accent has-checked:bg-accent-wash pointer-coarse:h-11"
          >
            <input
              type="checkbox"
              className="size-4 accent-accent-fill"
              checked={weekdays.includes(day)}
              onChange={() => onChange({ ...draft, weekdays: toggled(day) })}
            />
            {names[day]}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

type ZoneInputProps = {
  readonly value: string;
  readonly error: string | undefined;
  readonly onChange: (zone: string) => void;
};

/** Any zone of the server can be typed; those that the browser knows are suggested. */
function ZoneInput({ value, error, onChange }: ZoneInputProps) {
  const words = useMoreWords().automations.form;
  const listId = useId();
  const zones = useMemo(() => timeZones(), []);
  return (
    <>
      <TextInput
        label={words.timeZone}
        list={listId}
        required
        value={value}
        error={error}
        onChange={onChange}
      />
      <datalist id={listId}>
        {zones.map((zone) => (
          <option key={zone}>{zone}</option>
        ))}
      </datalist>
    </>
  );
}

type PreviewListProps = {
  readonly times: readonly string[] | null;
  readonly timeZone: string | undefined;
  readonly problem: string | null;
};

function PreviewList({ times, timeZone, problem }: PreviewListProps) {
  const words = useMoreWords().automations.form;
  const { language } = useServices();
  return (
    <div className="mb-3 min-h-28 rounded-md bg-sunken px-3 py-2 text-sm" aria-live="polite">
      <p className="font-medium text-soft">{words.preview}</p>
      {problem !== null && <p className="text-bad">{problem}</p>}
      {times?.length === 0 && <p className="text-faint">{words.previewNone}</p>}
      <ul className="tabular-nums">
        {times?.map((at) => (
          <li key={at}>
            <time dateTime={at}>{shownDue(at, language, timeZone)}</time>
          </li>
        ))}
      </ul>
    </div>
  );
}
