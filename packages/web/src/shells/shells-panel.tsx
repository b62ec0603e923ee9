import { Plus } from "lucide-react";
import type { ShellSummary } from "@convoke/protocol";
import { useCallback, useEffect, useRef, useState } from "react";
import { useServices } from "../services/services.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { PanelTabs, SidePanel } from "../ui/side-panel.tsx";
import { useMoreWords } from "../words/words.ts";
import { ShellTerminal } from "./shell-terminal.tsx";

export type ShellsPanelProps = {
  readonly conversationId: string;
  /** Id of the shown shell; empty for the newest. */
  readonly shell: string;
  readonly onGo: (shell: string) => void;
  readonly onClose: () => void;
};

/** Escape is a key of the shell, so it closes nothing here. */
const leaveEscape = (): void => {};

/** Initial size, before the terminal is laid out. */
const firstSize = { columns: 80, rows: 24 };

/** The user's shells in the workspace of the conversation. They keep running when the panel closes. */
export default function ShellsPanel({ conversationId, shell, onGo, onClose }: ShellsPanelProps) {
  const words = useMoreWords().shells;
  const { client } = useServices();
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
  useEffect(() => void attempt(read), [attempt, read]);
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
    <SidePanel
      conversationId={conversationId}
      title={words.title}
      heading={heading}
      onKeyDown={leaveEscape}
      bar={
        <>
          <PanelTabs
            conversationId={conversationId}
            label={words.tabs}
            tabs={(shells ?? []).map(({ id, is_running: isRunning }, index) => ({
              id,
              name: words.name(index + 1, isRunning),
              isShown: id === shown?.id,
            }))}
            onChoose={onGo}
          />
          {shown !== undefined && (
            <Button variant="quiet" onClick={() => end(shown.id)}>
              {words.end}
            </Button>
          )}
          <IconButton label={words.open} onClick={open}>
            <Plus size={16} />
          </IconButton>
        </>
      }
      onClose={onClose}
    >
      {problem !== null && (
        <p role="alert" className="shrink-0 px-3 py-2 text-sm text-bad">
          {problem}
        </p>
      )}
      {shown === undefined ? (
        shells !== null && (
          <div className="flex flex-col items-start gap-3 p-4 text-soft">
            <p>{words.none}</p>
            <Button variant="primary" onClick={open}>
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
    </SidePanel>
  );
}
