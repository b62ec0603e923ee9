import type { ReactNode } from "react";
import { ErrorBoundary as ReactErrorBoundary, type FallbackProps } from "react-error-boundary";
import { useWords } from "../words/words.ts";
import { Button } from "./button.tsx";

type ErrorBoundaryProps = {
  /** A change of one of these values renders the children again. */
  readonly versions: readonly unknown[];
  /** Replaces the children after an error; a note with a retry button if not set. */
  readonly fallback?: ReactNode;
  readonly children: ReactNode;
};

/** Catches render errors of its children: without a boundary React unmounts the whole page. */
export function ErrorBoundary({ versions, fallback, children }: ErrorBoundaryProps) {
  const resetKeys = [...versions];
  return fallback === undefined ? (
    <ReactErrorBoundary resetKeys={resetKeys} FallbackComponent={FailedPart}>
      {children}
    </ReactErrorBoundary>
  ) : (
    <ReactErrorBoundary resetKeys={resetKeys} fallback={fallback}>
      {children}
    </ReactErrorBoundary>
  );
}

function FailedPart({ error, resetErrorBoundary }: FallbackProps) {
  const words = useWords();
  return (
    <div
      role="alert"
      className="m-3 flex min-w-0 flex-wrap items-center gap-3 rounded-md bg-bad-wash px-3 py-2 text-sm text-bad"
    >
      <span className="min-w-0 break-words">
        {words.failedPart} {error instanceof Error ? error.message.slice(0, 200) : ""}
      </span>
      <Button onClick={resetErrorBoundary}>{words.conversation.tryAgain}</Button>
    </div>
  );
}
