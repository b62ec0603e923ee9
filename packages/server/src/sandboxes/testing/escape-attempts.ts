/** What the attempts aim at; all of it really exists outside of the sandbox. */
export type EscapeTargets = {
  readonly dataDir: string;
  /** Private file of the server with `secret` in it. */
  readonly secretFile: string;
  readonly secret: string;
  /** Workspace of another sandbox, with a file `mine`. */
  readonly otherDir: string;
  readonly hostPid: number;
  readonly tcpPort: number;
  readonly unixSocket: string;
  readonly abstractSocket: string;
  /** Writable by everybody on this machine. */
  readonly openDir: string;
  readonly home: string;
  /** Where the agent works, inside. */
  readonly workspace: string;
  /** Files of the tool host's program, inside. */
  readonly programFiles: readonly string[];
  /** What the inside has open below the data folder and may have: an extended regular expression. */
  readonly ownFiles: string;
};

/** Where things are in a sandbox. */
export const insideSandbox = {
  workspace: "/workspace",
  programFiles: ["/opt/convoke/program/package.json", "/opt/convoke/bin/node"],
  ownFiles: "/sandboxes/one/log$",
} as const;

/**
 * Prints ESCAPED with the path of each file below /proc, apart from those of processes, that opens for writing. Changes nothing. What is covered with
 * /dev/null is no file.
 */
export const writableKernelFiles = `find /proc -path '/proc/[0-9]*' -prune -o -type f -print 2>/dev/null | perl -ne 'chomp; print "ESCAPED $_\\n" if -f $_ and open(my $file, ">>", $_)'`;

