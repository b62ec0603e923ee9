import type { InputHTMLAttributes, ReactNode } from "react";
import { Field, inputClass } from "./field.tsx";

type LabelProps = {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly error?: string | undefined;
};

type TextInputProps = LabelProps &
  Omit<InputHTMLAttributes<HTMLInputElement>, "value" | "onChange"> & {
    readonly value: string;
    readonly onChange: (value: string) => void;
  };

/** One line of text, a number or a time, with its error below. */
export function TextInput({ label, hint, error, onChange, className = "", ...rest }: TextInputProps) {
  return (
    <Field label={label} error={error} {...(hint === undefined ? {} : { hint })}>
      {(id, describedBy) => (
        <input
          autoComplete="off"
          spellCheck={false}
          {...rest}
          id={id}
          aria-describedby={describedBy}
          aria-invalid={error !== undefined}
          className={`${inputClass} ${className}`}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

type AreaInputProps = LabelProps & {
  readonly value: string;
  readonly rows: number;
  readonly isRequired?: boolean;
  readonly isCode?: boolean;
  readonly onChange: (value: string) => void;
};

export function AreaInput(props: AreaInputProps) {
  const { label, hint, error, value, rows, isRequired = false, isCode = false, onChange } = props;
  return (
    <Field label={label} error={error} {...(hint === undefined ? {} : { hint })}>
      {(id, describedBy) => (
        <textarea
          id={id}
          rows={rows}
          value={value}
          required={isRequired}
          spellCheck={!isCode}
          aria-describedby={describedBy}
          aria-invalid={error !== undefined}
          className={`block w-full rounded-md border border-edge bg-canvas px-2.5 py-1.5 text-base pointer-coarse:text-[16px] ${isCode ? "font-mono text-xs" : ""}`}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

type SelectInputProps<Value extends string> = LabelProps & {
  readonly value: Value;
  readonly onChange: (value: Value) => void;
  /** Options by their value. */
  readonly options?: Readonly<Partial<Record<Value, string>>>;
  /** In place of `options`, for groups. */
  readonly children?: ReactNode;
};

export function SelectInput<Value extends string>(props: SelectInputProps<Value>) {
  const { label, hint, error, value, onChange, options = {}, children } = props;
  return (
    <Field label={label} error={error} {...(hint === undefined ? {} : { hint })}>
      {(id, describedBy) => (
        <select
          id={id}
          value={value}
          aria-describedby={describedBy}
          aria-invalid={error !== undefined}
          className={inputClass}
          onChange={(event) => onChange(event.target.value as Value)}
        >
          {children ?? <Options of={options} />}
        </select>
      )}
    </Field>
  );
}

export function Options({ of }: { readonly of: Readonly<Record<string, string>> }) {
  return Object.entries(of).map(([value, text]) => (
    <option key={value} value={value}>
      {text}
    </option>
  ));
}

type CheckProps = {
  readonly isOn: boolean;
  readonly onToggle: (isOn: boolean) => void;
  readonly className?: string;
  readonly children: ReactNode;
};

/** A checkbox of a form that is sent later. */
export function Check({ isOn, onToggle, className = "", children }: CheckProps) {
  return (
    <label className={`flex items-center gap-2 py-0.5 pointer-coarse:min-h-11 ${className}`}>
      <input
        type="checkbox"
        className="size-4 shrink-0 accent-accent-fill"
        checked={isOn}
        onChange={(event) => onToggle(event.target.checked)}
      />
      {children}
    </label>
  );
}

/** Fields side by side where there is room. */
export function Row({ children }: { readonly children: ReactNode }) {
  return <div className="grid items-start gap-x-3 min-[721px]:grid-cols-2">{children}</div>;
}

export function Section({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <fieldset className="mt-4 border-t border-line pt-3">
      <legend className="sr-only">{title}</legend>
      <p aria-hidden="true" className="mb-2 font-medium">
        {title}
      </p>
      {children}
    </fieldset>
  );
}
