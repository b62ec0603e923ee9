import { Suspense, use } from "react";
import { useLocation, useSearch } from "wouter";
import { lazyPart } from "../lib/lazy-part.ts";
import { conversationAddress } from "../lib/conversation-address.ts";
import type { LogView, OpenLog } from "../log/open-log.ts";
import { PaneContext } from "./pane.ts";

const BrowserPanel = lazyPart(() => import("../browser/browser-panel.tsx"));
const ContextPanel = lazyPart(() => import("./context-panel.tsx"));
const EventsPanel = lazyPart(() => import("../events/events-panel.tsx"));
const FilesPanel = lazyPart(() => import("../files/files-panel.tsx"));
const McpPanel = lazyPart(() => import("./mcp-panel.tsx"));
const NetworkPanel = lazyPart(() => import("./network-panel.tsx"));
const OutlinePanel = lazyPart(() => import("./outline-panel.tsx"));
const PreviewPanel = lazyPart(() => import("../previews/preview-panel.tsx"));
const ReviewPanel = lazyPart(() => import("../review/review-panel.tsx"));
const ShellsPanel = lazyPart(() => import("../shells/shells-panel.tsx"));

type PanelsProps = {
  readonly name: string;
  readonly log: OpenLog;
  readonly view: LogView;
  readonly onSent: () => void;
};

/** The open panel, named in the URL; nothing for an unknown name. */
export default function Panels({ name, log, view, onSent }: PanelsProps) {
  const [, navigate] = useLocation();
  const pane = use(PaneContext);
  const search = useSearch();
  const address = new URLSearchParams(search);
  const path = address.get("path") ?? "";
  const of = address.get("of");
  const folder = view.state.workingDir;
  if (folder === null) return null;
  const place = { conversationId: log.id, folder, version: newestResult(view) } as const;
  const show = (changes: Readonly<Record<string, string | null>>): void =>
    navigate(conversationAddress(log.id, search, changes));
  const close = (): void => show({ panel: null, path: null, of: null });
  const go = (to: string): void => show({ path: to === "" ? null : to });
  const newestMessage = view.newest.findLast((row) => row.type === "message")?.id ?? null;
  const jump = (eventId: string): void => {
    // On small screens the panel closes to show the target.
    const isBeside = pane === null && matchMedia("(min-width: 1101px)").matches;
    show({ event: eventId, at: null, q: null, ...(isBeside ? {} : { panel: null, of: null }) });
  };
  return (
    <Suspense>
      {name === "outline" && (
        <OutlinePanel
          key={log.id}
          conversationId={log.id}
          version={newestMessage}
          onGo={jump}
          onClose={close}
        />
      )}
      {name === "changes" && (
        <ReviewPanel
          key={log.id}
          {...place}
          isWorking={view.state.status === "running"}
          onClose={close}
          onSent={onSent}
        />
      )}
      {name === "browser" && (
        <BrowserPanel
          key={log.id}
          conversationId={log.id}
          isWorking={view.state.status === "running"}
          onClose={close}
        />
      )}
      {name === "events" && (
        <EventsPanel
          key={log.id}
          conversationId={log.id}
          eventId={of}
          version={view.lastEventId}
          onOpen={(eventId) => show({ of: eventId })}
          onGo={jump}
          onClose={close}
        />
      )}
      {name === "mcp" && (
        <McpPanel key={log.id} conversationId={log.id} version={view.lastEventId ?? ""} onClose={close} />
      )}
      {name === "network" && (
        <NetworkPanel key={log.id} conversationId={log.id} version={view.lastEventId ?? ""} onClose={close} />
      )}
      {name === "shells" && (
        <ShellsPanel
          key={log.id}
          conversationId={log.id}
          shell={of ?? ""}
          onGo={(shell) => show({ of: shell === "" ? null : shell })}
          onClose={close}
        />
      )}
      {name === "preview" && (
        <PreviewPanel
          key={log.id}
          conversationId={log.id}
          port={Number(of)}
          version={place.version}
          onGo={(port) => show({ of: port === null ? null : String(port) })}
          onClose={close}
        />
      )}
      {name === "context" && of !== null && (
        <ContextPanel conversationId={log.id} eventId={of} onGo={jump} onClose={close} />
      )}
      {name === "files" && <FilesPanel key={log.id} {...place} path={path} onGo={go} onClose={close} />}
    </Suspense>
  );
}

/** The newest tool result: it may have changed files. */
function newestResult({ newest: rows }: LogView): string {
  return rows.reduce(
    (newest, row) =>
      row.type === "action" && row.outcome !== null && row.outcome.id > newest ? row.outcome.id : newest,
    "",
  );
}
