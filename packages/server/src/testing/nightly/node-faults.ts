import { setTimeout as sleep } from "node:timers/promises";
import type { NodeRig } from "./node-rig.ts";

/** Faults of the servers of a rig and of their database. */
export const nodeFaults = [
  "kill",
  "stop",
  "freeze",
  "cut",
  "hold",
  "deafen",
  "clock",
  "crash",
  "fill",
  "roll",
  "part",
  "failover",
] as const;

const longestBehindMs = 1500;

export type NodeFault = (typeof nodeFaults)[number];

/** The faults that are possible here: a given database is not stopped, and a disk is only filled where one can be mounted. */
export function faultsHere(rig: NodeRig): readonly NodeFault[] {
  const { postgres, disk, otherRelease } = rig.options;
  return nodeFaults.filter((fault) => {
    if (fault === "crash") return postgres.isOurs;
    // Older releases may lose their database connection.
    if (fault === "failover") return postgres.isOurs && otherRelease === undefined;
    return fault !== "fill" || disk !== null;
  });
}

/** Resolves with a description when everything works again. `longestMs` is for faults of arbitrary duration. */
export async function playFault(rig: NodeRig, fault: NodeFault, longestMs: number): Promise<string> {
  const { random, postgres, disk } = rig.options;
  const index = random.whole(rig.nodes.length);
  const node = rig.nodes[index]!;
  const outageMs = random.whole(longestMs);
  switch (fault) {
    case "kill":
    case "stop":
      node.signal(fault === "kill" ? "SIGKILL" : "SIGTERM");
      await node.ended;
      await sleep(outageMs);
      await rig.startAgain(index);
      break;
    case "freeze":
      node.signal("SIGSTOP");
      await sleep(outageMs);
      node.signal("SIGCONT");
      break;
    case "cut":
    case "hold":
    case "deafen":
      rig.lines[index]!.set(fault === "cut" ? "drop" : fault);
      await sleep(outageMs);
      rig.lines[index]!.set("pass");
      break;
    case "clock": {
      const hours = random.whole(49) - 24;
      await node.shiftClock(hours * 3_600_000);
      await sleep(outageMs);
      await node.shiftClock(0);
      return `the clock of server ${index} was ${hours} hours off for ${outageMs} ms`;
    }
    case "crash":
      // Long enough that the node would be found dead, if the database's silence counted as the node's.
      await postgres.halt();
      await sleep(outageMs);
      await postgres.resume();
      return `PostgreSQL crashed, unavailable for ${outageMs} ms`;
    case "fill":
      await disk!.fill();
      await sleep(outageMs);
      await disk!.free();
      return `the disk of the database was full for ${outageMs} ms`;
    case "roll":
      for (const number of rig.nodes.keys()) {
        rig.nodes[number]!.signal("SIGTERM");
        await rig.nodes[number]!.ended;
        await rig.startAgain(number);
      }
      return "all servers were restarted, one after another";
    case "part": {
      const pair = [index, (index + 1) % rig.nodes.length];
      for (const one of pair) rig.nodeLines[one]!.set("drop");
      await sleep(outageMs);
      for (const one of pair) rig.nodeLines[one]!.set("pass");
      return `servers ${pair.join(" and ")} were not reached by others for ${outageMs} ms`;
    }
    case "failover": {
      const behindMs = random.whole(longestBehindMs);
      await rig.failOver(behindMs);
      return `a standby took over that was ${behindMs} ms behind`;
    }
  }
  return `${fault} of server ${index}, unavailable for ${outageMs} ms`;
}
