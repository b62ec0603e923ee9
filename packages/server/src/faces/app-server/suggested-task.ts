import type { SuggestedTask } from "@convoke/protocol";

const wishes: Readonly<Record<SuggestedTask["task_type"], (number: number) => string>> = {
  MERGE_CONFLICTS: (number) =>
    `Bring the branch of pull request ${number} up to date and solve its merge conflicts.`,
  FAILING_CHECKS: (number) => `Find out why the checks of pull request ${number} fail, and mend it.`,
  UNRESOLVED_COMMENTS: (number) =>
    `Go through the open review comments on pull request ${number} and settle each.`,
  OPEN_ISSUE: (number) => `Work on issue ${number}: understand it, change the code, and test the change.`,
  OPEN_PR: (number) => `Look at pull request ${number} and finish what is missing in it.`,
};

/** What the user would have written. */
export function suggestedMessage({
  task_type: type,
  repo,
  issue_number: number,
  title,
}: SuggestedTask): string {
  return `${wishes[type](number)} It is titled "${title}" and is in the repository ${repo}, which is in your working directory.`;
}
