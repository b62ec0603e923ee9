import { Plus, X } from "lucide-react";
import type { ShellSummary } from "@convoke/protocol";
import { useCallback, useEffect, useId, useRef, useState } from "react";
import { labelsOf } from "../lib/title-id.ts";
import { useServices } from "../services/services.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { useMoreWords, useWords } from "../words/words.ts";
import { ShellTerminal } from "./shell-terminal.tsx";

export type ShellsPanelProps = {
  readonly conversationId: string;
  /** The id of the one that is shown; empty for the newest. */
  readonly shell: string;
  readonly onGo: (shell: string) => void;
  readonly onClose: () => void;
};

/** Before it has its place. */
const firstSize = { columns: 80, rows: 24 };

/** Shells of one's own in the workspace of the conversation; they stay when the panel goes. */
export default function ShellsPanel({ conversationId, shell, onGo, onClose }: ShellsPanelProps) {
  const words = useMoreWords().shells;
  const { close } = useWords().common;
  const { client } = useServices();
  const titleId = useId();
  const tabsId = useId();
  const heading = useRef<HTMLHeadingElement>(null);
  const [shells, setShells] = useState<readonly ShellSummary[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const params = { conversation_id: conversationId };
  const attempt = useCallback(async (act: () => Promise<void>): Promise<void> => {
    setProblem(null);
    try {
      await act();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  }, []);
  const read = useCallback(async (): Promise<void> => {
    const { items } = await client.call("GET /api/conversations/{conversation_id}/shells", {
      params: { conversation_id: conversationId },
    });
    setShells(items);
  }, [client, conversationId]);
  useEffect(() => {
    heading.current?.focus();
    void attempt(read);
  }, [attempt, read]);
  const onEnded = useCallback((): void => void attempt(read), [attempt, read]);
  const onLeave = useCallback((): void => heading.current?.focus(), []);

  const open = (): void =>
    void attempt(async () => {
      const opened = await client.call("POST /api/conversations/{conversation_id}/shells", {
        params,
        body: firstSize,
      });
      await read();
      onGo(opened.id);
    });
  const end = (id: string): void =>
    void attempt(async () => {
      await client.call("DELETE /api/conversations/{conversation_id}/shells/{shell_id}", {
        params: { ...params, shell_id: id },
      });
      await read();
      onGo("");
    });
  const shown = shells?.find(({ id }) => id === shell) ?? shells?.at(-1);
  return (
    <section
      aria-labelledby={labelsOf(titleId, conversationId)}
      className="flex w-1/2 min-w-0 shrink-0 flex-col border-l border-line bg-canvas max-[1100px]:absolute max-[1100px]:inset-0 max-[1100px]:z-10 max-[1100px]:w-auto max-[1100px]:border-l-0 in-data-split:absolute in-data-split:inset-0 in-data-split:z-10 in-data-split:w-auto in-data-split:border-l-0"
    >
      <header className="flex h-11 shrink-0 items-center gap-1 border-b border-line pr-1.5 pl-3">
        <h2 id={titleId} ref={heading} tabIndex={-1} className="shrink-0 pr-1.5 font-medium outline-none">
          {words.title}
        </h2>
        <nav
          id={tabsId}
          aria-label={words.tabs}
          aria-labelledby={labelsOf(tabsId, conversationId)}
          className="flex min-w-0 grow gap-1 overflow-x-auto"
        >
          {shells?.map(({ id, is_running: isRunning }, index) => (
            <button
              key={id}
              type="button"
              aria-current={id === shown?.id ? "true" : undefined}
              onClick={() => onGo(id)}
              className="shrink-0 rounded px-2 py-1 text-sm text-soft aria-[current]:bg-hover aria-[current]:text-ink pointer-coarse:min-h-11"
            >
              {words.name(index + 1, isRunning)}
            </button>
          ))}
        </nav>
        {shown !== undefined && (
          <Button look="quiet" onClick={() => end(shown.id)}>
            {words.end}
          </Button>
        )}
        <IconButton label={words.open} onClick={open}>
          <Plus size={16} />
        </IconButton>
        <IconButton label={close} onClick={onClose}>
          <X size={16} />
        </IconButton>
      </header>
      {problem !== null && (
        <p role="alert" className="shrink-0 px-3 py-2 text-sm text-bad">
          {problem}
        </p>
      )}
      {shown === undefined ? (
        shells !== null && (
          <div className="flex flex-col items-start gap-3 p-4 text-soft">
            <p>{words.none}</p>
            <Button look="primary" onClick={open}>
              {words.open}
            </Button>
          </div>
        )
      ) : (
        <>
          <ShellTerminal
            key={shown.id}
            conversationId={conversationId}
            shell={shown.id}
            onLeave={onLeave}
            onEnded={onEnded}
          />
          <p className="shrink-0 px-3 py-1.5 text-xs text-soft pointer-coarse:hidden">{words.leave}</p>
        </>
      )}
    </section>
  );
}
