import { useState, type ReactNode } from "react";

type ToggleProps = {
  /** Accessible label, if the content is not enough. */
  readonly name?: string;
  readonly isOn: boolean;
  /** Resolves when the change was stored or has failed. */
  readonly onToggle: (isOn: boolean) => Promise<unknown>;
  readonly className?: string;
  readonly children: ReactNode;
};

/** A switch with optimistic updates. */
export function Toggle({ name, isOn, onToggle, className = "", children }: ToggleProps) {
  const [chosen, setChosen] = useState<boolean | null>(null);
  return (
    <label className={`flex items-center gap-2 pointer-coarse:min-h-11 ${className}`}>
      <input
        type="checkbox"
        aria-label={name}
        className="size-4 shrink-0 accent-accent-fill"
        checked={chosen ?? isOn}
        onChange={(event) => {
          setChosen(event.target.checked);
          void onToggle(event.target.checked).then(() => setChosen(null));
        }}
      />
      {children}
    </label>
  );
}
