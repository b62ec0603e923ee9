import type { FormEvent, ReactNode } from "react";
import { Field, inputClass } from "../ui/field.tsx";

/** The description above a settings section. */
export function Explanation({ children }: { readonly children: ReactNode }) {
  return <p className="mb-3 text-sm text-soft">{children}</p>;
}

type EntriesProps = { readonly isEmpty: boolean; readonly empty: string; readonly children: ReactNode };

export function Entries({ isEmpty, empty, children }: EntriesProps) {
  if (isEmpty) return <p className="mb-5 text-faint">{empty}</p>;
  return <ul className="mb-6 lines border-y border-line">{children}</ul>;
}

type EntryProps = {
  readonly title: string;
  readonly detail?: string;
  readonly note?: ReactNode;
  readonly children: ReactNode;
};

export function Entry({ title, detail, note, children }: EntryProps) {
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 py-1.5">
      <span className="min-w-0 grow">
        <span className="font-medium">{title}</span>
        {detail !== undefined && (
          <span className="ml-3 font-mono text-xs break-all text-faint">{detail}</span>
        )}
      </span>
      {note}
      {children}
    </li>
  );
}

type FormProps = { readonly title: string; readonly onSubmit: () => void; readonly children: ReactNode };

export function Form({ title, onSubmit, children }: FormProps) {
  return (
    <form
      className="max-w-md"
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      <h3 className="mb-2 font-medium">{title}</h3>
      {children}
    </form>
  );
}

type TextFieldProps = {
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly isSecret?: boolean;
  readonly isRequired?: boolean;
  readonly onChange: (value: string) => void;
};

export function TextField({
  label,
  hint,
  value,
  isSecret = false,
  isRequired = false,
  onChange,
}: TextFieldProps) {
  return (
    <Field label={label} {...(hint === undefined ? {} : { hint })}>
      {(id, describedBy) => (
        <input
          id={id}
          aria-describedby={describedBy}
          type={isSecret ? "password" : "text"}
          autoComplete="off"
          spellCheck={false}
          required={isRequired}
          className={inputClass}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}
