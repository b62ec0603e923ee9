import { ShieldAlert } from "lucide-react";
import { Suspense, useEffect, useMemo, useState, type KeyboardEvent } from "react";
import { ApiError } from "@convoke/client";
import type { AnswerApprovalsRequest } from "@convoke/protocol";
import { editsOf, hostsAsked, pathWithin, shownDuration, textAt } from "@convoke/client/view";
import { PlannedDiff } from "../cards/planned-diff.tsx";
import { useStore } from "../lib/store.ts";
import type { Approval } from "../overview/approvals-store.ts";
import { useServices } from "../services/services.ts";
import { visibleText } from "../text/visible-text.ts";
import { Button } from "../ui/button.tsx";
import { inputClass } from "../ui/field.tsx";
import { useMoreWords } from "../words/words.ts";
import { lazyPart } from "../lib/lazy-part.ts";
import { HostsProposal } from "./hosts-proposal.tsx";

/** Besides yes or no. */
type AnswerDetails = Pick<AnswerApprovalsRequest["answers"][number], "reason" | "scope" | "rule">;

const AlwaysDialog = lazyPart(() => import("./always-dialog.tsx"));

/** Milliseconds after its appearance during which a card ignores input: it may be meant for another element. */
const inertMs = 500;

/** An action that needs approval: its details and the buttons. It never takes the focus by itself. */
export default function ApprovalCard({ approval }: { readonly approval: Approval }) {
  const words = useMoreWords().approval;
  const { client, approvals, overview } = useServices();
  const summary = useStore(overview).summaries.find(({ id }) => id === approval.conversationId);
  const folder = summary?.workingDir ?? null;
  const asked = hostsAsked(approval);
  const [isInert, setIsInert] = useState(true);
  const [isSent, setIsSent] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const [reason, setReason] = useState<string | null>(null);
  const [isAlwaysOpen, setIsAlwaysOpen] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setIsInert(false), inertMs);
    return () => clearTimeout(timer);
  }, []);

  const answer = async (accept: boolean, more: AnswerDetails = {}): Promise<void> => {
    if (isSent) return;
    setIsSent(true);
    setProblem(null);
    try {
      await client.call("POST /api/conversations/{conversation_id}/approvals", {
        params: { conversation_id: approval.conversationId },
        body: {
          answers: [{ action_id: approval.actionId, accept, ...more }],
        },
      });
    } catch (error) {
      // Answered elsewhere or expired: the reloaded list shows what is left.
      if (!(error instanceof ApiError && error.status === 409))
        setProblem(error instanceof Error ? error.message : words.failed);
      setIsSent(false);
    }
    await approvals.refresh();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || isInert || isSent) return;
    // In text fields letters are text.
    const card = event.currentTarget;
    const within = event.target instanceof Element ? event.target.closest("form, dialog") : null;
    if (within !== null && card.contains(within)) return;
    if (event.key === "a") void answer(true);
    else if (event.key === "r") setReason("");
    else if (event.key === "A") setIsAlwaysOpen(true);
    else return;
    event.preventDefault();
  };

  return (
    <div
      role="group"
      aria-label={words.label(approval.tool)}
      // One of several cards in the navigation; it handles the keys that its hint names.
      tabIndex={0}
      data-approval={approval.actionId}
      onKeyDown={onKeyDown}
      className="group rounded-lg border border-warn bg-warn-wash"
    >
      <header className="flex items-center gap-2 px-3 pt-2 text-sm">
        <ShieldAlert size={15} className="shrink-0 text-warn" aria-hidden="true" />
        <h2 className="min-w-0 grow truncate font-medium">
          {asked === null
            ? approval.summary || words.asks(approval.tool)
            : words.asksHosts(asked.hosts.length)}
        </h2>
        <Risk risk={approval.risk} />
        {approval.deadline !== null && (
          <Deadline at={approval.deadline} accepts={approval.onTimeout === "accept"} />
        )}
      </header>
      {folder !== null && (
        <p className="px-3 pt-0.5 text-xs break-all text-soft">
          {words.place[approval.place](visibleText(folder))}
        </p>
      )}
      {asked === null ? <Proposal approval={approval} folder={folder} /> : <HostsProposal {...asked} />}
      {approval.reasons.length > 0 && (
        <ul className="list-disc px-3 pb-1 pl-8 text-sm text-warn">
          {approval.reasons.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
      {problem !== null && (
        <p role="alert" className="px-3 pb-1 text-sm text-bad">
          {problem}
        </p>
      )}
      {reason === null ? (
        <footer className="flex flex-wrap items-center gap-2 px-3 pb-2.5 pointer-coarse:gap-3">
          <Button variant="allow" disabled={isSent} onClick={() => isInert || void answer(true)}>
            {isSent ? words.sending : words.allow}
          </Button>
          <Button disabled={isSent} onClick={() => setReason("")}>
            {words.reject}
          </Button>
          <Button variant="quiet" disabled={isSent} onClick={() => setIsAlwaysOpen(true)}>
            {words.always}
          </Button>
          <span className="hidden grow text-right text-xs text-faint group-focus:inline group-has-focus-visible:inline">
            {words.keys}
          </span>
        </footer>
      ) : (
        <form
          className="flex flex-wrap items-center gap-2 px-3 pb-2.5"
          onSubmit={(event) => {
            event.preventDefault();
            void answer(false, reason.trim() === "" ? {} : { reason: reason.trim() });
          }}
        >
          <input
            className={`${inputClass} min-w-40 grow basis-60`}
            aria-label={words.reason}
            placeholder={words.reason}
            value={reason}
            maxLength={10_000}
            // The user has just opened this field.
            // eslint-disable-next-line jsx-a11y/no-autofocus
            autoFocus
            onChange={(event) => setReason(event.target.value)}
            onKeyDown={(event) => event.key === "Escape" && setReason(null)}
          />
          <Button type="submit" variant="danger" disabled={isSent}>
            {isSent ? words.sending : words.reject}
          </Button>
          <Button variant="quiet" onClick={() => setReason(null)}>
            {words.back}
          </Button>
        </form>
      )}
      <Suspense>
        {isAlwaysOpen && (
          <AlwaysDialog
            approval={approval}
            onClose={() => setIsAlwaysOpen(false)}
            onAnswer={(scope, rule) => void answer(true, rule === undefined ? { scope } : { scope, rule })}
          />
        )}
      </Suspense>
    </div>
  );
}

type ProposalProps = { readonly approval: Approval; readonly folder: string | null };

/** The full action; nothing is trimmed. */
function Proposal({ approval, folder }: ProposalProps) {
  const edits = useMemo(() => editsOf({ action: approval.action, outcome: null }), [approval]);
  if (edits.length > 0) {
    return edits.map((edit) => (
      <div key={edit.path} className="mx-3 my-2 overflow-hidden rounded border border-line bg-canvas">
        <p className="border-b border-line bg-raised px-3 py-1 font-mono text-xs">
          {visibleText(pathWithin(edit.path, folder))}
        </p>
        <div className="max-h-60 overflow-y-auto">
          <PlannedDiff
            edit={edit}
            action={approval.action}
            conversationId={approval.conversationId}
            folder={folder}
          />
        </div>
      </div>
    ));
  }
  const command = textAt(approval.action, "command");
  const isCommand = approval.action["kind"] === "TerminalAction";
  const { kind: _, ...fields } = approval.action;
  return (
    <pre
      tabIndex={0}
      className="mx-3 my-2 max-h-60 overflow-auto rounded border border-line bg-canvas px-3 py-2 font-mono text-sm break-words whitespace-pre-wrap"
    >
      {visibleText(isCommand ? `$ ${command}` : JSON.stringify(fields, null, 2))}
    </pre>
  );
}

function Risk({ risk }: { readonly risk: string }) {
  const words = useMoreWords().approval;
  const word = (words.risks as Readonly<Record<string, string>>)[risk];
  if (word === undefined) return null;
  return (
    <span className={`shrink-0 text-xs ${risk === "HIGH" ? "font-medium text-bad" : "text-soft"}`}>
      {word}
    </span>
  );
}

function Deadline({ at, accepts }: { readonly at: string; readonly accepts: boolean }) {
  const words = useMoreWords().approval;
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const left = shownDuration(Math.max(0, Math.round((Date.parse(at) - now) / 1_000) * 1_000));
  return (
    <span className="shrink-0 text-xs text-soft tabular-nums">
      {accepts ? words.allowedIn(left) : words.rejectedIn(left)}
    </span>
  );
}
