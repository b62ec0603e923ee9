import { ChevronRight } from "lucide-react";
import { Suspense, type ReactNode } from "react";
import type { Row } from "@convoke/client/view";
import { lazyPart } from "../lib/lazy-part.ts";
import { Markdown } from "../text/markdown.tsx";
import { useWords, type Words } from "../words/words.ts";

const ErrorNote = lazyPart(() => import("./error-note.tsx"));

type Note = Exclude<Row, { readonly type: "message" | "answer" | "action" }>;

type NoteViewProps = {
  readonly row: Note;
  readonly isOpen: boolean;
  readonly onToggle: (id: string) => void;
};

/** Notes: errors, halts, summaries, changes of settings, and unknown kinds. */
export function NoteView({ row, isOpen, onToggle }: NoteViewProps) {
  const words = useWords();
  switch (row.type) {
    case "error":
      return (
        <Suspense>
          <ErrorNote code={row.code} detail={row.detail} />
        </Suspense>
      );
    case "warning":
      return <p className="my-1 border-l-2 border-warn py-0.5 pl-3 text-sm text-soft">{row.detail}</p>;
    case "halt":
      return <Divider>{row.how === "pause" ? words.note.paused : words.note.interrupted}</Divider>;
    case "branch":
      return <Divider>{words.note.wentBack}</Divider>;
    case "condensation-asked":
      return <Divider>{words.note.condensationAsked}</Divider>;
    default: {
      const { line, body } = foldable(row, words);
      return (
        <Foldable
          line={line}
          isOpen={isOpen}
          onToggle={() => onToggle(row.id)}
          isBad={row.type === "hook" && row.isBlocked}
        >
          {body}
        </Foldable>
      );
    }
  }
}

function Divider({ children }: { readonly children: ReactNode }) {
  return (
    <div className="my-2 flex items-center gap-3 text-xs text-faint">
      <span className="h-px grow bg-line" />
      {children}
      <span className="h-px grow bg-line" />
    </div>
  );
}

type FoldableProps = {
  readonly line: string;
  readonly isOpen: boolean;
  readonly isBad: boolean;
  readonly onToggle: () => void;
  readonly children: ReactNode;
};

function Foldable({ line, isOpen, isBad, onToggle, children }: FoldableProps) {
  return (
    <div className="text-sm">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={onToggle}
        className={`flex w-full items-center gap-2 rounded-md py-1 pr-2 pl-1.5 text-left hover:bg-hover pointer-coarse:min-h-11 ${isBad ? "text-bad" : "text-faint"}`}
      >
        <ChevronRight size={13} className={`shrink-0 transition-transform ${isOpen ? "rotate-90" : ""}`} />
        <span className="truncate">{line}</span>
      </button>
      {isOpen && <div className="mt-1 ml-3 border-l-2 border-line pl-3">{children}</div>}
    </div>
  );
}

type FoldableNote = Exclude<
  Note,
  { readonly type: "error" | "warning" | "halt" | "branch" | "condensation-asked" }
>;

function foldable(row: FoldableNote, { note: words }: Words): { line: string; body: ReactNode } {
  switch (row.type) {
    case "prompt":
      return { line: words.prompt(row.tools.length), body: <Markdown text={row.text} /> };
    case "hint":
      return { line: words.hint, body: <Plain text={row.text} /> };
    case "condensation":
      return {
        line: row.forgotten > 0 ? words.condensed(row.forgotten) : words.summary,
        body: <Markdown text={row.summary} />,
      };
    case "hook":
      return {
        line: words.hook(row.hookType, row.isBlocked ? row.reason : ""),
        body: <Plain text={[row.command, row.output].filter((text) => text !== "").join("\n\n")} />,
      };
    case "goal":
      return { line: words.goal(row.status), body: <Plain text={`${row.objective}\n\n${row.verdict}`} /> };
    case "setting":
      return { line: words.setting(row.key), body: <Plain text={JSON.stringify(row.value, null, 2)} /> };
    case "unknown":
      return { line: row.kind, body: <Plain text={JSON.stringify(row.event, null, 2)} /> };
  }
}

function Plain({ text }: { readonly text: string }) {
  return (
    <pre
      tabIndex={0}
      className="max-h-96 overflow-auto py-1 font-mono text-xs break-words whitespace-pre-wrap"
    >
      {text}
    </pre>
  );
}
