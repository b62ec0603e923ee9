import { Link } from "wouter";
import { useEffect } from "react";
import { useStore } from "../lib/store.ts";
import { useServices } from "../services/services.ts";
import { ErrorBoundary } from "../ui/error-boundary.tsx";
import { useMoreWords, useWords } from "../words/words.ts";
import ApprovalCard from "./approval-card.tsx";

/** All pending approvals, nearest deadline first. */
export default function InboxPage() {
  const words = useWords();
  const more = useMoreWords();
  const { approvals, overview } = useServices();
  const waiting = useStore(approvals);
  const { summaries } = useStore(overview);
  useEffect(() => void approvals.refresh(), [approvals]);
  const inOrder = waiting.toSorted((left, right) =>
    (left.deadline ?? `~${left.requestedAt}`).localeCompare(right.deadline ?? `~${right.requestedAt}`),
  );
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto max-w-[52rem] px-5 py-5 max-[720px]:px-3">
        <h1 className="mb-4 text-xl font-semibold">{words.rail.inbox}</h1>
        {inOrder.length === 0 && <p className="text-faint">{more.inbox.empty}</p>}
        <div className="flex flex-col gap-4">
          {inOrder.map((approval) => (
            <div key={approval.actionId}>
              <Link
                href={`/c/${approval.conversationId}`}
                className="mb-1 inline-block max-w-full truncate text-sm text-soft underline-offset-2 hover:underline"
              >
                {summaries.find(({ id }) => id === approval.conversationId)?.title ?? words.rail.untitled}
              </Link>
              <ErrorBoundary versions={[approval]}>
                <ApprovalCard approval={approval} />
              </ErrorBoundary>
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}
