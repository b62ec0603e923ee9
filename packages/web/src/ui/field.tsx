import { useId, type ReactNode } from "react";

type FieldProps = {
  readonly label: string;
  readonly hint?: string;
  /** Why the server refused the value. */
  readonly error?: string | undefined;
  readonly children: (id: string, describedBy: string | undefined) => ReactNode;
};

/** A labelled input; `children` renders the input with the given id. */
export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId();
  const [hintId, errorId] = [`${id}-hint`, `${id}-error`];
  const described = [error !== undefined && errorId, hint !== undefined && hintId].filter(Boolean).join(" ");
  return (
    <div className="mb-3">
      <label htmlFor={id} className="mb-1 block text-sm font-medium text-soft">
        {label}
      </label>
      {children(id, described || undefined)}
      {error !== undefined && (
        <p id={errorId} className="mt-1 text-xs text-bad">
          {error}
        </p>
      )}
      {hint !== undefined && (
        <p id={hintId} className="mt-1 text-xs text-faint">
          {hint}
        </p>
      )}
    </div>
  );
}

/** 16 px on touch screens, so that phones do not zoom. */
export const inputClass =
  "h-8 w-full rounded-md border border-edge bg-canvas px-2.5 text-base placeholder:text-faint pointer-coarse:h-11 pointer-coarse:text-[16px]";
