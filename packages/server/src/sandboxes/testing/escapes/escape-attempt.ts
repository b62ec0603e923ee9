/** A shell command that prints ESCAPED when it has got out, in a place that has bash, perl and the small programs of every system. */
export type EscapeAttempt = {
  /** Of the design's list of sixty; null beyond it. */
  readonly number: number | null;
  readonly name: string;
  readonly command: string;
  /**
   * Where the same is shown to get out: on the machine itself, which it does not change, or in a copy of it that is thrown away and has
   * what machines may lack: devices, sockets of services, a cloud's address for metadata.
   */
  readonly bare: "machine" | "copy";
};

/** Whether an attempt got out, or was not made, by what its last line said. A shell that tells of an end repeats the command. */
export function isOut(outcome: string): boolean {
  return /^(ESCAPED|not run)/.test(outcome);
}

export type Attempt = (number: number | null, name: string, command: string) => EscapeAttempt;

export const onMachine: Attempt = (number, name, command) => ({ number, name, command, bare: "machine" });
export const inCopy: Attempt = (number, name, command) => ({ number, name, command, bare: "copy" });

const silently = (command: string): string => `(${command}) >/dev/null 2>&1 && echo ESCAPED`;

/** Any of the files can be read, if only its beginning; the kernel's log takes no small buffer. */
export const reads = (...paths: readonly string[]): string =>
  `for file in ${paths.join(" ")}; do timeout 2 dd if="$file" bs=8192 count=1 2>/dev/null | wc -c | grep -qv '^ *0' && echo ESCAPED; done`;

/** Any of the files, which may be patterns, is there. */
export const sees = (...paths: readonly string[]): string =>
  `for file in ${paths.join(" ")}; do [ -e "$file" ] && echo ESCAPED; done`;

export const writes = (path: string): string => silently(`echo x > ${path}`);

/** Opens a file for writing, and writes nothing; `absent` where the kernel has no such file. */
export const opens = (path: string): string => `[ -e ${path} ] || echo absent; ${silently(`: >> ${path}`)}`;

export const does = silently;

export const connectsTo = (host: string, port: number): string =>
  silently(`timeout 2 bash -c 'exec 3<>/dev/tcp/${host}/${port}'`);

/** An answer of 200 to CONNECT, from the proxy of the way out where there is one. */
export const proxied = (host: string, port: number): string =>
  `timeout 5 bash -c 'exec 3<>/dev/tcp/127.0.0.1/3128; printf "CONNECT ${host}:${port} HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n" >&3; head -1 <&3' 2>/dev/null | grep -q " 200" && echo ESCAPED`;

/** Connects to a unix socket, by calls alone: small images have no modules of perl. `path` is an expression of perl. */
export const connectsToUnix = (path: string): string =>
  `perl -e '$path = ${path}; $a = pack("S", 1) . $path; $fd = syscall(41,1,1,0); print "ESCAPED\\n" if syscall(42,$fd,$a,length $a) == 0'`;

/**
 * A system call by its number on x86-64. What a filter refuses leaves EPERM, ENOSYS or EAFNOSUPPORT; a call that gets through succeeds or
 * fails for another reason, such as arguments that mean nothing. `absent` stands for the last two, which are also what a kernel answers
 * that was built without the call.
 */
export const calls = (number: number, args = "0,0,0,0"): string =>
  `perl -e '$! = 0; $r = ${systemCall(number, args)}; print $r >= 0 || ($! != 1 && $! != 38 && $! != 97) ? "ESCAPED\\n" : $! == 1 ? "refused\\n" : "absent\\n"'`;

/** A system call that has to succeed. */
export const succeeds = (number: number, args: string): string =>
  `perl -e 'print "ESCAPED\\n" if ${systemCall(number, args)} >= 0'`;

/** Perl refuses to hand over a text of the program: it has to be a copy. */
export function systemCall(number: number, args: string): string {
  return `syscall(${number}, map { my $copy = $_ } (${args}))`;
}
