#!/usr/bin/env node
// What every Node can read, however old: no syntax and no module that came later. It goes on with the Node that comes along.
"use strict";

var childProcess = require("child_process");
var fs = require("fs");
var path = require("path");

var oldestNode = 24;
/** In the package it is built; in a clone only a new Node can read it. */
var isBuilt = fs.existsSync(path.join(__dirname, "bin.js"));
var command = path.join(__dirname, isBuilt ? "bin.js" : "bin.ts");
var wayOut = isBuilt
  ? "was not installed. Install it again with npm install --include=optional, or use a newer Node."
  : "is missing, because npm ran without install scripts (--ignore-scripts). Install it with: npm rebuild node --ignore-scripts=false";

/** The packages with the program itself, and the one that chooses among them. */
function candidates() {
  return ["node", "node-" + process.platform + "-" + process.arch];
}

/** The first Node that comes along and runs here; null when there is none. */
function findNode() {
  var names = candidates();
  for (var index = 0; index < names.length; index += 1) {
    try {
      var manifest = require.resolve(names[index] + "/package.json");
      var program = path.join(path.dirname(manifest), "bin", "node");
      var tried = childProcess.spawnSync(program, ["--version"], { encoding: "utf8" });
      if (tried.status === 0 && parseInt(tried.stdout.slice(1), 10) >= oldestNode) return program;
      // oxlint-disable-next-line no-unused-vars -- leaving the name out came later
    } catch (error) {
      // Not installed: the next one may be.
    }
  }
  return null;
}

function relaunch(program) {
  var environment = Object.assign({}, process.env, { CONVOKE_LAUNCHER: String(process.pid) });
  var child = childProcess.spawn(program, [command].concat(process.argv.slice(2)), {
    stdio: "inherit",
    env: environment,
  });
  ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"].forEach(function (signal) {
    process.on(signal, function () {
      // A terminal sends these to both of us; the command must not take one for two.
      if (signal !== "SIGTERM" && process.stdin.isTTY) return;
      child.kill(signal);
    });
  });
  child.on("error", function (error) {
    console.error("Convoke could not start " + program + ": " + error.message);
    process.exit(2);
  });
  child.on("exit", function (code, signal) {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

if (parseInt(process.versions.node, 10) >= oldestNode) {
  require(command);
} else {
  var found = findNode();
  if (found === null) {
    console.error(
      "Convoke needs Node " +
        oldestNode +
        " or newer, this is " +
        process.versions.node +
        ", and the bundled one " +
        wayOut,
    );
    process.exit(2);
  }
  relaunch(found);
}
