import type { ReactNode } from "react";
import { ErrorBoundary as ReactErrorBoundary, type FallbackProps } from "react-error-boundary";
import { useWords } from "../words/words.ts";
import { Button } from "./button.tsx";

type ErrorBoundaryProps = {
  /** What was drawn from: a change of one of these draws the children again. */
  readonly versions: readonly unknown[];
  /** Stands in place of children that could not be drawn; a note with a button without it. */
  readonly fallback?: ReactNode;
  readonly children: ReactNode;
};

/** An error while the children are drawn ends here: without a boundary React takes the whole page away. */
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
