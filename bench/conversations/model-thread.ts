import { parentPort, workerData } from "node:worker_threads";
import type { Script } from "../../packages/server/src/testing/scripted-model/script.ts";
import { startScriptedModel } from "../../packages/server/src/testing/scripted-model/scripted-model-server.ts";

/** A scripted model in a separate thread; it reports its address, and ends with the thread. */
const model = await startScriptedModel({ script: workerData as Script, keepsRequests: false });
parentPort?.postMessage(model.url);
