import type { McpServerInfo } from "@convoke/protocol";
import { shownTime } from "../lib/shown-times.ts";
import { useServices } from "../services/services.ts";
import { Button } from "../ui/button.tsx";
import { SidePanel } from "../ui/side-panel.tsx";
import { Problem } from "../ui/problem.tsx";
import { useMoreWords } from "../words/words.ts";
import { useMcp } from "./use-mcp.ts";

type McpPanelProps = {
  readonly conversationId: string;
  /** Changes with new events. */
  readonly version: string;
  readonly onClose: () => void;
};

/** The MCP servers of a conversation: status, last error, reconnect. */
export default function McpPanel({ conversationId, version, onClose }: McpPanelProps) {
  const words = useMoreWords().mcp;
  const { servers, problem, reconnect } = useMcp(conversationId, version);
  return (
    <SidePanel
      conversationId={conversationId}
      title={words.title}
      width="w-[24rem]"
      isBusy={servers === null}
      onClose={onClose}
    >
      <div className="min-h-0 grow overflow-y-auto px-3">
        <Problem className="my-3" text={problem} />
        {servers?.length === 0 && <p className="py-3 text-faint">{words.none}</p>}
        <ul className="lines">
          {servers?.map((server) => (
            <Server key={server.name} server={server} onReconnect={() => reconnect(server.name)} />
          ))}
        </ul>
      </div>
    </SidePanel>
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
        <Button variant="quiet" disabled={state === "connecting"} onClick={onReconnect}>
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
