import { useEffect, useState } from "react";
import type { Change, FileDiff } from "@convoke/client/diff-lines";

/** The diff of a change; null until the diff library is loaded, which happens at first use. */
export function useDiff(change: Change): FileDiff | null {
  const [known, setKnown] = useState<{ readonly change: Change; readonly diff: FileDiff } | null>(null);
  useEffect(() => {
    let isCurrent = true;
    void import("@convoke/client/diff-lines").then(({ diffOf }) => {
      if (isCurrent) setKnown({ change, diff: diffOf(change) });
    });
    return () => {
      isCurrent = false;
    };
  }, [change]);
  return known?.change === change ? known.diff : null;
}
