import { X } from "lucide-react";
import { useEffect, useId, useRef, type KeyboardEvent, type ReactNode, type RefObject } from "react";
import { labelsOf } from "../lib/title-id.ts";
import { useWords } from "../words/words.ts";
import { IconButton } from "./button.tsx";

type SidePanelProps = {
  readonly conversationId: string;
  readonly title: string;
  /** Width class if there is room beside the conversation. */
  readonly width?: string;
  readonly isBusy?: boolean;
  /** Between the title and the close button. */
  readonly bar?: ReactNode;
  /** The heading, for panels that focus it later. */
  readonly heading?: RefObject<HTMLHeadingElement | null>;
  /** Key of the content: a change focuses the heading again. */
  readonly subject?: string | null;
  /** Called on Escape instead of closing the panel. */
  readonly onKeyDown?: (event: KeyboardEvent<HTMLElement>) => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
};

/** A panel beside the conversation; it covers the conversation on small screens. Opening it focuses its heading. */
export function SidePanel(props: SidePanelProps) {
  const { conversationId, title, width = "w-1/2", isBusy, bar, heading, subject, onClose, children } = props;
  const { close } = useWords().common;
  const titleId = useId();
  const ownHeading = useRef<HTMLHeadingElement>(null);
  const shownHeading = heading ?? ownHeading;
  useEffect(() => shownHeading.current?.focus(), [shownHeading, subject]);
  const onEscape = (event: KeyboardEvent): void => {
    if (event.key === "Escape") onClose();
  };
  return (
    <section
      aria-labelledby={labelsOf(titleId, conversationId)}
      aria-busy={isBusy}
      data-panel=""
      onKeyDown={props.onKeyDown ?? onEscape}
      className={`flex ${width} min-w-0 shrink-0 flex-col border-l border-line bg-canvas max-[1100px]:absolute max-[1100px]:inset-0 max-[1100px]:z-10 max-[1100px]:w-auto max-[1100px]:border-l-0 in-data-split:absolute in-data-split:inset-0 in-data-split:z-10 in-data-split:w-auto in-data-split:border-l-0`}
    >
      <header className="flex h-11 shrink-0 items-center gap-1 border-b border-line pr-1.5 pl-3">
        <h2
          id={titleId}
          ref={shownHeading}
          tabIndex={-1}
          className={`font-medium outline-none ${bar === undefined ? "grow truncate" : "shrink-0 pr-1.5"}`}
        >
          {title}
        </h2>
        {bar}
        <IconButton label={close} onClick={onClose}>
          <X size={16} />
        </IconButton>
      </header>
      {children}
    </section>
  );
}

type PanelTabsProps = {
  readonly conversationId: string;
  readonly label: string;
  readonly tabs: readonly { readonly id: string; readonly name: string; readonly isShown: boolean }[];
  readonly onChoose: (id: string) => void;
};

/** Tabs of a panel. */
export function PanelTabs({ conversationId, label, tabs, onChoose }: PanelTabsProps) {
  const ownId = useId();
  return (
    <nav
      id={ownId}
      aria-label={label}
      aria-labelledby={labelsOf(ownId, conversationId)}
      className="flex min-w-0 grow gap-1 overflow-x-auto"
    >
      {tabs.map(({ id, name, isShown }) => (
        <button
          key={id}
          type="button"
          aria-current={isShown ? "true" : undefined}
          onClick={() => onChoose(id)}
          className="shrink-0 rounded px-2 py-1 text-sm text-soft aria-[current]:bg-hover aria-[current]:text-ink pointer-coarse:min-h-11"
        >
          {name}
        </button>
      ))}
    </nav>
  );
}
