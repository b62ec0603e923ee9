import type { AskedHosts } from "@convoke/client/view";
import { visibleText } from "../text/visible-text.ts";
import { useMoreWords } from "../words/words.ts";

/** The hosts that an agent asks for, and why. */
export function HostsProposal({ hosts, reason }: AskedHosts) {
  const words = useMoreWords().approval;
  return (
    <div className="mx-3 my-2 rounded border border-line bg-canvas px-3 py-2 text-sm">
      <ul className="max-h-40 overflow-y-auto font-mono break-all">
        {hosts.map((host) => (
          <li key={host}>{visibleText(host)}</li>
        ))}
      </ul>
      {reason !== "" && <p className="mt-1 break-words text-soft">{words.agentSays(visibleText(reason))}</p>}
    </div>
  );
}
