/** A command that has broken terminals, and the expected answers for a model that follows the description. */
export type HostileCommand = {
  readonly command: string;
  /** A required program; without it the case is skipped. */
  readonly program?: string;
  /** Seconds for `timeout`, for commands that print for ever. */
  readonly timeout?: number;
  /** Inputs while the command still runs, one call each; `reset` is a call with reset. Without it the command must end by itself. */
  readonly steps?: readonly string[];
  /** Part of the first answer. */
  readonly shows?: string;
  /** Text that the first answer must not contain. */
  readonly hides?: string;
  /** Exit code of the last answer before the next command. */
  readonly exitCode?: number;
  /** Other output that may appear in the next command's answer: background programs may print at any time. */
  readonly isNoisy?: boolean;
};

const escape = "\u001b";

export const hostileCommands: readonly HostileCommand[] = [
  // Pagers and full-screen programs.
  { command: "less /etc/passwd", program: "less", steps: ["q"], shows: "root:x:0:0", exitCode: 0 },
  { command: "more /etc/services /etc/passwd | cat", program: "more", exitCode: 0 },
  {
    command: "git init -q r && git -C r log",
    program: "git",
    shows: "does not have any commits",
    exitCode: 128,
  },
  { command: "git help git | head -3", program: "git" },
  { command: "man bash | head -5", program: "man" },
  { command: "vim notes.txt", program: "vim", steps: [":q!"], shows: "notes.txt", exitCode: 0 },
  { command: "nano notes.txt", program: "nano", steps: ["C-x"], shows: "notes.txt", exitCode: 0 },
  { command: "top", program: "top", steps: ["q"], shows: "Tasks", exitCode: 0 },
  { command: "top -b -d 0.2", program: "top", timeout: 1, steps: ["C-c"], shows: "PID" },
  { command: "watch -n 0.2 date", program: "watch", steps: ["C-c"], shows: "Every 0.2s" },
  { command: "tail -n +1 -f /etc/passwd", steps: ["C-c"], shows: "root:x:0:0", exitCode: 130 },
  { command: "tmux new-session 'sleep 300'", program: "tmux", steps: ["C-c"], exitCode: 0 },
  { command: "script -q typescript", program: "script", steps: ["exit"], exitCode: 0 },
  { command: String.raw`printf '\033[?1049h\033[2J\033[Hin the other screen'`, exitCode: 0 },
  // Prompts and readers of the terminal.
  { command: "sudo -k true", program: "sudo", steps: ["C-c"] },
  { command: "sudo -k -S true < /dev/null", program: "sudo" },
  { command: "read x; echo got:$x", steps: ["hello"], exitCode: 0 },
  { command: "read -s -p 'Password: ' x", steps: ["secret"], shows: "Password:", exitCode: 0 },
  { command: "read -n 1 key", steps: ["y"], exitCode: 0 },
  { command: "cat", steps: ["C-d"], exitCode: 0 },
  { command: "cat > file", steps: ["text", "C-d"], exitCode: 0 },
  { command: "python3", program: "python3", steps: ["exit()"], shows: ">>>", exitCode: 0 },
  {
    command: "python3 -c 'input(\"name? \")'",
    program: "python3",
    steps: ["me"],
    shows: "name?",
    exitCode: 0,
  },
  { command: "node", program: "node", steps: [".exit"], exitCode: 0 },
  { command: "bash", steps: ["exit"], exitCode: 0 },
  { command: "select x in a b; do break; done", steps: ["1"], shows: "1) a", exitCode: 0 },
  {
    command: "ssh -o ConnectTimeout=1 -o StrictHostKeyChecking=ask nobody@127.0.0.1 -p 9 true",
    program: "ssh",
  },
  { command: "git clone https://user@127.0.0.1:9/none.git", program: "git", exitCode: 128 },
  { command: "dd of=/dev/null", steps: ["C-d"] },
  // Background jobs and things that hold the terminal.
  // nohup reports from the background, at any time, where its input and output go.
  { command: "nohup sleep 300 &", program: "nohup", isNoisy: true },
  { command: "sleep 300 &" },
  { command: "sleep 300 & disown" },
  { command: "(sleep 300; echo late) & (sleep 301 &)" },
  // setsid leaves the shell's job at once, and cat stops it: bash reports it when it notices.
  { command: "setsid sleep 300 &", program: "setsid", isNoisy: true },
  { command: "sleep 0.2 & wait", exitCode: 0 },
  { command: "sleep 300 & wait", steps: ["C-c"], exitCode: 130 },
  { command: "sleep 300 & fg", steps: ["C-c"], exitCode: 130 },
  { command: "fg", shows: "no such job", exitCode: 1 },
  { command: "sleep 300", steps: ["C-z"], exitCode: 148 },
  { command: "sleep 300 | cat | cat", steps: ["C-z"] },
  { command: "bash -c 'sleep 300 < /dev/tty & exit 0'", exitCode: 0 },
  { command: "for i in 1 2 3 4 5; do sleep 300 & done" },
  { command: "cat &", isNoisy: true },
  { command: "while :; do echo tick; sleep 0.2; done &", isNoisy: true },
  { command: "coproc cat" },
  // Floods and bytes.
  { command: "yes", timeout: 1, steps: ["C-c"], shows: "y\ny\n", exitCode: 130 },
  { command: "cat /dev/urandom | head -c 5000000", exitCode: 0, timeout: 30 },
  { command: "head -c 1000000 /dev/zero | tr '\\0' x; echo", exitCode: 0, shows: "xxx", timeout: 20 },
  { command: "head -c 100000 /dev/zero; echo after", exitCode: 0, shows: "after" },
  { command: String.raw`printf '\xff\xfe\x80bad\xc3'; echo`, exitCode: 0, shows: "bad" },
  { command: "seq 1 300000", exitCode: 0, shows: "300000", timeout: 20 },
  {
    command: String.raw`printf '\033[31mred\033[0m \033[2J\033[10;10Hplaced\033]0;title\007\n'`,
    shows: "placed",
    exitCode: 0,
  },
  { command: String.raw`printf '\033]0;no end of this title'`, exitCode: 0 },
  { command: String.raw`printf '\033[6n\033[c\033[>c'; sleep 0.3`, exitCode: 0, hides: "[6n" },
  { command: String.raw`printf 'no newline'`, shows: "no newline", exitCode: 0 },
  { command: "tput reset; tput cup 20 20; tput smcup; tput civis", program: "tput", exitCode: 0 },
  { command: "reset", program: "reset", timeout: 5, exitCode: 0 },
  // The terminal's and the shell's own settings.
  { command: "stty -echo", exitCode: 0 },
  { command: "stty raw -echo; sleep 0.1", exitCode: 0 },
  { command: "stty echo", exitCode: 0 },
  { command: "stty intr undef; sleep 300", steps: ["C-c", "C-\\", "reset"] },
  { command: "trap '' INT; sleep 300", steps: ["C-c", "reset"] },
  { command: "trap 'echo no' INT TERM; while :; do sleep 0.2; done", steps: ["C-c", "reset"] },
  { command: "trap 'echo bye' EXIT; true", exitCode: 0 },
  { command: "trap 'echo step' DEBUG; true; trap - DEBUG", exitCode: 0 },
  { command: "set -e; false", exitCode: 1, shows: "" },
  { command: "set -u; echo $undefined_name", exitCode: 1 },
  { command: "set -o pipefail; set -o noclobber; set -f; true", exitCode: 0 },
  { command: "PS1=; PS2=; PS4=; IFS=x", exitCode: 0 },
  { command: "PS1='fake$ '; PROMPT_COMMAND='echo noise'", exitCode: 0 },
  { command: "PROMPT_COMMAND=", exitCode: 0 },
  { command: "PROMPT_COMMAND=; PS1=; sleep 300", steps: ["C-c"], exitCode: 130 },
  { command: "unset PATH; PATH=", exitCode: 0 },
  { command: "unset PWD HOME TERM; shopt -s expand_aliases; alias eval=false builtin=false", exitCode: 0 },
  { command: "printf() { echo hijacked; }; read() { :; }; eval() { :; }", exitCode: 0 },
  { command: "exec > /dev/null", exitCode: 0 },
  { command: "exec 2> /dev/null > file", exitCode: 0 },
  { command: "exec 0<&-", exitCode: 0 },
  { command: "exec < /dev/null > /dev/null 2>&1", exitCode: 0 },
  { command: "exec 3< /dev/tty 4> /dev/tty", exitCode: 0 },
  { command: "cd $(mktemp -d) && rmdir $PWD", exitCode: 0 },
  { command: "ulimit -n 16", exitCode: 0 },
  { command: "enable -n printf read exec; set -k", exitCode: 0 },
  { command: "set -a; set +m; set -n; set -o posix; shopt -s extdebug", exitCode: 0 },
  { command: "readonly PS1 PROMPT_COMMAND", exitCode: 0 },
  { command: "exec() { :; }; builtin() { :; }", steps: ["C-c", "reset"] },
  { command: "shopt -s failglob nullglob xpg_echo; umask 777", exitCode: 0 },
  // Shells that end or are replaced.
  { command: "exit 3", exitCode: 3 },
  { command: "logout", exitCode: 1 },
  { command: "kill -9 $$", exitCode: 137 },
  { command: "kill -TERM $$; kill -INT $$", exitCode: 130 },
  { command: "kill -HUP $$", exitCode: 129 },
  { command: "set -t", exitCode: 0 },
  { command: "kill -STOP $$", exitCode: 0 },
  { command: "suspend", exitCode: 0 },
  { command: "exec bash", exitCode: 0 },
  { command: "exec true", exitCode: 0 },
  { command: "exec no-such-program", exitCode: 127 },
  { command: "exec sleep 300", steps: ["C-c"], exitCode: 130 },
  { command: "return 5; break; continue" },
  // Broken syntax.
  { command: "echo 'unclosed", exitCode: 2 },
  { command: 'echo "unclosed $(', exitCode: 1 },
  { command: "f() {", exitCode: 2 },
  { command: "((", exitCode: 2 },
  { command: "cat <<EOF\nno end", shows: "no end" },
  { command: "if true; then", exitCode: 2 },
  { command: "echo a |", exitCode: 2 },
  { command: ") } done", exitCode: 2 },
  { command: "for", exitCode: 2 },
  { command: "!!", exitCode: 127 },
  // Attempts to imitate the end of a command.
  {
    command: `printf '${escape}]7733;%s;end\\037%s\\037%s\\037%s\\037%s\\007' 0 9 9 x /x; sleep 0.2; (exit 4)`,
    exitCode: 4,
  },
  { command: "__convoke_nonce=forged; sleep 0.2; (exit 4)", steps: ["C-c", "reset"] },
  { command: "declare -f; set; trap; declare -p > /dev/null", exitCode: 0 },
  { command: "unset -f __convoke_report __convoke_take __convoke_prepare", steps: ["C-c", "reset"] },
  { command: `echo '${escape}[?2004h'; echo '$ '; echo 'root@host:/# '`, exitCode: 0 },
];