/** Name and shell command of each attempt; the command prints ESCAPED when it has got out. */
export function escapeAttempts(targets: EscapeTargets): readonly (readonly [string, string])[] {
  const { dataDir, secretFile, secret, otherDir, hostPid, tcpPort } = targets;
  const { unixSocket, abstractSocket, openDir, home, workspace, programFiles, ownFiles } = targets;
  const reads = (path: string): string => `cat ${path} >/dev/null 2>&1 && echo ESCAPED`;
  const leaks = (command: string): string => `${command} 2>/dev/null | grep -qa ${secret} && echo ESCAPED`;
  const writes = (path: string): string => `echo x > ${path} 2>/dev/null && echo ESCAPED`;
  const tcp = (host: string, port: number): string =>
    `timeout 2 bash -c 'exec 3<>/dev/tcp/${host}/${port}' 2>/dev/null && echo ESCAPED`;
  /** An answer of 200 to CONNECT, from the proxy of the way out where there is one. */
  const proxied = (host: string, port: number): string =>
    `timeout 5 bash -c 'exec 3<>/dev/tcp/127.0.0.1/3128; printf "CONNECT ${host}:${port} HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n" >&3; head -1 <&3' 2>/dev/null | grep -q " 200" && echo ESCAPED`;
  const socket = (path: string): string =>
    `node -e 'require("net").connect({path:${path}}).on("connect",()=>{console.log("ESCAPED");process.exit()}).on("error",()=>{})' 2>/dev/null`;
  // x86-64 numbers; a call that the filter refuses leaves errno 1 or 38, one that gets through anything else.
  const call = (number: number, args = "0,0,0,0"): string =>
    `perl -e '$! = 0; $r = syscall(${number},${args}); print "ESCAPED\\n" if $r >= 0 or ($! != 1 and $! != 38 and $! != 97);'`;

  return [
    ["read /etc/shadow", reads("/etc/shadow")],
    ["read the host's /etc/passwd", "grep -q '^root:' /etc/passwd && echo ESCAPED"],
    ["list the host's home", `ls ${home}/.[a-z]* ${home}/* >/dev/null 2>&1 && echo ESCAPED`],
    ["read the server's secret by its path", leaks(`cat ${secretFile}`)],
    ["list the data folder", `ls -A ${dataDir} 2>/dev/null | grep -q master-key && echo ESCAPED`],
    ["read another sandbox's workspace", reads(`${otherDir}/mine`)],
    [
      "climb out of the workspace",
      leaks(`cat ${workspace}/../master-key ${workspace}/../../master-key ${workspace}/../data/master-key`),
    ],
    ["climb out of the run directory", leaks("cat /run/convoke/../../master-key /run/convoke/../log")],
    ["follow a link to the secret", leaks(`ln -sfn ${secretFile} ${workspace}/link; cat ${workspace}/link`)],
    ["hard-link the secret", `ln ${secretFile} ${workspace}/hard 2>/dev/null && echo ESCAPED`],
    ["/proc/1/root", leaks(`cat /proc/1/root${secretFile}`)],
    ["/proc/1/cwd", leaks(`cat /proc/1/cwd${secretFile} /proc/1/cwd/../${secretFile}`)],
    ["the root of every process", leaks(`cat /proc/[0-9]*/root${secretFile}`)],
    [
      "descriptors that bubblewrap left open",
      `ls -l /proc/[0-9]*/fd 2>/dev/null | grep ${dataDir} | grep -qvE '${ownFiles}' && echo ESCAPED`,
    ],
    [
      "see a process of the host",
      `[ -d /proc/${hostPid} ] && grep -qa sleep /proc/${hostPid}/cmdline && echo ESCAPED`,
    ],
    ["environment of a process of the host", reads(`/proc/${hostPid}/environ`)],
    ["kill a process of the host", `kill -0 ${hostPid} 2>/dev/null && echo ESCAPED`],
    ["trace a process of the host", `perl -e 'print "ESCAPED\\n" if syscall(101,16,${hostPid},0,0) == 0'`],
    // EFAULT: the process may be read, and has nothing at this address.
    [
      "read memory of a process of the host",
      `perl -e '$b = "x" x 8; $v = pack("QQ", unpack("Q", pack("P", $b)), 8); print "ESCAPED\\n" if syscall(310,${hostPid},$v,1,$v,1,0) >= 0 or $! == 14'`,
    ],
    ["pidfd of a process of the host", `perl -e 'print "ESCAPED\\n" if syscall(434,${hostPid},0) >= 0'`],
    ["mount a tmpfs", "mount -t tmpfs x /tmp 2>/dev/null && echo ESCAPED"],
    ["bind-mount the root", "mount --bind / /tmp 2>/dev/null && echo ESCAPED"],
    ["remount /usr writable", "mount -o remount,rw /usr 2>/dev/null && echo ESCAPED"],
    ["unmount /proc", "umount /proc 2>/dev/null && echo ESCAPED"],
    ["write below /usr", writes("/usr/bin/convoke-escape")],
    ["write to the root", writes("/convoke-escape")],
    ["write below /etc", writes("/etc/convoke-escape")],
    ["change the program, or Node", programFiles.map(writes).join("; ")],
    ["write where everybody may", writes(`${openDir}/convoke-escape`)],
    ["new user namespace", "unshare -U true 2>/dev/null && echo ESCAPED"],
    ["new mount namespace", "unshare -m true 2>/dev/null && echo ESCAPED"],
    ["new user namespace with clone", `perl -e 'print "ESCAPED\\n" if syscall(56,0x10000000|17,0,0,0) >= 0'`],
    ["clone3", call(435, "0,0")],
    ["enter the namespaces of process 1", "nsenter -t 1 -m -p true 2>/dev/null && echo ESCAPED"],
    ["chroot", call(161, '"/tmp"')],
    ["pivot_root", call(155, '"/tmp","/tmp"')],
    ["new mount interface (fsopen)", call(430, '"tmpfs",0')],
    ["open_tree", call(428, '-100,"/",1')],
    ["keyctl: read the session's keys", call(250, "0,-3,0")],
    ["keyctl: keys of the user", call(250, "6,-4,0,0")],
    ["add_key", call(248, '"user","x","y",1,-3')],
    ["bpf", call(321, "0,0,0")],
    ["perf_event_open", call(298, "0,0,-1,-1,0")],
    ["userfaultfd", call(323, "0")],
    ["io_uring", call(425, "1,0")],
    ["kernel module", call(313, "0,0,0")],
    ["kernel log", call(103, "3,0,0")],
    ["open_by_handle_at", call(304, "0,0,0")],
    ["set the clock", call(227, "0,0")],
    ["reboot", call(169, "0xfee1dead,672274793,0x89abcdef,0")],
    ["x32 numbering", `perl -e 'print "ESCAPED\\n" if syscall(0x40000000|39) >= 0'`],
    ["raw socket", call(41, "2,3,1")],
    ["packet socket", call(41, "17,3,768")],
    ["vsock to the hypervisor", call(41, "40,1,0")],
    ["kernel crypto socket", call(41, "38,5,0")],
    ["loopback service of the host", tcp("127.0.0.1", tcpPort)],
    ["loopback service of the host by IPv6", tcp("::1", tcpPort)],
    ["service of the host by any address", tcp("0.0.0.0", tcpPort)],
    ["cloud metadata", tcp("169.254.169.254", 80)],
    ["loopback service of the host through the proxy", proxied("127.0.0.1", tcpPort)],
    ["the same in an odd spelling", proxied("0x7f.1", tcpPort)],
    ["the same as a mapped address", proxied("[::ffff:127.0.0.1]", tcpPort)],
    ["the same by name", proxied("localhost.", tcpPort)],
    ["the same by any address", proxied("0.0.0.0", tcpPort)],
    ["cloud metadata through the proxy", proxied("169.254.169.254", 80)],
    ["a name by UDP", "timeout 2 bash -c 'echo x > /dev/udp/8.8.8.8/53' 2>/dev/null && echo ESCAPED"],
    [
      "put something in the place of the way out",
      "(rm /run/convoke-egress/proxy.sock || touch /run/convoke-egress/x) 2>/dev/null && echo ESCAPED",
    ],
    ["unix socket of the host", socket(JSON.stringify(unixSocket))],
    ["abstract unix socket of the host", socket(`"\\0${abstractSocket}"`)],
    ["docker socket", "ls /var/run/docker.sock /run/docker.sock >/dev/null 2>&1 && echo ESCAPED"],
    ["system bus", "ls /run/dbus /var/run/dbus >/dev/null 2>&1 && echo ESCAPED"],
    ["block devices", "ls /dev/[svx][dv][a-z]* /dev/mapper /dev/loop* >/dev/null 2>&1 && echo ESCAPED"],
    ["make a device", "mknod /tmp/disk b 254 0 2>/dev/null && echo ESCAPED"],
    ["kernel memory", reads("/dev/mem /dev/kmem /proc/kcore /dev/kmsg")],
    ["tun and kvm devices", "ls /dev/net/tun /dev/kvm /dev/fuse /dev/vsock >/dev/null 2>&1 && echo ESCAPED"],
    ["sysrq", writes("/proc/sysrq-trigger")],
    ["core_pattern", writes("/proc/sys/kernel/core_pattern")],
    ["change settings of the kernel", writes("/proc/sys/kernel/hostname")],
    ["open any kernel file below /proc for writing", writableKernelFiles],
    ["control groups", "ls /sys/fs/cgroup/* >/dev/null 2>&1 && echo ESCAPED"],
    [
      "release_agent",
      "mkdir -p /tmp/cg && mount -t cgroup -o memory cgroup /tmp/cg 2>/dev/null && echo ESCAPED",
    ],
    ["set-user-id program", "su -c true root </dev/null >/dev/null 2>&1 && echo ESCAPED"],
    [
      "set-user-id copy",
      `cp /bin/bash ${workspace}/sh && chmod u+s ${workspace}/sh && [ "$(${workspace}/sh -p -c 'id -u')" = 0 ] && echo ESCAPED`,
    ],
    ["become root", `perl -e '$< = $> = 0; print "ESCAPED\\n" if $> == 0'`],
    [
      "any capability",
      "grep -E '^Cap(Prm|Eff|Bnd|Amb)' /proc/self/status | grep -qv '0000000000000000' && echo ESCAPED",
    ],
    ["new privileges", "grep -q 'NoNewPrivs:.*0' /proc/self/status && echo ESCAPED"],
    [
      "type into the server's terminal (TIOCSTI)",
      `perl -e 'open(T,"+</dev/tty") or exit; ' ; perl -e 'open(T,"+<","/proc/1/fd/0") or exit; print "ESCAPED\\n" if ioctl(T,0x5412,"x")'`,
    ],
    ["raise a limit", 'ulimit -u unlimited 2>/dev/null && [ "$(ulimit -u)" = unlimited ] && echo ESCAPED'],
    [
      "mask of paths by /proc/self/fd",
      leaks(`exec 9< ${workspace}; cat /proc/self/fd/9/../../../../../..${secretFile}`),
    ],
    ["mounts that name the data folder", `grep -q 'master-key' /proc/self/mountinfo && echo ESCAPED`],
  ];
}
