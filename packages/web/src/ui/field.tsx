import { useId, type ReactNode } from "react";

type FieldProps = {
  readonly label: string;
  readonly hint?: string;
  readonly children: (id: string, describedBy: string | undefined) => ReactNode;
};

/** A labelled input; `children` renders the input with the given id. */
export function Field({ label, hint, children }: FieldProps) {
  const id = useId();
  const hintId = `${id}-hint`;
  return (
    <div className="mb-3">
      <label htmlFor={id} className="mb-1 block text-sm font-medium text-soft">
        {label}
      </label>
      {children(id, hint === undefined ? undefined : hintId)}
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
