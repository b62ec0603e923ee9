import { does, type EscapeAttempt, onMachine, writes } from "./escape-attempt.ts";

/** Numbers 21 to 32, in a working folder as {@link openLaterFolder} makes it: what a person's git, editor or shell would run afterwards. */
export const laterAttempts: readonly EscapeAttempt[] = [
  onMachine(21, "add a hook", writes(".git/hooks/pre-commit")),
  onMachine(22, "set a program of git's configuration", does("git config core.fsmonitor evil")),
  onMachine(22, "replace git's configuration", does("cp .git/config new && mv new .git/config")),
  onMachine(23, "put another folder in the place of .git", does("mv .git elsewhere && mv elsewhere .git")),
  onMachine(
    24,
    "point git to another configuration",
    does("echo ../evil > .git/commondir && rm .git/commondir"),
  ),
  onMachine(25, "configuration of a worktree", writes(".git/config.worktree")),
  onMachine(
    27,
    "point another worktree elsewhere",
    does("cd .git/worktrees/linked && cp commondir new && mv new commondir"),
  ),
  onMachine(28, "add a hook of a submodule", writes(".git/modules/sub/hooks/post-checkout")),
  onMachine(29, "change a hook in the folder", writes(".githooks/pre-commit")),
  onMachine(
    30,
    "change an included configuration",
    does("git config --file shared.gitconfig core.pager evil"),
  ),
  onMachine(31, "change an editor's tasks", writes(".vscode/tasks.json")),
  onMachine(32, "change .envrc", writes(".envrc")),
];

/** The same in a linked worktree of that folder. */
export const linkedAttempts: readonly EscapeAttempt[] = [
  onMachine(26, "point a worktree to another repository", does("cp .git new && mv new .git")),
  onMachine(
    26,
    "add a hook to the repository of a worktree",
    does('echo x > "$(git rev-parse --git-common-dir)/hooks/pre-push"'),
  ),
];
