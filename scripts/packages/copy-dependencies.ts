import { cpSync, existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { findNpmPackage } from "./npm-package.ts";

type Words = Readonly<Record<string, string>>;
type Manifest = { readonly dependencies?: Words; readonly optionalDependencies?: Words };
/** An entry of the lock file. */
type Locked = Manifest & {
  readonly version: string;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
};

/**
 * Copies what the package in `folder` depends on, with what that needs, into its `node_modules`, in the versions of the lock file. Native
 * parts are those of Linux on `cpu`; they are fetched where this machine is of another kind.
 */
export function copyDependencies(root: string, folder: string, cpu: string): void {
  const lock = JSON.parse(readFileSync(path.join(root, "package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, Locked>>;
  };
  const own = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) as Manifest;
  const waiting = Object.keys(own.dependencies ?? {});
  const done = new Set<string>();
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (done.has(name)) continue;
    done.add(name);
    const locked = lock.packages[`node_modules/${name}`];
    if (locked === undefined) throw new Error(`package-lock.json has no ${name}`);
    if (!isFor(locked, cpu)) continue;
    const target = path.join(folder, "node_modules", name);
    cpSync(findNpmPackage(root, name, locked.version), target, { recursive: true, dereference: true });
    if (existsSync(path.join(target, "node_modules"))) {
      throw new Error(`${name} has packages of its own, which would be of this machine's kind`);
    }
    waiting.push(...Object.keys({ ...locked.dependencies, ...locked.optionalDependencies }));
  }
}

function isFor({ os, cpu: cpus, libc }: Locked, cpu: string): boolean {
  return (
    (os?.includes("linux") ?? true) && (cpus?.includes(cpu) ?? true) && (libc?.includes("glibc") ?? true)
  );
}
