/** Begins every message of the shell to us; a random number per message follows, so no output can imitate one. */
export const messagePrefix = "\u001b]7733;";

/** Ends every message; it cannot occur inside one. */
export const messageEnd = "\u0007";

/** Separates the fields of a message. */
export const fieldSeparator = "\u001f";

/**
 * The start file of a shell. It reads commands from the pipe `<directory>/in` and reports begin and end of each directly to the
 * terminal, whatever the command did to its standard streams, prompt variables or options. `nonce` marks the report that the shell
 * is ready.
 */
export function shellStartFile(directory: string, nonce: string): string {
  return `
unset HISTFILE MAILCHECK
set +o history +o histexpand
__convoke_tty=$(tty)
__convoke_stty=$(type -P stty)
__convoke_pipe=${quote(`${directory}/in`)}
__convoke_nonce=${nonce}
__convoke_status=0
__convoke_command=
mkfifo -m 600 "$__convoke_pipe"

# Both functions set the shell up anew each time, because the command may have changed any of it. No assignment may stand
# where a read-only variable or "set -k" would make it fail, hence printf -v and bare declarations.
__convoke_prepare() {
  enable builtin
  builtin enable enable exec export jobs local printf read return set type unset
  builtin unset -f exec
  builtin printf -v PROMPT_COMMAND %s ${quote(reportLine)}
  builtin printf -v PS1 %s ''
  builtin printf -v PS2 %s ''
  builtin printf -v IGNOREEOF %s 1000
}

# Takes request number $1: its secrets are exported, its command is left in a variable. Older requests, which
# an interrupted shell never took, are passed over.
__convoke_take() {
  __convoke_prepare
  builtin local -
  builtin set +veu
  builtin local record count name value
  exec 1>"$__convoke_tty"
  # Notices of background jobs that ended earlier would else show between the lines of this command.
  builtin jobs >/dev/null
  {
    while IFS= builtin read -r -d '' record; do
      [[ $record == "request $1 "* ]] && break
    done
    __convoke_nonce=\${record##* }
    IFS= builtin read -r -d '' count
    while (( count-- > 0 )); do
      IFS= builtin read -r -d '' name
      IFS= builtin read -r -d '' value
      builtin export "$name=$value"
    done
    IFS= builtin read -r -d '' __convoke_command
  } <"$__convoke_pipe"
  # Tracing was on: it begins again inside the command, so that it does not show how the command is started.
  [[ $__convoke_flags == *x* ]] && __convoke_command="{ builtin set -x; } 2>/dev/null"$'\\n'"$__convoke_command"
  builtin printf '\\033]7733;%s;begin\\007' "$__convoke_nonce"
  builtin return "$__convoke_status"
}

# Reports the end of the command, once, after giving the terminal back its usual state and dropping typed-ahead lines.
__convoke_report() {
  __convoke_seen=$?
  [[ -n \${__convoke_nonce-} ]] || return "$__convoke_seen"
  __convoke_status=$__convoke_seen
  __convoke_prepare
  builtin local -
  builtin set +xveu
  builtin local python directory traps
  exec 0<>"$__convoke_tty" 1>&0
  "$__convoke_stty" sane -echo -ixon
  while builtin read -t 0; do builtin read -r -t 0.01 -n 4096 || break; done
  python=$(builtin type -P python || builtin type -P python3)
  directory=\${PWD-}
  traps=$(builtin trap -p INT)
  builtin printf '\\033]7733;%s;end\\037%s\\037%s\\037%s\\037%s\\037%s\\007' "$__convoke_nonce" "$__convoke_status" \\
    "\${!:--1}" "\${python//[[:cntrl:]]/?}" "\${directory//[[:cntrl:]]/?}" "\${traps:+trapped}"
  __convoke_nonce= __convoke_command=
  builtin return "$__convoke_status"
}
__convoke_prepare
`;
}

/**
 * The line typed to run request `number`. Ctrl-U first deletes leftover input; the leading blank keeps the line out of the history;
 * after a syntax error bash does not recognise a reserved word at the start of a line, so it begins with a plain command.
 */
export function requestLine(number: number): string {
  return `\u0015 :; { __convoke_flags=$-; \\builtin set +x; __convoke_take ${number}; } 2>/dev/null; \\builtin eval "$__convoke_command"; ${reportLine}\n`;
}

/** The line that makes an idle shell report, in case its prompt no longer does. It preserves the command's exit status. */
export function wakeLine(): string {
  return `\u0015 __convoke_report 2>/dev/null; \\exec 2>&0\n`;
}

/** The line that makes a shell that replaced ours usable, and ends the command that replaced it. */
export function adoptLine(startFile: string, nonce: string): string {
  return `\u0015 :; . ${quote(startFile)} 2>/dev/null; __convoke_nonce=${nonce}; stty -echo; ${reportLine}\n`;
}

/**
 * The line that gives a person a prompt with a line editor. The nonce is stored in a separate variable, so that no prompt reports
 * before {@link handBackLine}.
 */
export function lendLine(nonce: string): string {
  return `\u0015 :; { __convoke_held=${nonce}; for name in PROMPT_COMMAND= PS1='\\w\\$ ' PS2='> '; do \\builtin printf -v "\${name%%=*}" %s "\${name#*=}"; done; \\builtin unset name; "$__convoke_stty" sane; } 2>/dev/null; set -o history; set -o emacs; \\builtin printf '\\033]7733;%s;begin\\007' ${nonce}\n`;
}

/** The line that ends a person's session: leftover input is deleted, and the shell reports. */
export function handBackLine(): string {
  return `\u0003\u0005\u0015 { history -c; set +o history; set +o emacs; } 2>/dev/null; __convoke_nonce=$__convoke_held; ${reportLine}\n`;
}

// Tracing (set -x) must not show our own steps, so they run with stderr closed. The last step reopens stderr on the terminal after
// the report, when nothing is read any more.
const reportLine = "{ __convoke_report; } 2>/dev/null; \\exec 2>&0";

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
