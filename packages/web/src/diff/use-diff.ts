import { useEffect, useState } from "react";
import type { Change, FileDiff } from "./diff-lines.ts";

/** The difference of a change; null until what compares texts is loaded, which happens with the first one. */
export function useDiff(change: Change): FileDiff | null {
  const [known, setKnown] = useState<{ readonly change: Change; readonly diff: FileDiff } | null>(null);
  useEffect(() => {
    let isCurrent = true;
    void import("./diff-lines.ts").then(({ diffOf }) => {
      if (isCurrent) setKnown({ change, diff: diffOf(change) });
    });
    return () => {
      isCurrent = false;
    };
  }, [change]);
  return known?.change === change ? known.diff : null;
}
