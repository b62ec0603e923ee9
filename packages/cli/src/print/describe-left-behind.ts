import type { LeftBehind, LeftBehindReason } from "@convoke/protocol";

const reasons: Record<LeftBehindReason, string> = {
  starts_by_itself: "an editor, a shell or a tool obeys it",
  repository: "git obeys it",
  rebase: "git rebase --continue runs its commands",
};
/** Lines that are shown; the rest is counted. */
const maxShown = 10;

/** What an agent has left that programs of its person would run later, for a terminal; empty when there is nothing. */
export function describeLeftBehind({ files, count, is_complete: isComplete }: LeftBehind): string {
  const lines = files.slice(0, maxShown).map(({ path, reason, is_new: isNew }) => {
    return `  ${path}  ${isNew ? "new" : "changed"}: ${reasons[reason]}`;
  });
  const more = count > maxShown ? [`  and ${count - maxShown} more`] : [];
  const rest = isComplete ? [] : ["  The folder is too large to be searched whole."];
  if (count === 0) return rest.length === 0 ? "" : `What the agent left behind:\n${rest.join("\n")}`;
  const head = `The agent left ${count === 1 ? "a file" : `${count} files`} that would run outside of the wall. Read before you open the folder:`;
  return [head, ...lines, ...more, ...rest].join("\n");
}
