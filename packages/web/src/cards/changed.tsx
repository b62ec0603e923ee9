import type { Edit } from "@convoke/client/view";
import { useDiff } from "../diff/use-diff.ts";

/** Added and removed lines of a file. */
export function Changed({ edit }: { readonly edit: Edit }) {
  const diff = useDiff(edit);
  if (diff === null) return null;
  return (
    <span className="shrink-0 font-mono text-xs">
      <span className="text-good">{`+${diff.added}`}</span>{" "}
      <span className="text-bad">{`−${diff.removed}`}</span>
    </span>
  );
}
