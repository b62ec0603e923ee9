import { expect, test } from "vitest";
import { unitText, type UnitOptions } from "./unit-text.ts";

const options: UnitOptions = {
  scope: "system",
  command: ["/opt/node", "/opt/convoke/lib/bin.js"],
  user: "convoke",
  host: null,
  port: null,
};

test("the unit of the system runs as a user of its own, in a folder of its own", () => {
  expect(unitText({ ...options, host: "::1", port: 9000 })).toBe(`\
# Written by: convoke service install. Settings belong into the environment file.
[Unit]
Description=Convoke agent conversation server
Wants=network-online.target
After=network-online.target

[Service]
ExecStart=/opt/node /opt/convoke/lib/bin.js serve --json --log-level=info --host ::1 --port 9000 --data-dir /var/lib/convoke/data --workspace-root /var/lib/convoke/workspaces
EnvironmentFile=-%E/convoke/environment
User=convoke
StateDirectory=convoke convoke/data convoke/workspaces
StateDirectoryMode=0700
WorkingDirectory=/var/lib/convoke/workspaces
Environment=HOME=/var/lib/convoke
Restart=always
# Sandboxes outlive the server, and the next one takes them up.
KillMode=process
TimeoutStopSec=30
# Control groups that limit each wall and sandbox as a whole.
Delegate=yes
LimitNOFILE=65536
NoNewPrivileges=yes
ProtectSystem=full

[Install]
WantedBy=multi-user.target
`);
});

test("the unit of a user has the data folder of convoke serve, and nothing that only the system may do", () => {
  expect(unitText({ ...options, scope: "user" })).toBe(`\
# Written by: convoke service install. Settings belong into the environment file.
[Unit]
Description=Convoke agent conversation server

[Service]
ExecStart=/opt/node /opt/convoke/lib/bin.js serve --json --log-level=info
EnvironmentFile=-%E/convoke/environment
WorkingDirectory=%h
Restart=always
# Sandboxes outlive the server, and the next one takes them up.
KillMode=process
TimeoutStopSec=30
# Control groups that limit each wall and sandbox as a whole.
Delegate=yes
LimitNOFILE=65536
NoNewPrivileges=yes

[Install]
WantedBy=default.target
`);
});

test.each([
  ["/home/Ada Lovelace/node", '"/home/Ada Lovelace/node"'],
  ["/srv/100%/node", "/srv/100%%/node"],
  ["/srv/$HOME/node", "/srv/$$HOME/node"],
  ['/srv/"a\\b"/node', '"/srv/\\"a\\\\b\\"/node"'],
])("systemd reads the word %s as it is", (word, quoted) => {
  expect(unitText({ ...options, command: [word] })).toContain(`ExecStart=${quoted} serve `);
});
