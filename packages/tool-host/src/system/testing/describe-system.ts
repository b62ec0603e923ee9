import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { systemTable } from "../process-table.ts";

/** Prints what the process table of this world says about this process and one that it starts, as JSON. */
const mark = `mark-${process.pid}`;
const child = spawn("/bin/sleep", ["60"], { stdio: "ignore", env: { CONVOKE_TEST_MARK: mark } });
await once(child, "spawn");
const server = createServer();
await once(server.listen(0, "127.0.0.1"), "listening");
const own = systemTable.readProcess(process.pid);
const seen = systemTable.readProcess(child.pid!);
const facts = {
  kind: systemTable.kind,
  isThere: systemTable.isThere(),
  isOwn: own?.pid === process.pid && own.parentPid === process.ppid,
  isChild: seen?.parentPid === process.pid && seen.sessionId === own?.sessionId,
  isYoung: seen !== undefined && Math.abs(systemTable.ticksNow() - seen.startTicks) < 6_000,
  isMarked:
    systemTable.findMarkedProcesses(`CONVOKE_TEST_MARK=${mark}`).map(({ pid }) => pid)[0] === child.pid,
  command: systemTable.readCommandLine(child.pid!),
  folder: systemTable.workingFolders([process.pid]).get(process.pid),
  isListening: systemTable.listenersOf([process.pid])[0]?.port === (server.address() as AddressInfo).port,
  hasLimit: systemTable.openFileLimit() !== 0,
};
child.kill("SIGKILL");
await once(child, "exit");
const end = Date.now() + 10_000;
while (systemTable.readProcess(child.pid!) !== undefined && Date.now() < end) await new Promise(setImmediate);
console.log(JSON.stringify({ ...facts, isGone: systemTable.readProcess(child.pid!) === undefined }));
server.close();
