import { useId, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import { flushSync } from "react-dom";
import { IconButton } from "./button.tsx";

export type MenuEntry = {
  readonly label: string;
  readonly onChoose: () => void;
  readonly isDangerous?: boolean;
  readonly isDisabled?: boolean;
};

/** Entries below a heading. */
export type MenuGroup = { readonly heading: string; readonly entries: readonly MenuEntry[] };

type MenuProps = {
  readonly label: string;
  readonly icon: ReactNode;
} & (
  | { readonly entries: readonly MenuEntry[]; readonly groups?: undefined }
  | { readonly groups: readonly MenuGroup[]; readonly entries?: undefined }
);

/**
 * A menu button with a native popover and arrow key navigation. Entries are rendered when it opens, because each row
 * may have a menu.
 */
export function Menu({ label, icon, entries, groups }: MenuProps) {
  const id = useId();
  const [isOpen, setIsOpen] = useState(false);
  const menu = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const place = (): void => {
    const box = button.current?.getBoundingClientRect();
    const element = menu.current;
    if (box === undefined || element === null) return;
    const below = box.bottom + 4;
    element.style.left = `${Math.max(8, Math.min(box.right - element.offsetWidth, window.innerWidth - element.offsetWidth - 8))}px`;
    element.style.top = `${below + element.offsetHeight > window.innerHeight ? Math.max(8, box.top - element.offsetHeight - 4) : below}px`;
    element.querySelector<HTMLElement>("[role=menuitem]")?.focus();
  };
  const items = (shown: readonly MenuEntry[]): ReactNode =>
    shown.map(({ label: name, onChoose, isDangerous, isDisabled }) => (
      <button
        key={name}
        type="button"
        role="menuitem"
        tabIndex={-1}
        disabled={isDisabled}
        onClick={() => {
          menu.current?.hidePopover();
          onChoose();
        }}
        className={`flex w-full items-center rounded px-2.5 py-1 text-left text-sm hover:bg-hover focus:bg-hover focus:outline-none disabled:opacity-50 pointer-coarse:py-3 ${isDangerous === true ? "text-bad" : ""}`}
      >
        {name}
      </button>
    ));
  return (
    <>
      <IconButton ref={button} label={label} aria-haspopup="menu" popoverTarget={id}>
        {icon}
      </IconButton>
      <div
        ref={menu}
        id={id}
        popover="auto"
        role="menu"
        aria-label={label}
        tabIndex={-1}
        onBeforeToggle={({ newState }) => {
          // Before the popover opens, so that it is never empty.
          if (newState === "open") flushSync(() => setIsOpen(true));
        }}
        onToggle={({ newState }) => (newState === "open" ? place() : setIsOpen(false))}
        onKeyDown={walk}
        className="fixed inset-auto m-0 max-h-[calc(100dvh-1rem)] min-w-48 overflow-y-auto rounded-md border border-line bg-canvas p-1 text-ink shadow-lg"
      >
        {!isOpen
          ? null
          : groups === undefined
            ? items(entries)
            : groups.map(({ heading, entries: grouped }) => (
                <div
                  key={heading}
                  role="group"
                  aria-label={heading}
                  className="border-line not-first:mt-1 not-first:border-t not-first:pt-1"
                >
                  <div aria-hidden className="px-2.5 py-0.5 text-xs text-faint">
                    {heading}
                  </div>
                  {items(grouped)}
                </div>
              ))}
      </div>
    </>
  );
}

function walk(event: KeyboardEvent<HTMLDivElement>): void {
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>("[role=menuitem]:not(:disabled)")];
  const at = items.indexOf(document.activeElement as HTMLElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  items.at(to % items.length)?.focus();
}
