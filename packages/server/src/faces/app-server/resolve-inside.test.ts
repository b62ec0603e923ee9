import { expect, test } from "vitest";
import { resolveInside } from "./resolve-inside.ts";

const workspaceDir = "/data/one/workspace";
const workingDir = `${workspaceDir}/project/shop`;
const whole = { workspaceDir, workingDir, root: workspaceDir };

test("paths begin in the working folder or in the usual workspace, and stay inside", () => {
  expect(resolveInside("a.txt", whole)).toBe(`${workingDir}/a.txt`);
  expect(resolveInside("/workspace/project/other/a.txt", whole)).toBe(`${workspaceDir}/project/other/a.txt`);
  expect(resolveInside("../..", whole)).toBe(workspaceDir);
  for (const path of ["../../..", "/etc/passwd", `${workspaceDir}-other`])
    expect(() => resolveInside(path, whole), path).toThrow("Outside of the workspace");
});

test("a key of one conversation sees its working folder only", () => {
  const one = { ...whole, root: workingDir };
  expect(resolveInside("/workspace/project/shop/a.txt", one)).toBe(`${workingDir}/a.txt`);
  for (const path of ["..", "/workspace", "/workspace/project/other/a.txt", `${workingDir}-other/a.txt`])
    expect(() => resolveInside(path, one), path).toThrow("Outside of the workspace");
});
