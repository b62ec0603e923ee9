import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { convokeScript, type Image, sandboxImage, serverImage } from "./images.ts";

type Instruction = readonly [name: string, words: string];

/** The stages of a Dockerfile, each with its instructions in order. */
function readStages(name: string): Instruction[][] {
  const text = readFileSync(path.join(import.meta.dirname, name), "utf8").replaceAll(/^#.*\n/gm, "");
  const instructions = text
    .replaceAll("\\\n", " ")
    .split("\n")
    .filter((line) => line !== "")
    .map((line): Instruction => {
      const space = line.indexOf(" ");
      return [line.slice(0, space), line.slice(space + 1).trim()];
    });
  const stages: Instruction[][] = [];
  for (const instruction of instructions) {
    if (instruction[0] === "FROM") stages.push([]);
    stages.at(-1)?.push(instruction);
  }
  return stages;
}

function all(stage: readonly Instruction[], name: string): string[] {
  return stage.filter(([known]) => known === name).map(([, words]) => words);
}

function packagesOf(stage: readonly Instruction[]): string[] {
  const [, names = ""] =
    /apt-get install -y --no-install-recommends ([\w -]+?) *&&/.exec(all(stage, "RUN").join("\n")) ?? [];
  return names.split(" ");
}

const list = (words: string | undefined): unknown => (words === undefined ? [] : JSON.parse(words));

describe.each([
  ["sandbox.Dockerfile", sandboxImage],
  ["server.Dockerfile", serverImage],
] satisfies [string, Image][])("%s", (file, image) => {
  const [stage = [], browser] = readStages(file);
  const commands = all(stage, "RUN").join("\n");

  test("installs what the image without a registry has", () => {
    expect(packagesOf(stage)).toEqual(Object.keys(image.packages).toSorted());
    expect(browser === undefined ? null : packagesOf(browser)).toEqual(image.browserPackages);
  });

  test("starts the same program, as the same user, in the same folders", () => {
    const script = JSON.stringify(convokeScript("node")).slice(1, -1).replaceAll('\\"', '"');
    expect(commands).toContain(`printf '${script}' > /usr/local/bin/convoke`);
    const made = /mkdir -p ((?:\/[\w/]+ ?)+)/.exec(commands)?.[1]?.trim().split(" ");
    expect(made).toEqual(image.folders);
    const user = image.user === null ? [] : [`${image.user}:${image.user}`];
    expect(all(stage, "USER")).toEqual(user);
    if (browser !== undefined) expect(all(browser, "USER").slice(-1)).toEqual(user);
    for (const id of user) expect(commands).toContain(`chown ${id} ${image.folders.join(" ")}`);
    for (const volume of image.volumes) expect(commands).toContain(`chmod 700 ${volume}`);
  });

  test("says the same about itself", () => {
    const variables = all(stage, "ENV").flatMap((words) => words.split(" ").map((word) => word.split("=")));
    expect(Object.fromEntries(variables)).toEqual(image.environment);
    expect(all(stage, "WORKDIR")).toEqual([image.workdir]);
    expect(list(all(stage, "ENTRYPOINT")[0])).toEqual(image.entrypoint);
    expect(list(all(stage, "CMD")[0])).toEqual(image.command);
    expect(list(all(stage, "VOLUME")[0])).toEqual(image.volumes);
    expect(all(stage, "EXPOSE")).toEqual(image.ports);
    expect(all(stage, "HEALTHCHECK")).toEqual(image.healthcheck === null ? [] : [image.healthcheck]);
  });
});
