import type { HostTraffic } from "@convoke/protocol";
import { shownSize } from "@convoke/client/view";
import { Button } from "../ui/button.tsx";
import { Problem } from "../ui/problem.tsx";
import { SidePanel } from "../ui/side-panel.tsx";
import { useMoreWords } from "../words/words.ts";
import { grantOf } from "./grant-of.ts";
import { useNetwork } from "./use-network.ts";

type NetworkPanelProps = {
  readonly conversationId: string;
  /** Changes with new events. */
  readonly version: string;
  readonly onClose: () => void;
};

/** What went out of a conversation's wall or sandbox by host, and what was refused there. */
export default function NetworkPanel({ conversationId, version, onClose }: NetworkPanelProps) {
  const words = useMoreWords().network;
  const { network, problem, allow } = useNetwork(conversationId, version);
  const granted = network?.granted ?? [];
  return (
    <SidePanel
      conversationId={conversationId}
      title={words.title}
      width="w-[24rem]"
      isBusy={network === null}
      onClose={onClose}
    >
      <div className="min-h-0 grow overflow-y-auto px-3">
        <Problem className="my-3" text={problem} />
        {network?.hosts?.length === 0 && <p className="py-3 text-faint">{words.none}</p>}
        <ul className="lines">
          {network?.hosts?.map((traffic) => (
            <Host
              key={`${traffic.host}:${traffic.port}`}
              traffic={traffic}
              isGranted={granted.includes(grantOf(traffic))}
              onAllow={network.can_grant === true ? () => allow(grantOf(traffic)) : null}
            />
          ))}
        </ul>
      </div>
    </SidePanel>
  );
}

type HostProps = {
  readonly traffic: HostTraffic;
  readonly isGranted: boolean;
  /** Null where nothing can be allowed. */
  readonly onAllow: (() => void) | null;
};

function Host({ traffic, isGranted, onAllow }: HostProps) {
  const words = useMoreWords().network;
  const { host, port, requests, refusals, sent_bytes: sent, received_bytes: received } = traffic;
  return (
    <li className="py-2.5">
      <div className="flex items-center gap-2">
        <span className="min-w-0 grow font-mono text-sm break-all">
          {host}
          <span className="text-faint">{`:${port}`}</span>
        </span>
        {isGranted && <span className="text-sm text-soft">{words.allowed}</span>}
        {!isGranted && refusals > 0 && onAllow !== null && (
          <Button variant="quiet" aria-label={words.allowHost(host)} onClick={onAllow}>
            {words.allow}
          </Button>
        )}
      </div>
      <p className="mt-0.5 text-xs text-faint tabular-nums">
        {words.requests(requests)}
        {refusals > 0 && (
          <>
            {", "}
            <span className="text-bad">{words.refusals(refusals)}</span>
          </>
        )}
        {requests > 0 && `, ${words.bytes(shownSize(sent), shownSize(received))}`}
      </p>
    </li>
  );
}
