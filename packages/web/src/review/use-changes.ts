import { useEffect, useState } from "react";
import { changedFiles, type ChangedFile, type ChangePlace, type ChangeScope } from "@convoke/client/view";

export type Changes = {
  /** Null until the first response. */
  readonly files: readonly ChangedFile[] | null;
  readonly problem: string | null;
};

/** Milliseconds to wait for further tool results before reloading. */
const quietMs = 300;

/** Loads the changed files, again for each `version`; the old list stays until the new one arrives. */
export function useChanges(place: ChangePlace, scope: ChangeScope, version: string): Changes {
  const { client, conversationId, folder } = place;
  const [known, setKnown] = useState<Changes & { readonly scope: ChangeScope }>({
    files: null,
    problem: null,
    scope,
  });
  const isOther = known.scope !== scope;
  useEffect(() => {
    const stop = new AbortController();
    const read = async (): Promise<void> => {
      try {
        const files = await changedFiles({ client, conversationId, folder }, scope, stop.signal);
        if (!stop.signal.aborted) setKnown({ files, problem: null, scope });
      } catch (error) {
        if (stop.signal.aborted) return;
        const problem = error instanceof Error ? error.message : String(error);
        setKnown((before) => ({ ...before, problem, scope }));
      }
    };
    const timer = setTimeout(() => void read(), isOther ? 0 : quietMs);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
    // `isOther` describes the shown list and changes with it.
    // eslint-disable-next-line react/exhaustive-deps
  }, [client, conversationId, folder, scope, version]);
  return isOther ? { files: null, problem: null } : known;
}
