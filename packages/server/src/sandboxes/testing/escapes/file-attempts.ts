import {
  does,
  type EscapeAttempt,
  inCopy,
  onMachine,
  reads,
  sees,
  succeeds,
  writes,
} from "./escape-attempt.ts";
import { credentialFiles, type EscapeTargets, homePrograms } from "./escape-targets.ts";

/** Numbers 1 to 20: files of the machine, of its people, of the server and of others. */
export function fileAttempts(targets: EscapeTargets): readonly EscapeAttempt[] {
  const { dataDir, secretFile, secret, otherDir, openDir, home, workspace, programFiles } = targets;
  const leaks = (command: string): string => `${command} 2>/dev/null | grep -qa ${secret} && echo ESCAPED`;
  const leaksHome = (...paths: readonly string[]): string =>
    leaks(`cat ${paths.map((path) => `${home}/${path}`).join(" ")}`);
  return [
    onMachine(1, "read an ssh key", leaksHome(credentialFiles.ssh)),
    onMachine(2, "read the server's secret by its path", leaks(`cat ${secretFile}`)),
    onMachine(2, "list the data folder", `ls -A ${dataDir} 2>/dev/null | grep -q master-key && echo ESCAPED`),
    onMachine(2, "read another sandbox's workspace", reads(`${otherDir}/mine`)),
    onMachine(
      3,
      "climb out of the workspace",
      leaks(`cat ${workspace}/../master-key ${workspace}/../../master-key ${workspace}/../data/master-key`),
    ),
    onMachine(
      3,
      "climb out by a descriptor",
      leaks(`exec 9< ${workspace}; cat /proc/self/fd/9/../../../../../..${secretFile}`),
    ),
    onMachine(
      3,
      "climb out of the run folder",
      leaks(
        `cat /run/convoke/../../master-key /run/convoke/../log /proc/self/root/run/../../..${secretFile}`,
      ),
    ),
    onMachine(
      4,
      "follow a link to the secret",
      leaks(`ln -sfn ${secretFile} ${workspace}/link; cat ${workspace}/link`),
    ),
    inCopy(5, "/proc/1/root", leaks(`cat /proc/1/root${secretFile}`)),
    onMachine(5, "the root of every process", leaks(`cat /proc/[0-9]*/root${secretFile}`)),
    onMachine(6, "the folder of every process", leaks(`cat /proc/[0-9]*/cwd/../../../../../..${secretFile}`)),
    onMachine(
      6,
      "descriptors that were left open",
      `ls -l /proc/[0-9]*/fd 2>/dev/null | grep ${dataDir} | grep -qvE '${targets.ownFiles}' && echo ESCAPED`,
    ),
    inCopy(7, "read /etc/shadow", reads("/etc/shadow")),
    onMachine(7, "read the machine's /etc/passwd", "grep -q '^bin:' /etc/passwd && echo ESCAPED"),
    onMachine(8, "read npm's token", leaksHome(credentialFiles.npm)),
    onMachine(9, "read cargo's credentials", leaksHome(credentialFiles.cargo)),
    onMachine(
      10,
      "read what gcloud, aws and kubectl keep",
      leaksHome(credentialFiles.gcloud, credentialFiles.aws, credentialFiles.kube),
    ),
    onMachine(11, "read profiles of browsers", leaksHome(credentialFiles.firefox, credentialFiles.chrome)),
    onMachine(12, "read somebody else's home", leaks(`cat ${home}/../other/notes`)),
    onMachine(13, "change a toolchain of the home", writes(`${home}/${homePrograms.toolchain}`)),
    onMachine(14, "change a program in PATH", writes(`${home}/${homePrograms.own}`)),
    inCopy(14, "write below /usr", writes("/usr/bin/convoke-escape")),
    inCopy(14, "write to the root", writes("/convoke-escape")),
    inCopy(14, "write below /etc", writes("/etc/convoke-escape")),
    inCopy(14, "change the program, or Node", programFiles.map(writes).join("; ")),
    onMachine(14, "write where everybody may", writes(`${openDir}/convoke-escape`)),
    onMachine(15, "read a private home of another owner", leaks(`cat ${dataDir}/walls/*/home/mine`)),
    onMachine(
      16,
      "write to a private home of another folder",
      does(`[ -d ${dataDir}/walls/other/home ] && echo x > ${dataDir}/walls/other/home/.npmrc`),
    ),
    onMachine(19, "hard-link the secret", does(`ln -f ${secretFile} ${workspace}/hard`)),
    inCopy(20, "block devices", sees("/dev/[svx][dv][a-z]*", "/dev/mapper", "/dev/loop*")),
    inCopy(20, "make a device", `rm -f /tmp/made; ${succeeds(133, '"/tmp/made",0060644,65024')}`),
    inCopy(
      20,
      "read the kernel's memory and log",
      reads("/dev/mem", "/dev/kmem", "/proc/kcore", "/dev/kmsg"),
    ),
    inCopy(
      20,
      "devices for networks and machines",
      sees("/dev/net/tun", "/dev/kvm", "/dev/fuse", "/dev/vsock"),
    ),
  ];
}
