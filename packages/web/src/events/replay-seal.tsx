import type { ReplayCheck } from "@convoke/protocol";
import { ShieldAlert, ShieldCheck } from "lucide-react";
import { useEffect, useState } from "react";
import { longTimeoutMs } from "../lib/save-file.ts";
import { useServices } from "../services/services.ts";
import { Button } from "../ui/button.tsx";
import { useMoreWords } from "../words/words.ts";

type ReplaySealProps = {
  readonly conversationId: string;
  readonly onOpen: (eventId: string) => void;
};

type Checked =
  | { readonly phase: "unasked" | "checking" }
  | { readonly phase: "failed"; readonly problem: string }
  | { readonly phase: "done"; readonly report: ReplayCheck };

/** Verifies on demand that every model request can be rebuilt from the log. Closing it cancels the check. */
export function ReplaySeal({ conversationId, onOpen }: ReplaySealProps) {
  const words = useMoreWords().events;
  const { client } = useServices();
  const [checked, setChecked] = useState<Checked>({ phase: "unasked" });
  const [stop] = useState(() => new AbortController());
  useEffect(() => () => stop.abort(), [stop]);
  const check = (): void => {
    setChecked({ phase: "checking" });
    client
      .call("POST /api/conversations/{conversation_id}/replay", {
        params: { conversation_id: conversationId },
        signal: stop.signal,
        timeoutMs: longTimeoutMs,
      })
      .then((report) => setChecked({ phase: "done", report }))
      .catch((error: unknown) => {
        if (stop.signal.aborted) return;
        setChecked({ phase: "failed", problem: error instanceof Error ? error.message : String(error) });
      });
  };
  return (
    <div className="flex shrink-0 flex-wrap items-center gap-2 border-b border-line p-1.5 text-sm">
      <Button disabled={checked.phase === "checking"} onClick={check}>
        {checked.phase === "checking" ? words.checking : words.check}
      </Button>
      <div role="status" className="min-w-0 grow basis-40">
        {checked.phase === "failed" && <span className="text-bad">{checked.problem}</span>}
        {checked.phase === "done" && <Report report={checked.report} onOpen={onOpen} />}
      </div>
    </div>
  );
}

type ReportProps = Pick<ReplaySealProps, "onOpen"> & { readonly report: ReplayCheck };

function Report({ report: { verified, unrecorded, difference }, onOpen }: ReportProps) {
  const words = useMoreWords().events;
  const Icon = difference === null ? ShieldCheck : ShieldAlert;
  return (
    <span className="flex items-center gap-1.5">
      <Icon
        size={15}
        className={`shrink-0 ${difference === null ? "text-good" : "text-bad"}`}
        aria-hidden="true"
      />
      <span>
        {difference === null ? words.verified(verified) : words.difference(verified)}
        {unrecorded > 0 && ` ${words.unrecorded(unrecorded)}`}
      </span>
      {difference !== null && <Button onClick={() => onOpen(difference.event_id)}>{words.where}</Button>}
    </span>
  );
}
