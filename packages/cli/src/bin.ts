#!/usr/bin/env node
import { main } from "./main.ts";

const oldestNode = 24;
const major = Number(process.versions.node.split(".")[0]);
if (major < oldestNode) {
  console.error(
    `Convoke needs Node ${oldestNode} or newer, this is ${process.versions.node}. In a checkout, start it with "npm run" or "npx", which bring the right one.`,
  );
  process.exit(2);
}
await main(process.argv);
