import { RotateCw } from "lucide-react";
import type { WorkspacePort } from "@convoke/protocol";
import { useCallback, useEffect, useState } from "react";
import { useServices } from "../services/services.ts";
import { visibleText } from "../text/visible-text.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { PanelTabs, SidePanel } from "../ui/side-panel.tsx";
import { useMoreWords } from "../words/words.ts";
import { previewAddress } from "./preview-address.ts";

export type PreviewPanelProps = {
  readonly conversationId: string;
  /** The shown port; 0 or NaN for none. */
  readonly port: number;
  /** Changes when programs may have started or ended. */
  readonly version: string;
  readonly onGo: (port: number | null) => void;
  readonly onClose: () => void;
};

/** The content of the frame; a new number reloads the same address. */
type Shown = { readonly port: number; readonly address: string; readonly load: number };

/** Previews of the ports on which workspace programs listen, in an isolated frame. */
export default function PreviewPanel({ conversationId, port, version, onGo, onClose }: PreviewPanelProps) {
  const words = useMoreWords().preview;
  const { client } = useServices();
  const [ports, setPorts] = useState<readonly WorkspacePort[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [path, setPath] = useState("/");
  const [shown, setShown] = useState<Shown | null>(null);

  const attempt = useCallback(async (act: () => Promise<void>): Promise<void> => {
    try {
      await act();
      setProblem(null);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  }, []);
  const scan = useCallback(
    (): Promise<void> =>
      attempt(async () => {
        const { items } = await client.call("GET /api/conversations/{conversation_id}/ports", {
          params: { conversation_id: conversationId },
        });
        setPorts(items);
      }),
    [attempt, client, conversationId],
  );
  useEffect(() => void scan(), [scan, version]);

  /** Requests a new preview address each time: earlier ones expire. */
  const load = useCallback(
    (wanted: number, at: string): Promise<void> =>
      attempt(async () => {
        const opened = await client.call("POST /api/conversations/{conversation_id}/previews", {
          params: { conversation_id: conversationId },
          body: { port: wanted },
        });
        const address = previewAddress(new URL(opened.path, document.baseURI).href, at);
        setShown((before) => ({ port: wanted, address, load: (before?.load ?? 0) + 1 }));
      }),
    [attempt, client, conversationId],
  );
  const isChosen = Number.isInteger(port) && port > 0;
  useEffect(() => {
    setShown(null);
    setPath("/");
    if (isChosen) void load(port, "/");
  }, [isChosen, load, port]);

  return (
    <SidePanel
      conversationId={conversationId}
      title={words.title}
      bar={
        <>
          <PanelTabs
            conversationId={conversationId}
            label={words.ports}
            tabs={(ports ?? []).map((one) => ({
              id: String(one.port),
              name: words.port(one.port, visibleText(one.program)),
              isShown: one.port === port,
            }))}
            onChoose={(id) => onGo(Number(id))}
          />
          <Button variant="quiet" onClick={() => void scan()}>
            {words.scan}
          </Button>
        </>
      }
      onClose={onClose}
    >
      {problem !== null && (
        <p role="alert" className="shrink-0 px-3 py-2 text-sm text-bad">
          {problem}
        </p>
      )}
      {isChosen ? (
        <>
          <form
            onSubmit={(event) => {
              event.preventDefault();
              void load(port, path);
            }}
            className="flex shrink-0 items-center gap-1 border-b border-line px-2 py-1"
          >
            <input
              aria-label={words.path}
              value={path}
              onChange={(event) => setPath(event.target.value)}
              spellCheck={false}
              autoCapitalize="off"
              className="h-7 min-w-0 grow rounded-md border border-edge bg-canvas px-2 font-mono text-xs pointer-coarse:h-11 pointer-coarse:text-[16px]"
            />
            <IconButton label={words.reload} type="submit">
              <RotateCw size={15} />
            </IconButton>
          </form>
          {shown?.port === port ? (
            // An opaque origin: neither the sandbox attribute nor the response headers grant it this page's origin.
            <iframe
              key={shown.load}
              title={words.frame(port)}
              src={shown.address}
              sandbox="allow-scripts allow-forms"
              referrerPolicy="no-referrer"
              className="min-h-0 w-full grow border-0 bg-white"
            />
          ) : (
            <div className="grow" />
          )}
          <p className="shrink-0 border-t border-line px-3 py-1.5 text-xs text-soft">{words.note}</p>
        </>
      ) : (
        ports !== null && <p className="p-4 text-soft">{ports.length === 0 ? words.none : words.choose}</p>
      )}
    </SidePanel>
  );
}
