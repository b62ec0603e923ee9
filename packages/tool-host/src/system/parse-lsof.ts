import type { Listener } from "./system-table.ts";

/** Lines of `lsof -F`: a letter says what the rest of a line is; `p` begins a process. */
function* fieldsOf(output: string): Iterable<{ readonly pid: number; readonly name: string }> {
  let pid = 0;
  for (const line of output.split("\n")) {
    if (line.startsWith("p")) pid = Number(line.slice(1));
    else if (line.startsWith("n")) yield { pid, name: line.slice(1) };
  }
}

/** The output of `lsof -d cwd -Fn`. */
export function parseFolders(output: string): ReadonlyMap<number, string> {
  return new Map([...fieldsOf(output)].map(({ pid, name }) => [pid, name]));
}

/** The output of `lsof -nP -iTCP -sTCP:LISTEN -Fn`: only local addresses, IPv6 first. */
export function parseListeners(output: string): readonly Listener[] {
  const found = [...fieldsOf(output)].flatMap(({ pid, name }): Listener[] => {
    const [, address = "", port] = /^(.*):(\d+)$/u.exec(name) ?? [];
    if (port === undefined) return [];
    // A star is both families, or the one of the socket; a program that has only IPv6 is reached by it in any case.
    if (address === "127.0.0.1" || address === "*") return [{ pid, port: Number(port), host: "127.0.0.1" }];
    return address === "[::1]" ? [{ pid, port: Number(port), host: "::1" }] : [];
  });
  return [...found.filter(({ host }) => host === "::1"), ...found.filter(({ host }) => host === "127.0.0.1")];
}
