/** Variables that change which program runs, or what a harmless one does. */
const powerful =
  /^(?:PATH|CDPATH|ENV|HOME|IFS|SHELL|SHELLOPTS|BASHOPTS|PROMPT_COMMAND|PS\d|EDITOR|VISUAL|PAGER|BROWSER|GLOBIGNORE|EXECIGNORE|FIGNORE|HIST\w*|TMOUT|POSIXLY_CORRECT|(?:BASH|DYLD|GCONV|GIT|JAVA|JDK|LD|LESS|LOCPATH|MAKE|MAN|NLSPATH|NODE|NPM|npm|PERL|PIP|PYTHON|RUBY|RUST|CARGO|SSH|SUDO|TAR|XDG)\w*|\w*_(?:proxy|PROXY)|\w*_(?:EDITOR|PAGER|ASKPASS|OPTS|OPTIONS|WRAPPER|COMMAND|SHELL)|\w*OPT)$/u;

/** Variables that a program may be started with without becoming another one. */
const harmless =
  /^(?:CI|COLUMNS|LINES|DEBUG|VERBOSE|FORCE_COLOR|NO_COLOR|CLICOLOR|LANG|LANGUAGE|LC_[A-Z]+|NODE_ENV|PORT|TZ|TERM|[a-z][a-z0-9]*)$/u;

/** Why an assignment makes a text unreadable; null for a harmless one. `isExported`: programs see it. */
export function assignmentProblem(name: string, isExported: boolean): string | null {
  const isFine = isExported ? harmless.test(name) : !powerful.test(name);
  return isFine ? null : `it sets the variable ${name}`;
}

/** Builtins that change what the commands behind them mean, or run texts that are not there to be read. */
const changing = new Set(
  (
    "alias bind compgen complete compopt declare enable fc getopts hash history jobs let local mapfile read " +
    "readarray readonly set shopt source trap typeset unalias unset ."
  ).split(" "),
);

/** Why a builtin with these words makes the text unreadable; null for a harmless one. */
export function builtinProblem(name: string, rest: readonly (string | null)[]): string | null {
  if (changing.has(name)) return `${name} can change what other commands mean`;
  const [first = ""] = rest;
  if (name === "export" && rest.some((word) => word === null || word.startsWith("-")))
    return "export names variables that are only known when it runs";
  if (["printf", "wait"].includes(name) && (first === null || /^-[vp]/u.test(first)))
    return `${name} can set a variable`;
  if (["test", "["].includes(name) && rest.some((word) => word === null || word === "-v"))
    return `${name} can evaluate a subscript`;
  return null;
}
