/** Looks through what commands can read; its own arguments hold the secrets backwards, so it does not find itself. */
export const searchScript = `
const fs = require("fs"), path = require("path");
const secrets = process.argv.slice(1).map((text) => text.split("").reverse().join(""));
let found = 0;
const look = (file) => { try { const text = fs.readFileSync(file, "latin1"); if (secrets.some((s) => text.includes(s))) { found++; console.log(file); } } catch {} };
const list = (dir) => { try { return fs.readdirSync(dir); } catch { return []; } };
for (const pid of list("/proc")) { look("/proc/" + pid + "/environ"); look("/proc/" + pid + "/cmdline"); }
for (const dir of ["/run/convoke", "/tmp", process.env.HOME]) for (const name of list(dir)) look(path.join(dir, name));
console.log("searched, found " + found);
`.replaceAll("\n", " ");

/** Prints the status and the text of an answer, or that there was none. */
export const fetchScript = `
fetch(process.argv[1]).then(
  async (answer) => console.log(answer.status + " " + (await answer.text())),
  (error) => console.log("failed " + (error.cause && error.cause.code)));
`.replaceAll("\n", " ");

/** Serves any free port of 127.0.0.1, and then writes down which. */
export const portScript = `
const { renameSync, writeFileSync } = require("fs");
const server = require("http").createServer((request, reply) => reply.end("inside " + request.url));
server.listen(0, "127.0.0.1", () => {
  writeFileSync("port.part", String(server.address().port));
  renameSync("port.part", "port");
});
`.replaceAll("\n", " ");

/** Starts processes until it may not, ends them, and prints how many there were. */
export const spawnScript = `
const { spawn } = require("child_process");
const started = [];
for (let i = 0; i < 200; i++) {
  try {
    const child = spawn("sleep", ["30"], { stdio: "ignore" });
    child.on("error", () => {});
    if (child.pid) started.push(child);
  } catch {}
}
console.log("started " + started.length);
for (const child of started) child.kill("SIGKILL");
`.replaceAll("\n", " ");
