import { ChevronRight } from "lucide-react";
import { Suspense, useState } from "react";
import type { MessageRow } from "@convoke/client/view";
import { exactTime, shownTime } from "../lib/shown-times.ts";
import { useServices } from "../services/services.ts";
import { Markdown } from "../text/markdown.tsx";
import { useWords } from "../words/words.ts";
import type { RowActionsProps } from "./row-actions.tsx";
import type { RowMenu } from "./row-menu.ts";
import { lazyPart } from "../lib/lazy-part.ts";

const RowActions = lazyPart(() => import("./row-actions.tsx"));

type MessageViewProps = {
  readonly row: MessageRow;
  readonly menu: RowMenu | null;
  /** The task that a sub-agent was given. */
  readonly isOrder: boolean;
};

/** A message of the user. */
export function MessageView({ row, menu, isOrder }: MessageViewProps) {
  const words = useWords();
  const { language } = useServices();
  return (
    <div className="group/row mt-4 rounded-lg bg-sunken px-3.5 pt-2 pb-2.5">
      <div className="mb-0.5 flex h-6 items-center gap-2 text-xs text-faint">
        <span className="font-medium text-soft">{isOrder ? words.message.order : words.message.you}</span>
        <time dateTime={row.at} title={exactTime(row.at, language)}>
          {shownTime(row.at, language, new Date())}
        </time>
        {row.skills.length > 0 && <span>{words.message.skills(row.skills.join(", "))}</span>}
        {row.isTakenBack && <span className="text-warn">{words.message.takenBack}</span>}
        <span className="grow" />
        <RowTools id={row.id} text={row.text} isMessage menu={menu} />
      </div>
      <p className={`break-words whitespace-pre-wrap ${row.isTakenBack ? "text-faint line-through" : ""}`}>
        {row.text}
      </p>
      <Pictures addresses={row.images} />
    </div>
  );
}

type AnswerViewProps = {
  readonly id: string;
  readonly text: string;
  readonly images: readonly string[];
  readonly reasoning: string;
  readonly menu: RowMenu | null;
};

/** A message of the agent to its user. */
export function AnswerView({ id, text, images, reasoning, menu }: AnswerViewProps) {
  return (
    <div className="group/row py-1.5">
      {reasoning !== "" && <Reasoning text={reasoning} />}
      <Markdown text={text} />
      <Pictures addresses={images} />
      <div className="mt-0.5 -ml-1.5 flex h-6 items-center">
        <RowTools id={id} text={text} isMessage={false} menu={menu} />
      </div>
    </div>
  );
}

/** Shown on hover and focus; always on touch screens. */
function RowTools({ menu, ...props }: Omit<RowActionsProps, "menu"> & { readonly menu: RowMenu | null }) {
  if (menu === null) return null;
  return (
    <span className="flex items-center opacity-0 group-focus-within/row:opacity-100 group-hover/row:opacity-100 pointer-coarse:opacity-100">
      <Suspense>
        <RowActions {...props} menu={menu} />
      </Suspense>
    </span>
  );
}

/** The model's reasoning: one collapsed line. */
export function Reasoning({ text }: { readonly text: string }) {
  const words = useWords().message;
  const [isOpen, setIsOpen] = useState(false);
  return (
    <div className="py-0.5 text-sm text-faint">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setIsOpen(!isOpen)}
        className="flex max-w-full items-center gap-2 rounded py-0.5 pr-2 pl-1.5 hover:bg-hover pointer-coarse:min-h-11"
      >
        <ChevronRight size={13} className={`shrink-0 transition-transform ${isOpen ? "rotate-90" : ""}`} />
        <span className="shrink-0 italic">{words.thinking}</span>
        {!isOpen && <span className="truncate">{text.slice(0, 160)}</span>}
      </button>
      {isOpen && <div className="mt-1 ml-3 border-l-2 border-line pl-3 whitespace-pre-wrap">{text}</div>}
    </div>
  );
}

/** Images stored in the log (`data:` URLs). Others are not loaded: a URL can leak what an agent knows. */
function Pictures({ addresses }: { readonly addresses: readonly string[] }) {
  const words = useWords().card;
  const own = addresses.filter((address) => address.startsWith("data:image/"));
  if (own.length === 0) return null;
  return (
    <div className="mt-2 flex flex-wrap gap-2">
      {own.map((address) => (
        <img
          key={`${address.length} ${address.slice(-64)}`}
          src={address}
          alt={words.image}
          className="max-h-64 max-w-full rounded-md border border-line"
        />
      ))}
    </div>
  );
}
