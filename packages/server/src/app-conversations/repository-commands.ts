import { posix } from "node:path";
import { quoteWord } from "../lib/quote-word.ts";
import type { RepositoryOrder } from "./start-order.ts";

/** The commands of a start, for a shell in the sandbox. All of them can be repeated. Tokens are named, never written out. */

/** Creates a repository where there is none, so that changes can be shown; without git there is none. */
export function emptyRepositoryCommand(directory: string): string {
  return `(cd ${quoteWord(directory)} && if [ ! -e .git ] && command -v git >/dev/null; then git init -q; fi)`;
}

/**
 * Clones beside the target and moves it there when it is complete. Of several starts that do it in one sandbox at once each has a clone
 * of its own, and the first one stays: a clone that is moved to where there is one already ends up in it, and is removed. The token
 * comes out of the environment through a helper: it is in no address, no argument and no configuration file.
 */
export function cloneCommand(repository: RepositoryOrder, target: string, conversationId: string): string {
  const { url, branch, isFull, login } = repository;
  const part = `${target}.part-${conversationId.replaceAll("-", "")}`;
  const clone = [
    ...(login === null ? [] : [`export CONVOKE_GIT_TOKEN="$${login.secret}";`]),
    "GIT_TERMINAL_PROMPT=0 git -c credential.helper=",
    ...(login === null ? [] : [`-c credential.helper=${quoteWord(helper(login.user))}`]),
    "clone -q",
    ...(isFull ? [] : ["--depth 1"]),
    ...(branch === null ? [] : ["--branch", quoteWord(branch)]),
    "--",
    quoteWord(url),
    quoteWord(part),
  ].join(" ");
  // Work of the agent's own has a branch of its own unless one was chosen.
  const own =
    branch === null ? ` && git -C ${quoteWord(part)} checkout -q -b ${ownBranch(conversationId)}` : "";
  const late = posix.join(target, posix.basename(part));
  return [
    `(if [ ! -e ${quoteWord(target)} ]; then`,
    `mkdir -p ${quoteWord(posix.dirname(target))} && rm -rf ${quoteWord(part)} && { ${clone}; }${own}`,
    `&& { [ -e ${quoteWord(target)} ] || mv ${quoteWord(part)} ${quoteWord(target)}; };`,
    `ended=$?; rm -rf ${quoteWord(part)} ${quoteWord(late)}; exit $ended; fi)`,
  ].join(" ");
}

/** In a shell of its own, so that the script can leave nothing in the one that the start uses. */
export function scriptCommand(directory: string): string {
  return `(cd ${quoteWord(directory)} && bash .openhands/setup.sh </dev/null)`;
}

/** A hook that runs the project's script; an existing hook is preserved and runs before it. */
export function hookCommand(directory: string): string {
  const hook = [
    "#!/bin/sh",
    "# Installed by Convoke.",
    'if [ -x "$(dirname "$0")/pre-commit.local" ]; then "$(dirname "$0")/pre-commit.local" "$@" || exit $?; fi',
    "exec bash .openhands/pre-commit.sh",
  ].join("\n");
  return [
    `(cd ${quoteWord(directory)} && hooks=$(git rev-parse --git-path hooks) && mkdir -p "$hooks"`,
    `&& if [ -e "$hooks/pre-commit" ] && ! grep -q "Installed by Convoke" "$hooks/pre-commit"; then mv "$hooks/pre-commit" "$hooks/pre-commit.local"; fi`,
    // In one step: half a hook would be taken for somebody else's.
    `&& part="$hooks/.pre-commit-$$" && printf '%s\\n' ${quoteWord(hook)} > "$part" && chmod +x "$part" && mv "$part" "$hooks/pre-commit")`,
  ].join(" ");
}

export function ownBranch(conversationId: string): string {
  return `convoke-${conversationId.replaceAll("-", "").slice(0, 12)}`;
}

/** Git asks it for a name and a password. */
function helper(user: string): string {
  return `!f() { echo username=${user}; echo "password=$CONVOKE_GIT_TOKEN"; }; f`;
}
