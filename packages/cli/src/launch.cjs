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
/** The package that comes along has this one as an optional dependency; a clone has npm's. */
var ownPackage = "@convoke/node-" + process.platform + "-" + process.arch;
var platforms = ["linux-x64", "linux-arm64"];

/** Finds a Node that comes along and runs here, and says of one that does not where it is. */
function findNode() {
  var names = [ownPackage, "node"];
  var broken = null;
  for (var index = 0; index < names.length; index += 1) {
    var program = programOf(names[index]);
    if (program === null) continue;
    var tried = childProcess.spawnSync(program, ["--version"], { encoding: "utf8" });
    if (tried.status === 0 && parseInt(tried.stdout.slice(1), 10) >= oldestNode) {
      return { program: program, broken: null };
    }
    broken = broken || program;
  }
  return { program: null, broken: broken };
}

/** The program of a package; null where it is not installed. */
function programOf(name) {
  try {
    var manifest = require.resolve(name + "/package.json");
    var program = path.join(path.dirname(manifest), "bin", "node");
    return fs.existsSync(program) ? program : null;
    // oxlint-disable-next-line no-unused-vars -- leaving the name out came later
  } catch (error) {
    return null;
  }
}

/** Why there is no Node to go on with, and what to do; the end of a sentence. */
function describeMissing(broken) {
  if (!isBuilt && broken === null) {
    return "the one of this clone is missing, because npm ran without install scripts (--ignore-scripts). Install it with: npm rebuild node --ignore-scripts=false";
  }
  if (platforms.indexOf(process.platform + "-" + process.arch) === -1) {
    return "the package brings none for " + process.platform + " on " + process.arch + ". " + ownNode;
  }
  if (isMusl()) return "the package brings one for glibc only, while this system has musl. " + ownNode;
  if (broken !== null) return broken + " does not run here. " + ownNode;
  return ownPackage + " was not installed" + leftOutOptional;
}

var leftOutOptional =
  ", because npm left out optional packages. Install them with: npm install --include=optional convoke";

/** Packages with programs for this platform that others have as optional dependencies; only in the package. */
function findLeftOut() {
  var platform = process.platform + "-" + process.arch;
  if (!isBuilt || platforms.indexOf(platform) === -1) return [];
  return ["@vscode/ripgrep", "@lydell/node-pty"].reduce(function (left, name) {
    var native = name + "-" + platform;
    try {
      require.resolve(native + "/package.json", { paths: [path.dirname(require.resolve(name))] });
      return left;
      // oxlint-disable-next-line no-unused-vars -- leaving the name out came later
    } catch (error) {
      return left.concat(native);
    }
  }, []);
}

var ownNode = "Install Node " + oldestNode + " or newer";

/** Where a Node cannot tell, it is too old to be linked to musl in an official build. */
function isMusl() {
  if (process.platform !== "linux" || !process.report) return false;
  return !process.report.getReport().header.glibcVersionRuntime;
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

if (process.platform === "win32") {
  refuse("Convoke does not run on Windows itself. Use WSL2, which is a Linux.");
} else if (parseInt(process.versions.node, 10) >= oldestNode) {
  var left = findLeftOut();
  if (left.length === 0) require(command);
  else refuse("Convoke needs " + left.join(" and ") + ", not installed" + leftOutOptional);
} else {
  var found = findNode();
  if (found.program === null) {
    refuse(
      "Convoke needs Node " +
        oldestNode +
        " or newer, this is " +
        process.versions.node +
        ", and " +
        describeMissing(found.broken),
    );
  } else {
    relaunch(found.program);
  }
}

function refuse(sentence) {
  console.error(sentence);
  process.exit(2);
}
