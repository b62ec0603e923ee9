/** `system`: for all users, as a user of its own. `user`: of the user who runs the command. */
export type ServiceScope = "system" | "user";

export type UnitOptions = {
  readonly scope: ServiceScope;
  /** The program and its first arguments, in front of `serve`. */
  readonly command: readonly string[];
  /** Whom a service of the system runs as. */
  readonly user: string;
  readonly host: string | null;
  /** 8000 where it is null. */
  readonly port: number | null;
};

export const unitName = "convoke.service";

/** The first line of a unit that `convoke service` may replace and remove. */
export const unitMark = "# Written by: convoke service install. Settings belong into the environment file.";

/** Where the service keeps everything: also the home of its user. */
export const systemHome = "/var/lib/convoke";

/**
 * The unit that systemd reads. What walls need is left open: a new `/proc` in them can be mounted only where nothing of the service's own is
 * hidden, so no `ProtectProc`, `ProtectKernel...`, `ProtectControlGroups`, `PrivateUsers` or `RestrictNamespaces`.
 */
export function unitText(options: UnitOptions): string {
  const isSystem = options.scope === "system";
  const lines = [
    unitMark,
    "[Unit]",
    "Description=Convoke agent conversation server",
    ...(isSystem ? ["Wants=network-online.target", "After=network-online.target"] : []),
    "",
    "[Service]",
    `ExecStart=${serveCommand(options).map(quoteForUnit).join(" ")}`,
    // `%E` is /etc of the system, and ~/.config of a user.
    "EnvironmentFile=-%E/convoke/environment",
    ...(isSystem ? systemLines(options.user) : ["WorkingDirectory=%h"]),
    "Restart=always",
    "# Sandboxes outlive the server, and the next one takes them up.",
    "KillMode=process",
    "TimeoutStopSec=30",
    "# Control groups that limit each wall and sandbox as a whole.",
    "Delegate=yes",
    "LimitNOFILE=65536",
    "NoNewPrivileges=yes",
    // The manager of a user may not mount anything.
    ...(isSystem ? ["ProtectSystem=full"] : []),
    "",
    "[Install]",
    `WantedBy=${isSystem ? "multi-user.target" : "default.target"}`,
  ];
  return `${lines.join("\n")}\n`;
}

function serveCommand({ scope, command, host, port }: UnitOptions): string[] {
  return [
    ...command,
    "serve",
    // Prints no key: the output of a service ends up in the journal.
    "--json",
    "--log-level=info",
    ...(host === null ? [] : ["--host", host]),
    ...(port === null ? [] : ["--port", String(port)]),
    ...(scope === "user"
      ? []
      : ["--data-dir", `${systemHome}/data`, "--workspace-root", `${systemHome}/workspaces`]),
  ];
}

function systemLines(user: string): string[] {
  return [
    `User=${quoteForUnit(user)}`,
    "StateDirectory=convoke convoke/data convoke/workspaces",
    "StateDirectoryMode=0700",
    `WorkingDirectory=${systemHome}/workspaces`,
    `Environment=HOME=${systemHome}`,
  ];
}

/** A word of `ExecStart`: systemd takes `%` for specifiers and `$` for variables. */
function quoteForUnit(word: string): string {
  const plain = word.replaceAll("%", "%%").replaceAll("$", "$$$$");
  return /^[\w%$@/.:,+=-]+$/.test(plain) ? plain : `"${plain.replaceAll(/["\\]/g, "\\$&")}"`;
}
