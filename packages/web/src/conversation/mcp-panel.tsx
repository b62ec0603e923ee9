import type { McpServerInfo } from "@convoke/protocol";
import { X } from "lucide-react";
import { useEffect, useId, useRef } from "react";
import { shownTime } from "../lib/shown-times.ts";
import { useServices } from "../services/services.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { useMoreWords, useWords } from "../words/words.ts";
import { useMcp } from "./use-mcp.ts";

type McpPanelProps = {
  readonly conversationId: string;
  /** Another one when something has happened in the conversation. */
  readonly version: string;
  readonly onClose: () => void;
};

/** The MCP servers of a conversation: how each does, in its own words, and another try. */
export default function McpPanel({ conversationId, version, onClose }: McpPanelProps) {
  const words = useMoreWords().mcp;
  const { close } = useWords().common;
  const titleId = useId();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const { servers, problem, reconnect } = useMcp(conversationId, version);
  return (
    <section
      aria-labelledby={titleId}
      aria-busy={servers === null}
      onKeyDown={(event) => event.key === "Escape" && onClose()}
      className="flex w-[24rem] min-w-0 shrink-0 flex-col border-l border-line bg-canvas max-[1100px]:absolute max-[1100px]:inset-0 max-[1100px]:z-10 max-[1100px]:w-auto max-[1100px]:border-l-0 in-data-split:absolute in-data-split:inset-0 in-data-split:z-10 in-data-split:w-auto in-data-split:border-l-0"
    >
      <header className="flex h-11 shrink-0 items-center border-b border-line pr-1.5 pl-3">
        <h2 id={titleId} ref={heading} tabIndex={-1} className="grow truncate font-medium outline-none">
          {words.title}
        </h2>
        <IconButton label={close} onClick={onClose}>
          <X size={16} />
        </IconButton>
      </header>
      <div className="min-h-0 grow overflow-y-auto px-3">
        {problem !== null && (
          <p role="alert" className="my-3 rounded-md bg-bad-wash px-3 py-1.5 text-sm text-bad">
            {problem}
          </p>
        )}
        {servers?.length === 0 && <p className="py-3 text-faint">{words.none}</p>}
        <ul className="lines">
          {servers?.map((server) => (
            <Server key={server.name} server={server} onReconnect={() => reconnect(server.name)} />
          ))}
        </ul>
      </div>
    </section>
  );
}

function Server({
  server,
  onReconnect,
}: {
  readonly server: McpServerInfo;
  readonly onReconnect: () => void;
}) {
  const words = useMoreWords().mcp;
  const { language } = useServices();
  const { name, state, error, tools, retry_at: retryAt } = server;
  const isBad = state === "failed" || state === "needs_login";
  return (
    <li className="py-2.5">
      <div className="flex items-center gap-2">
        <span className="min-w-0 grow truncate font-medium">{name}</span>
        <span role="status" className={`text-sm ${isBad ? "text-bad" : "text-soft"}`}>
          {words.states[state]}
        </span>
        <Button look="quiet" disabled={state === "connecting"} onClick={onReconnect}>
          {words.reconnect}
        </Button>
      </div>
      {error !== null && <p className="mt-1 text-sm break-words whitespace-pre-wrap">{error}</p>}
      {state === "needs_login" && <p className="mt-1 text-sm text-soft">{words.login}</p>}
      {retryAt !== null && (
        <p className="mt-1 text-xs text-faint">{words.retryAt(shownTime(retryAt, language, new Date()))}</p>
      )}
      {tools.length > 0 && (
        <p className="mt-1 font-mono text-xs break-words text-faint">{tools.join(", ")}</p>
      )}
    </li>
  );
}
