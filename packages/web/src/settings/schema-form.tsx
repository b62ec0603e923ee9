import type { SettingsFieldSchema, SettingsSchema } from "@convoke/protocol";
import { useState } from "react";
import type { UnknownRecord } from "@convoke/client/view";
import { Button } from "../ui/button.tsx";
import { Field, inputClass } from "../ui/field.tsx";
import { useMoreWords, useWords } from "../words/words.ts";
import { Toggle } from "./toggle.tsx";
import { changeOf, drawnSections, translated, valueAt, type FieldValue } from "./schema-values.ts";

type SchemaFormProps = {
  readonly schema: SettingsSchema;
  /** The stored settings. */
  readonly settings: UnknownRecord;
  /** Stores one field. */
  readonly onChange: (change: UnknownRecord) => Promise<unknown>;
};

/** A form generated from the server's schema. Choices and switches are stored at once, text on save. */
export function SchemaForm({ schema, settings, onChange }: SchemaFormProps) {
  const labels = useMoreWords().settings.form;
  return drawnSections(schema).map(({ key, label, fields }) => (
    <fieldset key={key} className="mb-6 max-w-md">
      <legend className="mb-2 font-medium">{labels[key] ?? label}</legend>
      {fields.map((field) => {
        const value = valueAt(settings, field);
        return (
          <SchemaField
            // Editing starts from the stored value.
            key={`${field.key} ${String(value)}`}
            field={translated(field, labels)}
            value={value}
            onChange={(next) => onChange(changeOf(field, next))}
          />
        );
      })}
    </fieldset>
  ));
}

type SchemaFieldProps = {
  readonly field: SettingsFieldSchema;
  readonly value: FieldValue;
  readonly onChange: (value: FieldValue) => Promise<unknown>;
};

function SchemaField({ field, value, onChange }: SchemaFieldProps) {
  const { label, description, value_type: type, choices } = field;
  if (type === "boolean") {
    return (
      <Toggle isOn={value === true} onToggle={onChange} className="mb-1 rounded px-2 py-1.5 hover:bg-hover">
        {label}
      </Toggle>
    );
  }
  const hint = typeof description === "string" ? { hint: description } : {};
  if (choices.length > 0) {
    return (
      <Field label={label} {...hint}>
        {(id, describedBy) => (
          <select
            id={id}
            aria-describedby={describedBy}
            value={String(value ?? "")}
            onChange={(event) => void onChange(event.target.value)}
            className={inputClass}
          >
            {choices.map((choice) => (
              <option key={String(choice.value)} value={String(choice.value)}>
                {choice.label}
              </option>
            ))}
          </select>
        )}
      </Field>
    );
  }
  return <TypedField field={field} value={value} onChange={onChange} />;
}

function TypedField({ field, value, onChange }: SchemaFieldProps) {
  const words = useWords().common;
  const { label, description, value_type: type } = field;
  const stored = value === null ? "" : String(value);
  const [typed, setTyped] = useState(stored);
  const isNumber = type !== "string";
  return (
    <form
      className="flex items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        const text = typed.trim();
        void onChange(text === "" ? null : isNumber ? Number(text) : text);
      }}
    >
      <div className="grow">
        <Field label={label} {...(typeof description === "string" ? { hint: description } : {})}>
          {(id, describedBy) => (
            <input
              id={id}
              aria-describedby={describedBy}
              type={isNumber ? "number" : "text"}
              step={type === "integer" ? 1 : "any"}
              min={isNumber ? 0 : undefined}
              autoComplete="off"
              value={typed}
              onChange={(event) => setTyped(event.target.value)}
              className={inputClass}
            />
          )}
        </Field>
      </div>
      <Button type="submit" className="mb-3" disabled={typed.trim() === stored}>
        {words.save}
      </Button>
    </form>
  );
}
