import { parentPort, workerData } from "node:worker_threads";
import { type EgressListenerOrder, listenForEgress } from "./listen-for-egress.ts";

listenForEgress(workerData as EgressListenerOrder, (message) => parentPort?.postMessage(message));
