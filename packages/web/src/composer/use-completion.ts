import { useCallback, useEffect, useId, useMemo, useState, type KeyboardEvent } from "react";
import {
  type CompletionTarget,
  completionTargetAt,
  ranked,
  type Suggest,
  type Suggestion,
} from "@convoke/client/view";

export type Completion = {
  readonly listId: string;
  readonly suggestions: readonly Suggestion[];
  /** Index of the active suggestion; -1 for none. */
  readonly active: number;
  /** Handles the keys of the list; returns true if it handled the key. */
  readonly onKey: (event: KeyboardEvent) => boolean;
  readonly choose: (suggestion: Suggestion) => void;
  readonly close: () => void;
};

type CompletionOptions = {
  readonly text: string;
  readonly caret: number;
  readonly suggest: Suggest | null;
  readonly onChoose: (target: CompletionTarget, suggestion: Suggestion) => void;
};

type Found = { readonly target: CompletionTarget; readonly suggestions: readonly Suggestion[] };

const none: readonly Suggestion[] = [];

/**
 * Suggestions for the word at the caret, and their keyboard navigation. Escape hides them until another word starts.
 */
export function useCompletion({ text, caret, suggest, onChoose }: CompletionOptions): Completion {
  const listId = useId();
  const target = useMemo(
    () => (suggest === null ? null : completionTargetAt(text, caret)),
    [suggest, text, caret],
  );
  const [found, setFound] = useState<Found | null>(null);
  const [closedAt, setClosedAt] = useState<number | null>(null);
  const [active, setActive] = useState(0);
  useEffect(() => {
    setActive(0);
    if (target === null) setClosedAt(null);
    if (target === null || suggest === null) return setFound(null);
    const stop = new AbortController();
    suggest(target, stop.signal)
      .then((suggestions) => stop.signal.aborted || setFound({ target, suggestions }))
      .catch((error: unknown) => {
        if (stop.signal.aborted) return;
        // Completion is optional: the user can type the name.
        console.warn("The suggestions could not be loaded.", error);
        setFound(null);
      });
    return () => stop.abort();
  }, [target, suggest]);

  const suggestions = useMemo(() => {
    if (target === null || target.from === closedAt || found === null) return none;
    if (found.target === target) return found.suggestions;
    if (found.target.from !== target.from || found.target.kind !== target.kind) return none;
    // Until the new suggestions arrive, the previous ones that still match.
    return ranked(found.suggestions, target.query, ({ name }) => name, found.suggestions.length);
  }, [target, closedAt, found]);
  const last = suggestions.length - 1;
  const at = Math.min(active, last);
  const choose = useCallback(
    (suggestion: Suggestion): void => {
      if (target !== null) onChoose(target, suggestion);
    },
    [target, onChoose],
  );
  const close = useCallback((): void => setClosedAt(target?.from ?? null), [target]);
  const onKey = (event: KeyboardEvent): boolean => {
    if (last < 0 || event.nativeEvent.isComposing || event.ctrlKey || event.metaKey || event.altKey)
      return false;
    // The name is already typed in full: Enter sends it.
    const isWritten = target !== null && suggestions[at]?.insert === text.slice(target.from, target.to);
    if (isWritten && event.key === "Enter") return false;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setActive((at + step + last + 1) % (last + 1));
    else if (event.key === "Escape") close();
    else if ((event.key === "Enter" || event.key === "Tab") && !event.shiftKey) choose(suggestions[at]!);
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  };
  return { listId, suggestions, active: at, onKey, choose, close };
}
